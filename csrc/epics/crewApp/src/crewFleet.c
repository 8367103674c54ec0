/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewFleet.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <callback.h>
#include <epicsAtomic.h>
#include <epicsExit.h>
#include <epicsStdio.h>
#include <epicsThread.h>
#include <epicsTime.h>
#include <initHooks.h>

#include "crewFleetPool.h"
#include "crewLog.h"
#include "crewShell.h"
#include "crewText.h"
#include "crew_fleet_acquire.h"

/* Kernels without processes share with nobody: the table is in the image's own memory. CREW_FLEET_IN_THE_IMAGE: to test
 * that on a host. */
#if defined(__rtems__) || defined(vxWorks) || defined(CREW_FLEET_IN_THE_IMAGE)
#define IN_THE_IMAGE
#else
#include "crew_fleet_shm.h"
#endif

#define SHARED_MODE 0660u /* the user and the group of whoever makes the table */
#define TICK_S 1.0
#define ATTEMPTS 8u       /* a race for a unit that was lost is tried again so often, then it is a wait */
#define TABLE_NAME_BYTES 201u /* what shared memory's names may have, and the NUL */
#define CANDIDATES 64u
#define DIFFERS_BYTES 256u
#define LEAVE_TRIES 100
#define LEAVE_PAUSE_S 0.01

typedef struct table {
    char name[TABLE_NAME_BYTES];
    uint32_t kind;
    crew_fleet fleet;
    int deaths; /* atomic: nodes that ended without leaving, as this IOC was the first to notice */
} table;

static table tables[CREW_MAX_FLEETS];
static int tableCount; /* changes before iocInit only */
static epicsCallback tickCallback;
static int ticking; /* atomic */

/* ---- once a second ---- */

static void sweep(table *swept)
{
    crew_swept found;

    if (crew_fleet_sweep(swept->fleet, &found) == CREW_OK && found.lives > 0) {
        (void)epicsAtomicAddIntT(&swept->deaths, (int)found.lives);
        crewLog(errlogInfo, "fleet %s: %u nodes have ended without leaving, what they held is taken back", swept->name,
                (unsigned)found.lives);
    }
}

static void tick(epicsCallback *callback)
{
    int i;

    for (i = 0; i < tableCount; i++) {
        sweep(&tables[i]);
    }
    crewFleetPoolTick();
    if (epicsAtomicGetIntT(&ticking)) {
        callbackRequestDelayed(callback, TICK_S);
    }
}

/* EPICS' callbacks and their timer do this, not a thread of Crew's: there is nothing to do between two ticks. */
static void atInitHook(initHookState state)
{
    if (state == initHookAfterIocRunning && !epicsAtomicGetIntT(&ticking)) {
        callbackSetCallback(tick, &tickCallback);
        callbackSetPriority(priorityLow, &tickCallback);
        crewFleetPoolCallbacks(1);
        epicsAtomicSetIntT(&ticking, 1);
        callbackRequestDelayed(&tickCallback, TICK_S);
    }
}

/* ---- opening ---- */

static const char *programName(void)
{
#ifdef __GLIBC__
    return program_invocation_short_name;
#else
    return "ioc"; /* libCom knows more, but says it to C++ only */
#endif
}

/* What others see of this node: printable, without blanks, cut to the bound. */
static void ownLabel(char *label, size_t bytes)
{
    const char *name = getenv("IOC");
    size_t i;

    if (name == NULL || name[0] == '\0') {
        name = getenv("IOCNAME");
    }
    if (name == NULL || name[0] == '\0') {
        name = programName();
    }
    for (i = 0; i + 1u < bytes && name[i] != '\0'; i++) {
        label[i] = isgraph((unsigned char)name[i]) ? name[i] : '_';
    }
    label[i] = '\0';
}

#ifdef IN_THE_IMAGE

