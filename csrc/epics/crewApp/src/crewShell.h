/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The iocsh commands, and the same as functions for C code. All functions here: one thread at a
 * time, as commands are; those that return int give 0, or -1 after having printed to stderr what to
 * change.
 *
 * Crew is booted, on the EPICS port, by the first of crewBudget, crewPoolOpen, crewCasPool and
 * crewFleetOpen. The commands of fleets are in crewFleet.h.
 */
#ifndef CREW_SHELL_H
#define CREW_SHELL_H

#include <crew.h>

#include "crewBoot.h"
#include "crewPools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The budget of the process in whole MiB. Before iocInit, before any pool. */
int crewBudget(const char *mib);

/*
 * Opens a pool. `roles`: "name:stack:priority ...", stack = small, medium, big (EPICS stack
 * classes) or bytes with an optional k or M; priority 0 to 99. `prestart` sets are made now; `keep`
 * idle sets are never given back. Before iocInit.
 */
int crewPoolOpen(const char *name, const char *roles, int capacity, int prestart, int keep);

/*
 * Runs the CA server's clients on a pool of `capacity` sets, at most `perHost` for one client host
 * (0 = no limit); a connection waits up to `waitMs` for a set. `prestart` sets are made now, the
 * others with clients or all with crewSeal; they stay until crewTrim. Before iocInit.
 */
int crewCasPool(int capacity, int perHost, int waitMs, int prestart);

/*
 * For the CA server's clients on the pool: a client from which nothing comes for `idleS` seconds is
 * asked by the network whether it is there, at most `count` times, `intervalS` seconds apart, and
 * cut off without an answer; its set comes back then. 1 to 32767, 1 to 32767, 1 to 127. Not called:
 * 30, 5, 3. Before iocInit.
 */
int crewCasKeepaliveSay(int idleS, int intervalS, int count);

#define CREW_CAS_POOL_NUMBERS 4u
#define CREW_CAS_WAIT_DEFAULT_MS 100

/*
 * The same with the numbers as texts, in that order. NULL or empty: not said. Then perHost is 0,
 * waitMs CREW_CAS_WAIT_DEFAULT_MS, prestart 0; the first two are printed. `command`: what messages
 * begin with.
 */
int crewCasPoolOfTexts(const char *command, const char *const *texts);

/* Grows every pool to what it keeps; from then on no pool grows and none is opened. A second time:
 * says so, and does nothing. */
int crewSeal(void);

/* Gives back the idle sets of a pool that are more than `keep`. */
int crewTrim(const char *name, int keep);

/* Prints: 0 a line per pool and the account; 1 also roles, refusals by cause, the drop-in; 2 also
 * each busy set's holder. */
int crewShow(int level);

#ifdef __cplusplus
}
#endif

#endif
