/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewFleetTable.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <epicsAtomic.h>
#include <epicsStdio.h>
#include <epicsThread.h>
#include <epicsTime.h>

#include "crewLease.h"
#include "crewLog.h"
#include "crew_fleet_acquire.h"

/* A kernel without processes has no other process to share with: the table is in the image's own
 * memory. CREW_FLEET_IN_THE_IMAGE: to test
 * that on a host. */
#if defined(__rtems__) || defined(vxWorks) || defined(CREW_FLEET_IN_THE_IMAGE)
#define IN_THE_IMAGE
#else
#include "crew_fleet_shm.h"
#endif

#define SHARED_MODE 0660u /* the user of the process that makes the table, and its group */
#define ATTEMPTS 8u       /* races for a unit; after the last one is lost, the asker waits */
#define CANDIDATES 64u
#define LEAVE_TRIES 100
#define LEAVE_PAUSE_S 0.01

static crewFleetTable tables[CREW_MAX_FLEETS];
static int tableCount; /* changes before iocInit only */

/* ---- the target's part ---- */

#ifdef IN_THE_IMAGE

static int32_t join(const char *name, const crew_fleet_geometry *geometry, const char *label,
                    crew_fleet *fleet)
{
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;
    int32_t status;
    size_t bytes;

    (void)name; /* no other process can open it */
    status = crew_fleet_bytes(geometry, &bytes);
    if (status != CREW_OK) {
        return status;
    }
    options.geometry = geometry;
    options.bytes = bytes;
    options.memory = calloc(1, bytes); /* at boot, for as long as the image runs */
    options.name = label;
    if (options.memory == NULL) {
        return CREW_REFUSED_TARGET_MEMORY;
    }
    status = crew_fleet_join(&options, fleet);
    if (status != CREW_OK) {
        free(options.memory);
    }
    return status;
}

static int32_t leave(crew_fleet fleet)
{
    return crew_fleet_leave(fleet);
}

static int32_t look(const char *name, crew_fleet_geometry *there)
{
    (void)name;
    (void)there;
    return CREW_STALE;
}

#else

static int32_t join(const char *name, const crew_fleet_geometry *geometry, const char *label,
                    crew_fleet *fleet)
{
    return crew_fleet_shm_join(name, geometry, SHARED_MODE, label, fleet);
}

static int32_t leave(crew_fleet fleet)
{
    return crew_fleet_shm_leave(fleet);
}

static int32_t look(const char *name, crew_fleet_geometry *there)
{
    return crew_fleet_shm_geometry(name, there);
}

#endif

/* ---- opening and leaving ---- */

void crewFleetTableDefaults(crew_fleet_geometry *geometry)
{
#ifdef IN_THE_IMAGE
    geometry->nodes = 1; /* this IOC */
#else
    (void)geometry;
#endif
}

int32_t crewFleetTableGeometry(const char *name, crew_fleet_geometry *there)
{
    return look(name, there);
}

int32_t crewFleetTableOpen(const char *name, const crew_fleet_geometry *geometry, const char *label)
{
    crewFleetTable *opened;
    int32_t status;

    if (tableCount == CREW_MAX_FLEETS) {
        return CREW_TABLE_FULL;
    }
    opened = &tables[tableCount];
    status = join(name, geometry, label, &opened->fleet);
    if (status != CREW_OK) {
        return status;
    }
    (void)epicsSnprintf(opened->name, sizeof opened->name, "%s", name);
    opened->kind = geometry->kind;
    tableCount++;
    return CREW_OK;
}

void crewFleetTableLeaveAll(void)
{
    int tries = 0;
    int i;

    for (i = 0; i < tableCount; i++) {
        while (leave(tables[i].fleet) == CREW_BUSY && tries++ < LEAVE_TRIES) {
            epicsThreadSleep(LEAVE_PAUSE_S);
        }
    }
}

/* ---- finding ---- */

crewFleetTable *crewFleetTableAt(int index)
{
    return index < tableCount ? &tables[index] : NULL;
}

static crewFleetTable *find(const char *name)
{
    int i;

    for (i = 0; i < tableCount; i++) {
        if (name == NULL || strcmp(name, tables[i].name) == 0) {
            return &tables[i];
        }
    }
    return NULL;
}