static int32_t join(const char *name, const crew_fleet_geometry *geometry, const char *label, crew_fleet *fleet)
{
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;
    int32_t status;
    size_t bytes;

    (void)name; /* nobody else can open it */
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

static int32_t join(const char *name, const crew_fleet_geometry *geometry, const char *label, crew_fleet *fleet)
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

/* Runs after iocShutdown, because it was registered before iocInit. Whoever is still in a call is given a second; if it
 * stays, the process ends all the same, and the others see that as they see a death. */
static void leaveAll(void *unused)
{
    int tries = 0;
    int i;

    (void)unused;
    crewFleetPoolCallbacks(0);
    epicsAtomicSetIntT(&ticking, 0);
    for (i = 0; i < tableCount; i++) {
        while (leave(tables[i].fleet) == CREW_BUSY && tries++ < LEAVE_TRIES) {
            epicsThreadSleep(LEAVE_PAUSE_S);
        }
    }
}

static int isName(const char *name)
{
    size_t i;

    for (i = 0; name[i] != '\0'; i++) {
        if (!isgraph((unsigned char)name[i]) || name[i] == '/') {
            return 0;
        }
    }
    return i > 0 && i < TABLE_NAME_BYTES && name[0] != '.';
}

/* Every number that differs is named. */
static int failGeometry(const char *name, const crew_fleet_geometry *asked)
{
    static const char *const names[] = {"kind", "nodes", "resources", "executions", "keys"};
    crew_fleet_geometry there = *asked;
    char differs[DIFFERS_BYTES] = "";
    size_t length = 0;
    size_t i;

    (void)look(name, &there); /* if it cannot be seen, nothing is named */
    const uint32_t seen[] = {there.kind, there.nodes, there.resources, there.executions, there.keys};
    const uint32_t ours[] = {asked->kind, asked->nodes, asked->resources, asked->executions, asked->keys};
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (seen[i] != ours[i]) {
            (void)epicsSnprintf(differs + length, sizeof differs - length, "%s %s %u, not %u",
                                length == 0 ? ": it has" : ",", names[i], (unsigned)seen[i], (unsigned)ours[i]);
            length = strlen(differs);
        }
    }
    return crewFail("crewFleetOpen", "fleet %s was made with other numbers%s; say the same in every IOC, or remove it "
                    "while no IOC uses it", name, differs);
}

static int failOpen(const char *name, int32_t status, const crew_fleet_geometry *asked)
{
    switch (status) {
    case CREW_FLEET_OTHER_GEOMETRY:
        return failGeometry(name, asked);
    case CREW_FLEET_BAD_GEOMETRY:
        return crewFail("crewFleetOpen", "kind must be 1 to 63, nodes 1 to 1024, resources a power of two up to 65536, "
                        "keys a power of two up to 1048576");
    case CREW_FLEET_SYSTEM:
        return crewFail("crewFleetOpen", "the system gave no shared memory of that name: %s", strerror(errno));
    case CREW_FLEET_NO_LANE:
        return crewFail("crewFleetOpen", "fleet %s has as many processes as nodes, %u: make it larger, in every IOC",
                        name, (unsigned)asked->nodes);
    default:
        return crewFail("crewFleetOpen", "fleet %s: %s", name, crew_status_text(status));
    }
}

