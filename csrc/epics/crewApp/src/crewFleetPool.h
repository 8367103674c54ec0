/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pools that this IOC has published in a fleet's table, and jobs for their leases. For programs:
 * included by crewFleet.h. */
#ifndef CREW_FLEET_POOL_H
#define CREW_FLEET_POOL_H

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a command ---- */

/*
 * Publishes the pool's admission under the key, 1 to 16 printable characters: as many units as the
 * pool's capacity, one for each set. `table` NULL: the one that was opened first.
 */
int crewFleetPublish(const char *pool, const char *key, const char *table);

/* ---- for the owner's program ---- */

/*
 * Called once when a job has ended, after its unit has gone back: from a callback thread of EPICS
 * (priorityMedium or priorityLow). `result`: how it ended; valid during the call.
 */
typedef void (*crewFleetEnded)(void *argument, const crew_result *result);

/*
 * Accepts the lease and runs `function` for it on one set of the pool that it is a lease of, on the
 * member `role` (NULL: the first). However the job ends, returned, failed or with its thread, the
 * unit goes back, and then `ended` (which may be NULL) is called with the same argument. A thread's
 * death is seen within a second. Never waits, unless the pool has to make the set's threads first.
 *
 * On CREW_OK, and only then, `ended` will be called. CREW_BAD_TEXT: not a lease; CREW_BAD_HANDLE:
 * of no pool that is published here; CREW_BAD_ROLE; as crew_fleet_accept; as crew_acquire and
 * crew_run: the lease is then spent, and its unit has gone back.
 */
int32_t crewFleetRun(const char *lease, const char *role, crew_function function, void *argument,
                     crewFleetEnded ended);

/*
 * iocsh variable: milliseconds after which a lease of this IOC's pools that its asker has not
 * brought is taken back. Says nothing about running jobs. Looked for once a second.
 */
extern int crewFleetGraceMs;

/* ---- for crewFleet.c ---- */

/* Once, by the first crewFleetOpen. */
void crewFleetPoolInit(void);

/* EPICS' callbacks work from here on (1), or not any more (0). */
void crewFleetPoolCallbacks(int work);

/* Once a second: looks for jobs whose thread has ended, leases that no asker has brought, resources
 * that were reset. */
void crewFleetPoolTick(void);

/* Prints a line for each pool that this IOC has published in the table. */
void crewFleetPoolReport(crew_fleet fleet);

#ifdef __cplusplus
}
#endif

#endif
