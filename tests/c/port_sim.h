/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A simulated port for tests: threads that are stacks of one thread of execution, so that every run
 * of a program is the same run. The machine is behind sim_context.h; there need not be an operating
 * system.
 *
 * A thread runs until it waits; then the next one that can run does, in the order of their numbers.
 * The clock stands still while a thread can run, and jumps to the end of the shortest wait when
 * none can: hours cost nothing, and a wait's bound is met to the millisecond. The thread that calls
 * first, usually main, is one of them; only it may call functions of this header, and the threads
 * that the port makes.
 *
 * Stacks are taken from a static arena. The loop of a worker is the port's own: csrc/worker.c tells
 * the core of a thread's end from the destructor of a pthread key, and these are no pthreads.
 */
#ifndef PORT_SIM_H
#define PORT_SIM_H

#include "crew.h"

/* Threads that exist at one time, at most: one more is refused with EAGAIN. */
#define PORT_SIM_THREADS 64
/* Every thread's stack in bytes; a role that asks for more is refused with EINVAL. */
#define PORT_SIM_STACK_BYTES 65536
/*
 * What a thread is charged beyond its stack: no round number and no port's, so that forgetting it
 * shows.
 */
#define PORT_SIM_OVERHEAD_BYTES 1234

/* The port; it lives for ever. */
const crew_port *port_sim(void);

/* The nth creation of a thread from now fails once with this error number. 1: the next. 0: none. */
void port_sim_fail_thread(uint32_t nth, int32_t error);

/* The same for the creation of an event. */
void port_sim_fail_event(uint32_t nth, int32_t error);

/* Threads that were made and have not been joined. */
uint32_t port_sim_threads(void);

/* The number by which the core knows the worker of this thread (crew_lease_thread). */
uint32_t port_sim_worker(size_t thread);

/*
 * Ends the calling thread inside its job, as pthread_exit would. Not from the thread that the port
 * did not make.
 */
void port_sim_exit(void);

#endif
