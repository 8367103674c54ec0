/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How the worker's loop keeps requests to end its thread out of the core, on RTEMS. Included by
 * worker.c only.
 *
 * There pthread_cancel and rtems_task_delete are one thing. A request waits while the thread is
 * protected (its cancel state is disabled) or defers (its type is deferred, which every POSIX
 * thread's is at first), until it calls pthread_testcancel. So most of the time there is nothing to
 * switch, and no call is made: a thread alone changes these two of its own.
 */
#ifndef CREW_CANCEL_RTEMS_H
#define CREW_CANCEL_RTEMS_H

#include <pthread.h>
#include <rtems.h>
#include <rtems/score/threadimpl.h>

#define CREW_CANCEL_OWN (THREAD_LIFE_PROTECTED | THREAD_LIFE_CHANGE_DEFERRED)

/* How a thread reacts to requests: its own two bits. */
typedef struct cancel_mode {
    Thread_Life_state own;
} cancel_mode;

static inline Thread_Life_state cancel_life(void)
{
    return _Thread_Get_executing()->Life.state;
}

static inline void cancel_off(cancel_mode *was)
{
    int ignored;

    was->own = cancel_life() & CREW_CANCEL_OWN;
    if (was->own == 0u) {
        (void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &ignored);
    }
}

static inline void cancel_back(const cancel_mode *was)
{
    const int is_deferred = (was->own & THREAD_LIFE_CHANGE_DEFERRED) != 0u;
    const int is_protected = (was->own & THREAD_LIFE_PROTECTED) != 0u;
    int ignored;

    if ((cancel_life() & CREW_CANCEL_OWN) == was->own) {
        return;
    }
    (void)pthread_setcanceltype(is_deferred ? PTHREAD_CANCEL_DEFERRED : PTHREAD_CANCEL_ASYNCHRONOUS,
                                &ignored);
    (void)pthread_setcancelstate(is_protected ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE,
                                 &ignored);
}

/* rtems_task_delete waits for the thread's end, so a worker that is never idle must come to it as
   well. */
static inline void cancel_between_jobs(void)
{
    if ((cancel_life() & THREAD_LIFE_TERMINATING) != 0u) {
        pthread_testcancel();
    }
}

#endif
