/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The worker's loop, in C, for ports whose threads are POSIX threads.
 *
 * The loop asks the core what to do next, does it, and reports back. The core's part is leaf calls
 * that never block; the job and the wait for the next job run here, with nothing of the core below
 * them on the stack. A job may therefore end its thread in any way the target knows: no frame is
 * skipped that had something to put back.
 *
 * Exit accounting. The first thing a worker does is to hang its number on a thread-specific key.
 * The key's destructor tells the core that the worker has ended. It runs for a return, for
 * pthread_exit and for cancellation alike; it is the only exit path, an orderly stop relies on it
 * too.
 *
 * Cancellation. Inside the core (crew_worker_next, crew_worker_done, crew_worker_exited)
 * cancellation is disabled, so a request that arrives there stays pending. The job and the wait run
 * with the cancel state and type that the thread had when it entered the loop; what a job does to
 * its own state or type ends with that job.
 *  - Deferred (every new thread's type): a worker ends at the first cancellation point of its job,
 *    or, when it is idle, inside a wait that is a cancellation point, else when that wait's bound
 *    is over. A worker that is cancelled before it took a job up leaves that job as
 *    CREW_JOB_NOT_RUN; afterwards the job is CREW_JOB_DIED.
 *  - Asynchronous, set by a job for itself: the thread can end at any instruction of that job,
 *    including the few that follow the job's return and precede the loop's own
 *    pthread_setcancelstate. The core then counts the job as CREW_JOB_DIED although its function
 *    had returned. Nothing else can be cut in two: the loop goes back to deferred before it calls
 *    the core. A job must not call any function of crew.h while its type is asynchronous (POSIX
 *    allows that for three functions only, none of them here).
 *
 * On RTEMS pthread_cancel and rtems_task_delete are the same request, and a wait is no cancellation
 * point: with the type deferred a request stays pending until pthread_testcancel, and
 * rtems_task_delete waits that long. There an idle worker ends at once (csrc/posix/event_rtems.h),
 * a busy one between two jobs, and inside a job only where the job calls pthread_testcancel or has
 * set the type asynchronous.
 *
 * Signal masks, floating-point modes and whatever else a job changes in its thread stay changed: a
 * job puts them back.
 */
#ifndef CREW_WORKER_H
#define CREW_WORKER_H

#include "crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Calls `work->function(work->argument)` and stores how it went: CREW_JOB_RETURNED and the
 * function's result, or CREW_JOB_FAILED and 0. Runs on the worker. Both outputs are written before
 * it returns; it need not return.
 */
typedef void (*crew_caller)(const crew_work *work, int32_t *outcome, int32_t *value);

/*
 * Makes the thread-specific key. A port calls this when it is set up, before its first thread. Any
 * thread, any number of times; only the first call does something. Returns 0, or the system's error
 * number (EAGAIN: all PTHREAD_KEYS_MAX keys of the process are taken).
 */
int32_t crew_worker_hook_init(void);

/*
 * Runs worker number `worker` until the core says stop, then returns, with cancellation disabled.
 * Called once, by the thread that the port's thread_create made for this worker; the caller then
 * returns from its start routine without doing anything more.
 *
 * `port`: only `event_wait` and `context` are used, for the wait of an idle worker. This may be a
 * different event_wait from the one that the core was booted with: it runs with nothing of the core
 * on the stack, so it may be a cancellation point, whereas the core's must not. It must not leave a
 * lock behind when it is cancelled. Lives as long as the thread. `caller`: how jobs are called;
 * NULL calls them directly.
 *
 * When the number cannot be hung on the key (out of memory) the worker runs nothing: the core is
 * told at once that it has ended.
 */
void crew_worker_main(uint32_t worker, const crew_port *port, crew_caller caller);

#ifdef __cplusplus
}
#endif

#endif
