/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Events on RTEMS's self-contained binary semaphores: no kernel object to run out of, posts
 * coalesce, and waits run on the clock tick, not on the wall clock. They are static: allocated one
 * by one they would lie between the stacks of the sets that they were made for, and cut the heap in
 * pieces when those sets are gone. Included by the POSIX port and the EPICS port.
 */
#ifndef CREW_EVENT_RTEMS_H
#define CREW_EVENT_RTEMS_H

#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <rtems.h>
#include <rtems/thread.h>

/* The core's own, and a few for a test's or an application's own waits. */
#define EVENTS_OF_OTHERS 32u
#define EVENTS (CREW_MAX_EVENTS + EVENTS_OF_OTHERS)

static rtems_binary_semaphore events[EVENTS];
static uint32_t events_made;

static int32_t event_create(void *context, crew_event *event)
{
    const uint32_t next = __atomic_fetch_add(&events_made, 1u, __ATOMIC_RELAXED);

    (void)context;
    if (next >= EVENTS) {
        (void)__atomic_fetch_sub(&events_made, 1u, __ATOMIC_RELAXED);
        return ENOMEM;
    }
    rtems_binary_semaphore_init(&events[next], "crew");
    event->object = &events[next];
    return 0;
}

/* Ticks of a millisecond, in 2^-24, rounded up. 0: not known yet. A division would cost more than
   the rest of a wait. */
static uint32_t ticks_per_ms;

/* Rounded up. The first of the ticks has begun already: a wait may end up to a tick early, which
   the core allows for. */
static uint32_t event_ticks(uint32_t timeout_ms)
{
    if (ticks_per_ms == 0u) {
        ticks_per_ms =
            (uint32_t)((UINT64_C(1000) << 24) / rtems_configuration_get_microseconds_per_tick()) +
            1u;
    }
    return (uint32_t)((uint64_t)timeout_ms * ticks_per_ms >> 24) + 1u;
}

static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    rtems_binary_semaphore *semaphore = (rtems_binary_semaphore *)event->object;

    (void)context;
    if (timeout_ms == 0u) {
        return rtems_binary_semaphore_try_wait(semaphore) == 0;
    }
    return rtems_binary_semaphore_wait_timed_ticks(semaphore, event_ticks(timeout_ms)) == 0;
}

/*
 * An idle worker's. A request to a thread of deferred type, a POSIX thread's own, would stay
 * pending until the worker's next job has ended; and rtems_task_delete waits for its end. So during
 * the wait, and only then, requests act at once.
 */
static inline int32_t event_wait_cancellable(void *context, crew_event *event, uint32_t timeout_ms)
{
    int32_t posted;
    int type;
    int ignored;

    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    posted = event_wait(context, event, timeout_ms);
    (void)pthread_setcanceltype(type, &ignored);
    return posted;
}

static void event_post(void *context, crew_event *event)
{
    (void)context;
    rtems_binary_semaphore_post((rtems_binary_semaphore *)event->object);
}

#endif