int32_t crewFleetFind(const char *name, crew_fleet *fleet)
{
    const crewFleetTable *found = find(name);

    if (found == NULL) {
        return CREW_STALE;
    }
    *fleet = found->fleet;
    return CREW_OK;
}

int32_t crewFleetKey(const char *text, crew_key *key)
{
    uint64_t halves[2] = {0, 0};
    size_t i;

    if (text == NULL) {
        return CREW_BAD_TEXT;
    }
    for (i = 0; text[i] != '\0'; i++) {
        if (i == CREW_FLEET_KEY_BYTES - 1u || !isprint((unsigned char)text[i])) {
            return CREW_BAD_TEXT;
        }
        halves[i / 8u] |= (uint64_t)(unsigned char)text[i] << (8u * (i % 8u));
    }
    if (i == 0) {
        return CREW_BAD_TEXT;
    }
    key->low = halves[0];
    key->high = halves[1];
    return CREW_OK;
}

/* ---- what ended nodes have left ---- */

void crewFleetTableSweep(crewFleetTable *swept)
{
    crew_swept found;

    if (crew_fleet_sweep(swept->fleet, &found) == CREW_OK && found.lives > 0) {
        (void)epicsAtomicAddIntT(&swept->deaths, (int)found.lives);
        crewLog(errlogInfo,
                "fleet %s: %u nodes have ended without leaving, what they held is taken back",
                swept->name, (unsigned)found.lives);
    }
}

/* ---- asking ---- */

int32_t crewFleetUnits(const char *name, const char *keyText, uint32_t *units, uint32_t *resources)
{
    crewFleetTable *in = find(name);
    crew_candidate found[CANDIDATES];
    crew_key key;
    uint32_t count;
    uint32_t i;
    int32_t status;

    if (in == NULL) {
        return CREW_STALE;
    }
    status = crewFleetKey(keyText, &key);
    if (status == CREW_OK) {
        crewFleetTableSweep(in);
        status = crew_fleet_candidates(in->fleet, key, found, CANDIDATES, &count);
    }
    if (status != CREW_OK) {
        return status;
    }
    *units = 0;
    for (i = 0; i < count && i < CANDIDATES; i++) {
        *units += found[i].free;
    }
    if (resources != NULL) {
        *resources = count;
    }
    return CREW_OK;
}

static uint64_t nowMs(void)
{
    return epicsMonotonicGet() / 1000000u;
}

/* A "no" that is final for now: is any resource registered under the key? */
static int32_t whyNot(const crewFleetTable *in, crew_key key)
{
    uint32_t resources;

    if (crew_fleet_candidates(in->fleet, key, NULL, 0, &resources) == CREW_OK && resources == 0) {
        return CREW_NOT_RUN;
    }
    return CREW_TIMED_OUT;
}

int32_t crewFleetAsk(const char *name, const char *keyText, uint32_t timeoutMs, char *lease,
                     size_t bytes)
{
    const uint64_t begunMs = nowMs();
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    crewFleetTable *in = find(name);
    crew_key key;
    uint64_t pastMs;
    uint32_t version;
    int32_t status;

    if (in == NULL) {
        return CREW_STALE;
    }
    if (lease == NULL || bytes < CREW_LEASE_TEXT_BYTES) {
        return CREW_BAD_VALUE;
    }
    status = crewFleetKey(keyText, &key);
    if (status != CREW_OK) {
        return status;
    }
    limits.max_live = 0; /* an asker makes no resource */
    limits.attempts = ATTEMPTS;
    crewFleetTableSweep(in);
    for (;;) {
        status = crew_fleet_acquire(in->fleet, key, &limits, NULL, NULL, &plan);
        if (status != CREW_OK) {
            return status;
        }
        if (plan.kind != CREW_PLAN_WAIT) {
            return crewLeasePrint(&plan.lease, lease, bytes);
        }
        pastMs = nowMs() - begunMs;
        if (pastMs >= timeoutMs) {
            return whyNot(in, key);
        }
        status = crew_fleet_wait(in->fleet, key, plan.version, timeoutMs - (uint32_t)pastMs,
                                 &version);
        if (status != CREW_OK && status != CREW_TIMED_OUT) {
            return status;
        }
    }
}