int crewFleetOpen(const char *name, int kind, int nodes, int resources, int keys)
{
    crew_fleet_geometry geometry = CREW_FLEET_GEOMETRY_INIT;
    char label[CREW_NAME_BYTES];
    crew_fleet fleet;
    int32_t status;
    int i;

    if (name == NULL || !isName(name)) {
        return crewFail("crewFleetOpen", "say the table's name, 1 to %u printable characters without / and not "
                        "beginning with a point, for example crewFleetOpen gateway", TABLE_NAME_BYTES - 1u);
    }
    if (crewIsLate("crewFleetOpen")) {
        return -1;
    }
    if (kind < 0 || nodes < 0 || resources < 0 || keys < 0) {
        return crewFail("crewFleetOpen", "kind, nodes, resources and keys must not be negative; 0 is the default");
    }
#ifdef IN_THE_IMAGE
    geometry.nodes = 1; /* this IOC */
#endif
    geometry.kind = kind > 0 ? (uint32_t)kind : geometry.kind;
    geometry.nodes = nodes > 0 ? (uint32_t)nodes : geometry.nodes;
    geometry.resources = resources > 0 ? (uint32_t)resources : geometry.resources;
    geometry.keys = keys > 0 ? (uint32_t)keys : geometry.keys;
    for (i = 0; i < tableCount; i++) {
        if (strcmp(tables[i].name, name) == 0) {
            return crewFail("crewFleetOpen", "that fleet is open already: say it once");
        }
        if (tables[i].kind == geometry.kind) {
            return crewFail("crewFleetOpen", "fleet %s has kind %u already: give each fleet of this IOC its "
                            "own, for example crewFleetOpen %s %u", tables[i].name, (unsigned)geometry.kind,
                            name, (unsigned)geometry.kind + 1u);
        }
    }
    if (tableCount == CREW_MAX_FLEETS) {
        return crewFail("crewFleetOpen", "this build of Crew opens at most %u fleets", (unsigned)CREW_MAX_FLEETS);
    }
    if (crewShellBoot("crewFleetOpen") != 0) {
        return -1;
    }
    ownLabel(label, sizeof label);
    status = join(name, &geometry, label, &fleet);
    if (status != CREW_OK) {
        return failOpen(name, status, &geometry);
    }
    if (tableCount == 0) {
        crewFleetPoolInit();
        (void)initHookRegister(atInitHook);
        (void)epicsAtExit(leaveAll, NULL);
    }
    (void)epicsSnprintf(tables[tableCount].name, TABLE_NAME_BYTES, "%s", name);
    tables[tableCount].kind = geometry.kind;
    tables[tableCount].fleet = fleet;
    tableCount++;
    return 0;
}

/* ---- looking ---- */

static void printLine(void *context, const char *line)
{
    (void)context;
    epicsStdoutPrintf("  %s\n", line);
}

int crewFleetShow(int level, const char *name)
{
    const uint32_t depth = level > 0 ? (uint32_t)level : 0u;
    int shown = 0;
    int i;

    for (i = 0; i < tableCount; i++) {
        if (name == NULL || strcmp(name, tables[i].name) == 0) {
            epicsStdoutPrintf("fleet %s:\n", tables[i].name);
            /* Before the sweep, after which nothing is left of a node that has ended. */
            (void)crew_fleet_report(tables[i].fleet, depth, printLine, NULL);
            sweep(&tables[i]);
            crewFleetPoolReport(tables[i].fleet);
            epicsStdoutPrintf("  noticed here: %d nodes have ended without leaving\n",
                              epicsAtomicGetIntT(&tables[i].deaths));
            shown++;
        }
    }
    if (shown == 0 && name != NULL) {
        return crewFail("crewFleetShow", "no fleet of that name is open here: crewFleetShow lists them");
    }
    if (shown == 0) {
        epicsStdoutPrintf("no fleet is open: crewFleetOpen\n");
    }
    return 0;
}

static table *find(const char *name)
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
    const table *found = find(name);

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


/* ---- asking ---- */

int32_t crewFleetUnits(const char *name, const char *keyText, uint32_t *units, uint32_t *resources)
{
    table *in = find(name);
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
        sweep(in);
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

/* A "no" that is final for now: is there anybody under the key at all? */
static int32_t whyNot(const table *in, crew_key key)
{
    uint32_t resources;

    if (crew_fleet_candidates(in->fleet, key, NULL, 0, &resources) == CREW_OK && resources == 0) {
        return CREW_NOT_RUN;
    }
    return CREW_TIMED_OUT;
}

int32_t crewFleetAsk(const char *name, const char *keyText, uint32_t timeoutMs, char *lease, size_t bytes)
{
    const uint64_t begunMs = nowMs();
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    table *in = find(name);
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
    sweep(in);
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
        status = crew_fleet_wait(in->fleet, key, plan.version, timeoutMs - (uint32_t)pastMs, &version);
        if (status != CREW_OK && status != CREW_TIMED_OUT) {
            return status;
        }
    }
}
