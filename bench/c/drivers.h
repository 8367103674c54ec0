/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The operations that are measured from C. Each function does its own `count` times. If something
 * goes wrong it says so on standard error and ends the process: a figure of something that failed
 * would be worse than none. The caller takes the time. One thread at a time may call them, but for
 * bench_crew_lease and those of shared.c.
 */
#ifndef BENCH_DRIVERS_H
#define BENCH_DRIVERS_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_ROLES = 3 };

/* ---- job.c: the same work for every contestant ---- */

/* The job of the round trip: counts. Takes the form of crew_function. */
int32_t bench_job(void *ignored);

/* How often bench_job has run. */
uint64_t bench_jobs_run(void);

/* Where and how a thread runs: policy, priority, and the number of CPUs that it may use. */
typedef struct bench_place {
    int32_t policy;
    int32_t priority;
    int32_t cpus;
} bench_place;

/* Of the calling thread. */
void bench_place_of_caller(bench_place *place);

/* Of the thread on which bench_job ran last, once asked for; asking makes that one job slower. */
void bench_place_ask(void);
void bench_place_of_job(bench_place *place);

/* A connection: three jobs hand a byte around, connection -> reader -> writer -> connection. */
void bench_relay_begin(void);
/* The argument of member `role`: 0 is the connection, 1 the reader, 2 the writer. */
void *bench_relay_argument(size_t role);
/* The member's job; returns what it got. */
int32_t bench_relay_job(void *argument);
/* Whether the byte came back to the connection as it must. */
void bench_relay_check(void);

/*
 * Stack of a member, in bytes. Connection: 2 MiB; reader and writer: 512 KiB (base's classes Big
 * and Small on 64 bits).
 */
uint32_t bench_stack_bytes(size_t role);

/* Ends the process. */
void bench_die(const char *what, long detail);

/* Nanoseconds of a clock that never goes back. */
uint64_t bench_now_ns(void);

/* ---- crew_c.c: Crew through its C interface ---- */

/* Boots Crew: on the port of POSIX threads (0) or of EPICS threads (1). Once. */
void bench_crew_boot(int32_t on_epics);
/* A pool of `roles` roles with all its sets made. Stacks: as bench_stack_bytes, or the smallest. */
uint64_t bench_crew_open(uint32_t roles, uint32_t capacity, uint32_t priority, int32_t smallest);
void bench_crew_close(uint64_t pool);
/* Takes a set and keeps it. */
uint64_t bench_crew_take(uint64_t pool);
void bench_crew_give(uint64_t lease);
/* Acquire and release. Any number of threads. */
void bench_crew_lease(uint64_t pool, uint32_t count);
/* Run and join on the first member of a lease that is out. */
void bench_crew_round_trip(uint64_t lease, uint32_t count);
/* Acquire, three jobs, three joins, release; how long each cycle took goes to cycle_ns. */
void bench_crew_connection(uint64_t pool, uint32_t count, uint64_t *cycle_ns);
/* An acquire that is refused for want of a set, with the refusal's figures. */
void bench_crew_refused(uint64_t pool, uint32_t count);

/* ---- floor.c: two threads that wake each other, and nothing else ---- */

void bench_floor_open(void);
void bench_floor_semaphores(uint32_t count);
void bench_floor_bounded_semaphores(uint32_t count);
void bench_floor_futexes(uint32_t count);

/* A connection on three threads that exist, without a pool; semaphores begin and end each part. */
void bench_floor_connection(uint32_t count, uint64_t *cycle_ns);

/* ---- threads.c: a thread made for each job ---- */

void bench_pthread_round_trip(uint32_t count);
void bench_pthread_connection(uint32_t count, uint64_t *cycle_ns);

/* ---- epics.c: libCom's thread pool, threads, events ---- */

void bench_epics_open(uint32_t priority);
void bench_epics_events(uint32_t count);
void bench_epics_pool_round_trip(uint32_t count);
void bench_epics_thread_round_trip(uint32_t count);
void bench_epics_connection(uint32_t count, uint64_t *cycle_ns);

/* ---- shared.c: what processes share a limited thing with today ---- */

/*
 * Makes them, before the process forks: a robust mutex around counts in shared memory, a named
 * semaphore, a file.
 */
void bench_shared_open(void);
/*
 * The three steps of a lease, and `count` leases: by as many threads and processes as there are
 * units (8).
 */
void bench_mutex_reserve(void);
void bench_mutex_accept(void);
void bench_mutex_complete(void);
void bench_mutex_leases(uint32_t count);
/* Claims to create and their ends, under the same mutex; by up to 8 threads. */
void bench_mutex_claims(uint32_t count);
/* The named semaphore: a unit taken and given back, by any thread. */
void bench_semaphore_take(void);
void bench_semaphore_give(void);
void bench_semaphore_leases(uint32_t count);
/* The locked file: taken and given back by the same process. */
void bench_flock_take(void);
void bench_flock_give(void);
void bench_flock_leases(uint32_t count);

#endif
