/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Fleet leases in an IOC: one table of limited things that the IOCs of a machine share.
 *
 * An owner publishes a pool under a key. An asker asks for a lease under that key; it comes as text, which the asker's
 * database sends to the owner, by Channel Access for example. The owner's program brings the text to crewFleetRun. The
 * table moves nothing and runs nothing: it says who may ask whom.
 *
 * On RTEMS and in VxWorks kernels the table is in the image's own memory, and its one node is this IOC.
 *
 * Commands: functions that return int; one thread at a time, 0 or -1 after having printed to stderr what to change.
 * Functions that return int32_t: any thread, a status of crew.h. Nothing is allocated after a command has returned.
 */
#ifndef CREW_FLEET_EPICS_H
#define CREW_FLEET_EPICS_H

#include <stddef.h>
#include <stdint.h>

#include <crew.h>

#include "crewLease.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CREW_FLEET_KEY_BYTES 17u /* a key's text, its NUL included */

/* ---- commands ---- */

/*
 * Opens the table of that name, which is made if there is none, and joins it until the IOC exits. 0 for a number is its
 * default; the first to open a table decides, the others must say the same. `kind` tells the leases of the tables of one
 * IOC apart: each has its own. The node's label is the variable IOC or IOCNAME of the environment, else the program's
 * name. Before iocInit.
 */
int crewFleetOpen(const char *name, int kind, int nodes, int resources, int keys);

/* Prints the table of that name, NULL: every table. 0 nodes; 1 also resources; 2 also leases, with their ages. */
int crewFleetShow(int level, const char *name);

/*
 * Publishes the pool's admission under the key, 1 to 16 printable characters: as many units as the pool's capacity, one
 * for each set. `table` NULL: the one that was opened first.
 */
int crewFleetPublish(const char *pool, const char *key, const char *table);

/* ---- for the asker's program ---- */

/* The table of that name that is open here, NULL: the first. CREW_OK, or CREW_STALE: none. */
int32_t crewFleetFind(const char *table, crew_fleet *fleet);

/* A key's text as the table's number: its bytes as they are, the first one lowest. CREW_OK, CREW_BAD_TEXT. */
int32_t crewFleetKey(const char *text, crew_key *key);

/*
 * How many units could be asked for under the key just now; in `resources`, which may be NULL, of how many resources. Adds
 * up the first 64 of them. CREW_OK, CREW_STALE: no such table, CREW_BAD_TEXT: the key; what crew_fleet_candidates answers.
 */
int32_t crewFleetUnits(const char *table, const char *key, uint32_t *units, uint32_t *resources);

/*
 * Asks for a lease of one unit under the key, of a resource of this IOC rather than of another's, and writes it as text:
 * CREW_LEASE_TEXT_BYTES are enough. Waits at most `timeoutMs` for a unit; 0 answers at once, as a record must.
 *
 * CREW_OK; CREW_TIMED_OUT: all units are taken, ask again later; CREW_NOT_RUN: nobody offers anything under the key;
 * CREW_STALE: no such table; CREW_BAD_TEXT: the key; CREW_BAD_VALUE: `bytes` are too few; what crew_fleet_acquire answers.
 */
int32_t crewFleetAsk(const char *table, const char *key, uint32_t timeoutMs, char *lease, size_t bytes);

/* ---- for the owner's program ---- */

/*
 * Called once when a job has ended, after its unit has gone back: from a callback thread of EPICS (priorityMedium or
 * priorityLow). `result`: how it ended; valid during the call.
 */
typedef void (*crewFleetEnded)(void *argument, const crew_result *result);

/*
 * Accepts the lease and runs `function` for it on one set of the pool that it is a lease of, on the member `role` (NULL:
 * the first). However the job ends, returned, failed or with its thread, the unit goes back, and then `ended` (which may
 * be NULL) is called with the same argument. A thread's death is seen within a second. Never waits, unless the pool has
 * to make the set's threads first.
 *
 * On CREW_OK, and only then, `ended` will be called. CREW_BAD_TEXT: not a lease; CREW_BAD_HANDLE: of no pool that is
 * published here; CREW_BAD_ROLE; what crew_fleet_accept answers; what crew_acquire and crew_run answer: the lease is
 * spent then, and its unit has gone back.
 */
int32_t crewFleetRun(const char *lease, const char *role, crew_function function, void *argument,
                     crewFleetEnded ended);

/*
 * iocsh variable: milliseconds after which a lease of this IOC's pools that its asker has not brought is taken back.
 * Says nothing about running jobs. Looked for once a second.
 */
extern int crewFleetGraceMs;

#ifdef __cplusplus
}
#endif

#endif
