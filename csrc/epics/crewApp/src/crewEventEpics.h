/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events of the EPICS port where there are neither futexes nor RTEMS's own: libCom's. For
 * crewPortEpics.c. */
#ifndef CREW_EVENT_EPICS_H
#define CREW_EVENT_EPICS_H

#include "crew.h"

#include <errno.h>
#include <pthread.h>

#include <epicsEvent.h>
#include <epicsThread.h>

static int32_t event_create(void *context, crew_event *event)
{
    (void)context;
    event->object = epicsEventCreate(epicsEventEmpty);
    return event->object != NULL ? 0 : ENOMEM;
}

/* The event's lock must not be left behind by a cancelled thread. */
static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    double seconds = (double)timeout_ms / 1000.0;
    epicsEventStatus status;
    int state;

    (void)context;
#ifdef vxWorks
    if (timeout_ms > 0u) {
        seconds += epicsThreadSleepQuantum(); /* the tick that has begun already does not count */
    }
#endif
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    status = epicsEventWaitWithTimeout(event->object, seconds);
    (void)pthread_setcancelstate(state, NULL);
    return status == epicsEventOK;
}

static void event_post(void *context, crew_event *event)
{
    (void)context;
    (void)epicsEventTrigger(event->object);
}

#endif
