/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Crew's lines in the EPICS error log.
 *
 * Lines that differ only in their digits are one cause. Of one cause at most one line is written in
 * crewLogPeriodMs milliseconds (an iocsh variable, 1000); the next one that is written says how
 * many were held back.
 */
#ifndef CREW_LOG_H
#define CREW_LOG_H

#include <compilerDependencies.h>
#include <errlog.h>

#ifdef __cplusplus
extern "C" {
#endif

/* iocsh variable: milliseconds between two lines of one cause; 0 or less: every line is written. */
extern int crewLogPeriodMs;

/* Makes the lock. Before the first line, at boot; any number of times, not concurrently. */
void crewLogInit(void);

/* One line without newline; what is beyond 200 characters is cut. Any thread; takes a mutex,
 * allocates nothing. */
void crewLog(errlogSevEnum severity, const char *format, ...) EPICS_PRINTF_STYLE(2, 3);

/* How many lines are held back at the moment and have not been told. Any thread. */
unsigned crewLogHeldBack(void);

#ifdef __cplusplus
}
#endif

#endif
