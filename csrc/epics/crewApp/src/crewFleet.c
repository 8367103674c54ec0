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
#include <initHooks.h>

#include "crewBoot.h"
#include "crewText.h"

#define TICK_S 1.0
#define DIFFERS_BYTES 256u

static epicsCallback tickCallback;
static int ticking; /* atomic */

/* ---- once a second ---- */

static void tick(epicsCallback *callback)
{
    crewFleetTable *table;
    int i;

    for (i = 0; (table = crewFleetTableAt(i)) != NULL; i++) {
        crewFleetTableSweep(table);
    }
    crewFleetPoolTick();
    if (epicsAtomicGetIntT(&ticking)) {
        callbackRequestDelayed(callback, TICK_S);
    }
}

/* EPICS' callbacks and their timer do this, not a thread of Crew's: there is nothing to do between
 * two ticks. */
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

/* Runs after iocShutdown, because it was registered before iocInit. */
static void atExit(void *unused)
{
    (void)unused;
    crewFleetPoolCallbacks(0);
    epicsAtomicSetIntT(&ticking, 0);
    crewFleetTableLeaveAll();
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

/* The label that other nodes see: printable, without blanks, cut to the bound. */
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

static int isName(const char *name)
{
    size_t i;

    for (i = 0; name[i] != '\0'; i++) {
        if (!isgraph((unsigned char)name[i]) || name[i] == '/') {
            return 0;
        }
    }
    return i > 0 && i < CREW_FLEET_TABLE_BYTES && name[0] != '.';
}

/* Every number that differs is named. */
static int failGeometry(const char *name, const crew_fleet_geometry *asked)
{
    static const char *const names[] = {"kind", "nodes", "resources", "executions", "keys"};
    crew_fleet_geometry there = *asked;
    char differs[DIFFERS_BYTES] = "";
    size_t length = 0;
    size_t i;

    (void)crewFleetTableGeometry(name, &there); /* if it cannot be seen, nothing is named */
    const uint32_t seen[] = {there.kind, there.nodes, there.resources, there.executions,
                             there.keys};
    const uint32_t ours[] = {asked->kind, asked->nodes, asked->resources, asked->executions,
                             asked->keys};
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (seen[i] != ours[i]) {
            (void)epicsSnprintf(differs + length, sizeof differs - length, "%s %s %u, not %u",
                                length == 0 ? ": it has" : ",", names[i], (unsigned)seen[i],
                                (unsigned)ours[i]);
            length = strlen(differs);
        }
    }
    return crewFail("crewFleetOpen",
                    "fleet %s was made with other numbers%s; say the same in every IOC, or "
                    "remove it while no IOC uses it",
                    name, differs);
}

static int failOpen(const char *name, int32_t status, const crew_fleet_geometry *asked)
{
    switch (status) {
    case CREW_FLEET_OTHER_GEOMETRY:
        return failGeometry(name, asked);
    case CREW_FLEET_BAD_GEOMETRY:
        return crewFail("crewFleetOpen",
                        "kind must be 1 to 63, nodes 1 to 1024, resources a power of two up to "
                        "65536, keys a power of two up to 1048576");
    case CREW_FLEET_SYSTEM:
        return crewFail("crewFleetOpen", "the system gave no shared memory of that name: %s",
                        strerror(errno));
    case CREW_FLEET_NO_LANE:
        return crewFail("crewFleetOpen",
                        "fleet %s has as many processes as nodes, %u: make it larger, in every IOC",
                        name, (unsigned)asked->nodes);
    default:
        return crewFail("crewFleetOpen", "fleet %s: %s", name, crew_status_text(status));
    }
}

int crewFleetOpen(const char *name, int kind, int nodes, int resources, int keys)
{
    crew_fleet_geometry geometry = CREW_FLEET_GEOMETRY_INIT;
    char label[CREW_NAME_BYTES];
    const crewFleetTable *other;
    int32_t status;
    int count;

    if (name == NULL || !isName(name)) {
        return crewFail("crewFleetOpen",
                        "say the table's name, 1 to %u printable characters without / and not "
                        "beginning with a point, for example crewFleetOpen gateway",
                        CREW_FLEET_TABLE_BYTES - 1u);
    }
    if (crewIsLate("crewFleetOpen")) {
        return -1;
    }
    if (kind < 0 || nodes < 0 || resources < 0 || keys < 0) {
        return crewFail("crewFleetOpen",
                        "kind, nodes, resources and keys must not be negative; 0 is the default");
    }
    crewFleetTableDefaults(&geometry);
    geometry.kind = kind > 0 ? (uint32_t)kind : geometry.kind;
    geometry.nodes = nodes > 0 ? (uint32_t)nodes : geometry.nodes;
    geometry.resources = resources > 0 ? (uint32_t)resources : geometry.resources;
    geometry.keys = keys > 0 ? (uint32_t)keys : geometry.keys;
    for (count = 0; (other = crewFleetTableAt(count)) != NULL; count++) {
        if (strcmp(other->name, name) == 0) {
            return crewFail("crewFleetOpen", "that fleet is open already: say it once");
        }
        if (other->kind == geometry.kind) {
            return crewFail("crewFleetOpen",
                            "fleet %s has kind %u already: give each fleet of this IOC its own, "
                            "for example crewFleetOpen %s %u",
                            other->name, (unsigned)geometry.kind, name,
                            (unsigned)geometry.kind + 1u);
        }
    }
    if (count == CREW_MAX_FLEETS) {
        return crewFail("crewFleetOpen", "this build of Crew opens at most %u fleets",
                        (unsigned)CREW_MAX_FLEETS);
    }
    if (crewShellBoot("crewFleetOpen") != 0) {
        return -1;
    }
    ownLabel(label, sizeof label);
    status = crewFleetTableOpen(name, &geometry, label);
    if (status != CREW_OK) {
        return failOpen(name, status, &geometry);
    }
    if (count == 0) {
        crewFleetPoolInit();
        (void)initHookRegister(atInitHook);
        (void)epicsAtExit(atExit, NULL);
    }
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
    crewFleetTable *table;
    int shown = 0;
    int i;

    for (i = 0; (table = crewFleetTableAt(i)) != NULL; i++) {
        if (name == NULL || strcmp(name, table->name) == 0) {
            epicsStdoutPrintf("fleet %s:\n", table->name);
            /* Before the sweep, after which nothing is left of a node that has ended. */
            (void)crew_fleet_report(table->fleet, depth, printLine, NULL);
            crewFleetTableSweep(table);
            crewFleetPoolReport(table->fleet);
            epicsStdoutPrintf("  noticed here: %d nodes have ended without leaving\n",
                              epicsAtomicGetIntT(&table->deaths));
            shown++;
        }
    }
    if (shown == 0 && name != NULL) {
        return crewFail("crewFleetShow",
                        "no fleet of that name is open here: crewFleetShow lists them");
    }
    if (shown == 0) {
        epicsStdoutPrintf("no fleet is open: crewFleetOpen\n");
    }
    return 0;
}
