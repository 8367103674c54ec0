/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The port on EPICS threads. Members are made by libCom's epicsThreadCreateOpt, joinable, with the
 * role's name, stack and EPICS priority, so they show in epicsThreadShowAll like any other thread.
 *
 * For a job, its member looks like a new thread: thread start hooks (epicsThreadHookAdd) run before
 * each job, and after each job the functions registered with epicsAtThreadExit run, "ok to block"
 * is off again and the priority is the role's. A C++ exception that leaves a job fails that job
 * only.
 */
#ifndef CREW_PORT_EPICS_H
#define CREW_PORT_EPICS_H

#include <stdint.h>

#include <epicsThread.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sets the port up and boots Crew on it. `budget`: NULL, or an operator's text in whole MiB.
 * Answers what crew_boot answers (CREW_ALREADY_BOOTED when a C main was first), or CREW_BAD_PORT
 * when the process has no thread-specific key left. Before the first pool, from one thread at a
 * time.
 */
int32_t crewPortEpicsBoot(const char *budget);

/* The port that crewPortEpicsBoot boots with; it works from then on, and lives for ever. Any
 * thread. */
const crew_port *crewPortEpics(void);

/* The smallest stack that the system gives a thread, in bytes. Any thread. */
uint32_t crewPortEpicsStackMin(void);

/*
 * The worker number of the member with this id, -1 when there is none. An id that is given to a
 * thread anew belongs to the new one. Any thread; at most CREW_MAX_WORKERS comparisons.
 */
int32_t crewPortEpicsWorker(epicsThreadId id);

/* The id and the worker number behind a thread handle that crew_lease_thread gave. Any thread. */
epicsThreadId crewPortEpicsId(uintptr_t thread);
uint32_t crewPortEpicsHandleWorker(uintptr_t thread);

/* Whether EPICS priorities have an effect here: 1 = real-time, 0 = all threads run at one priority,
 * -1 = not known yet. */
int crewPortEpicsRealTime(void);

#ifdef __cplusplus
}
#endif

#endif
