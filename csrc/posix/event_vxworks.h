/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Events on VxWorks' native binary semaphores. One is made when an event is created, that is at
 * boot or when a set grows, and kept for ever, as the event itself is. A pthread mutex or condition
 * variable would not do: its semaphore is made at the first lock or wait, where the caller can be
 * refused no more. Included by port_posix.c only.
 *
 * Waiting is no cancellation point here. An idle worker waits in pieces of a second, so that it
 * ends within one when it is cancelled.
 */
#ifndef CREW_EVENT_VXWORKS_H
#define CREW_EVENT_VXWORKS_H

#include <vxWorks.h>

#include "crew.h"
#include "vxworks_ticks.h"

#include <errno.h>
#include <semLib.h>

static int32_t event_create(void *context, crew_event *event)
{
    SEM_ID semaphore = semBCreate(SEM_Q_FIFO, SEM_EMPTY);

    (void)context;
    if (semaphore == SEM_ID_NULL) {
        return (int32_t)errno;
    }
    event->object = semaphore;
    return 0;
}

static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    (void)context;
    return semTake((SEM_ID)event->object, crew_vxworks_ticks(timeout_ms)) == OK ? 1 : 0;
}

/* Returns early, and the worker's loop looks for a cancellation before it asks again. */
static int32_t event_wait_cancellable(void *context, crew_event *event, uint32_t timeout_ms)
{
    return event_wait(context, event, timeout_ms < 1000u ? timeout_ms : 1000u);
}

/* Giving a semaphore that is full already changes nothing: that is how posts coalesce. */
static void event_post(void *context, crew_event *event)
{
    (void)context;
    (void)semGive((SEM_ID)event->object);
}

#endif
