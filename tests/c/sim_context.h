/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the simulated port needs of the machine that it runs on: a stack for each thread, and a
 * switch between them. sim_ucontext.c has it for hosts, tests/zynq/port_zynq.c for a Cortex-A9
 * without an operating system.
 *
 * Threads are named by their numbers: 0 is the one that was there before, the others are 1 to
 * PORT_SIM_THREADS.
 */
#ifndef SIM_CONTEXT_H
#define SIM_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Gives thread `number`, not 0, a fresh stack of PORT_SIM_STACK_BYTES: the first switch to it calls
 * `entry`, which must not return. Returns 0, or the error number. What the thread was before is
 * lost.
 */
int32_t sim_context_make(size_t number, void (*entry)(void));

/*
 * Leaves the running thread, which must be `from`, and goes on with `to`. Comes back when another
 * one goes to `from`.
 */
void sim_context_switch(size_t from, size_t to);

#endif
