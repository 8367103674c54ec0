/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Events on a POSIX semaphore, for systems without a futex. One semaphore is allocated when an
 * event is created, that is at boot or when a set grows, and kept for ever, as the event itself is.
 * Included by port_posix.c only.
 *
 * word: 0 = nothing posted, 1 = posted. It keeps the semaphore's count at 0 or 1, so that posts
 * coalesce.
 *
 * Waits run on CLOCK_MONOTONIC. CREW_WITHOUT_SEM_CLOCKWAIT is for C libraries that lack
 * sem_clockwait: waits then run on the wall clock, and last longer or shorter when it is set.
 */
#ifndef CREW_EVENT_SEM_H
#define CREW_EVENT_SEM_H

#include "crew.h"
#include "posix_clock.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#ifdef CREW_WITHOUT_SEM_CLOCKWAIT
#define CREW_EVENT_CLOCK CLOCK_REALTIME
#define crew_sem_wait_until(semaphore, until) sem_timedwait(semaphore, until)
#else
#define CREW_EVENT_CLOCK CLOCK_MONOTONIC
#define crew_sem_wait_until(semaphore, until) sem_clockwait(semaphore, CLOCK_MONOTONIC, until)
#endif

static int32_t event_create(void *context, crew_event *event)
{
    sem_t *semaphore = (sem_t *)malloc(sizeof(sem_t));

    (void)context;
    if (semaphore == NULL) {
        return ENOMEM;
    }
    if (sem_init(semaphore, 0, 0u) != 0) {
        int error = errno;

        free(semaphore);
        return error;
    }
    __atomic_store_n(&event->word, 0u, __ATOMIC_RELAXED);
    event->object = semaphore;
    return 0;
}

/* A cancellation point. The end is fixed at the start, so that an interrupted wait keeps its
   bound. */
static int32_t event_wait_cancellable(void *context, crew_event *event, uint32_t timeout_ms)
{
    struct timespec until = clock_after(CREW_EVENT_CLOCK, timeout_ms);

    (void)context;
    while (crew_sem_wait_until((sem_t *)event->object, &until) != 0) {
        if (errno != EINTR) {
            return 0;
        }
    }
    /* After the semaphore: a post that still finds 1 here has been answered by this wait, and its
       data is seen. */
    (void)__atomic_exchange_n(&event->word, 0u, __ATOMIC_ACQ_REL);
    return 1;
}

static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    int state;
    int ignored;
    int32_t posted;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    posted = event_wait_cancellable(context, event, timeout_ms);
    (void)pthread_setcancelstate(state, &ignored);
    return posted;
}

static void event_post(void *context, crew_event *event)
{
    (void)context;
    if (__atomic_exchange_n(&event->word, 1u, __ATOMIC_ACQ_REL) == 0u) {
        (void)sem_post((sem_t *)event->object);
    }
}

#endif
