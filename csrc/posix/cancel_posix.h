/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How the worker's loop keeps requests to end its thread out of the core, on POSIX. Included by
   worker.c only. */
#ifndef CREW_CANCEL_POSIX_H
#define CREW_CANCEL_POSIX_H

#include <pthread.h>

/* How a thread reacts to pthread_cancel. */
typedef struct cancel_mode {
    int state;
    int type;
} cancel_mode;

static inline void cancel_off(cancel_mode *was)
{
    /* State first: from here on the type no longer matters. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was->state);
    (void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &was->type);
}

static inline void cancel_back(const cancel_mode *was)
{
    int ignored;

    /* A request that came in meanwhile may be served inside the second call: nothing of the core is
       live here. */
    (void)pthread_setcanceltype(was->type, &ignored);
    (void)pthread_setcancelstate(was->state, &ignored);
}

/* Between two jobs, with cancellation off: a pending request is served in the next job or wait. */
static inline void cancel_between_jobs(void)
{
}

#endif
