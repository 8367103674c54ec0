/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The fleets' tables that are open in this IOC, and asking for leases in them. For programs:
 * included by crewFleet.h. */
#ifndef CREW_FLEET_TABLE_H
#define CREW_FLEET_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CREW_FLEET_KEY_BYTES 17u /* a key's text, its NUL included */

/* ---- for the asker's program ---- */

/* The table of that name that is open here, NULL: the first. CREW_OK, or CREW_STALE: none. */
int32_t crewFleetFind(const char *table, crew_fleet *fleet);

/* A key's text as the table's number: its bytes as they are, the first one lowest. CREW_OK,
 * CREW_BAD_TEXT. */
int32_t crewFleetKey(const char *text, crew_key *key);

/*
 * How many units could be asked for under the key just now; in `resources`, which may be NULL, of
 * how many resources. Adds up the first 64 of them. CREW_OK, CREW_STALE: no such table,
 * CREW_BAD_TEXT: the key; else as crew_fleet_candidates.
 */
int32_t crewFleetUnits(const char *table, const char *key, uint32_t *units, uint32_t *resources);

/*
 * Asks for a lease of one unit under the key, of a resource of this IOC rather than of another's,
 * and writes it as text: CREW_LEASE_TEXT_BYTES are enough. Waits at most `timeoutMs` for a unit; 0
 * answers at once, as a record must.
 *
 * CREW_OK; CREW_TIMED_OUT: all units are taken, ask again later; CREW_NOT_RUN: no resource is
 * offered under the key; CREW_STALE: no such table; CREW_BAD_TEXT: the key; CREW_BAD_VALUE: `bytes`
 * are too few; else as crew_fleet_acquire.
 */
int32_t crewFleetAsk(const char *table, const char *key, uint32_t timeoutMs, char *lease,
                     size_t bytes);

/* ---- for crewFleet.c: one thread at a time, where nothing else is said ---- */

/* A table's name, its NUL included: as long as shared memory's may be. */
#define CREW_FLEET_TABLE_BYTES 201u

typedef struct crewFleetTable {
    char name[CREW_FLEET_TABLE_BYTES];
    uint32_t kind;
    crew_fleet fleet;
    int deaths; /* atomic: nodes that ended without leaving, as this IOC was the first to notice */
} crewFleetTable;

/* Sets the numbers whose default is another one on this target. */
void crewFleetTableDefaults(crew_fleet_geometry *geometry);

/* Joins the table, which is made if there is none. CREW_TABLE_FULL; else as crew_fleet_shm_join. */
int32_t crewFleetTableOpen(const char *name, const crew_fleet_geometry *geometry,
                           const char *label);

/* The geometry that the table of that name was made with. CREW_OK, else `there` is as it was. */
int32_t crewFleetTableGeometry(const char *name, crew_fleet_geometry *there);

/*
 * Leaves every table. A thread that is still in a call is given a second; if it stays, the process
 * ends all the same, and the others see that as they see a death.
 */
void crewFleetTableLeaveAll(void);

/* The tables, in the order in which they were opened, by number from 0. NULL: there are no more.
 * Any thread. */
crewFleetTable *crewFleetTableAt(int index);

/* Takes back the leases and resources of ended nodes, counts these nodes, and logs it. Any
 * thread. */
void crewFleetTableSweep(crewFleetTable *swept);

#ifdef __cplusplus
}
#endif

#endif
