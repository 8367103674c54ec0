/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewShell.h"

#include <stdlib.h>
#include <string.h>

#include <epicsStdio.h>
#include <iocsh.h>

#include "crewCas.h"
#include "crewFleet.h"
#include "crewLog.h"
#include "crewPortEpics.h"
#include "crewRoles.h"
#include "crewText.h"

/* Hosts may set the budget here; a crewBudget command goes before it. */
#define BUDGET_VARIABLE "CREW_BUDGET_MIB"
#define MESSAGE_BYTES 256u

typedef struct opened {
    char name[CREW_NAME_BYTES];
    crew_pool pool;
    uint32_t roleCount; /* 0: the CA server's, nobody else runs jobs there */
    char roles[CREW_MAX_ROLES][CREW_NAME_BYTES];
} opened;

static opened pools[CREW_MAX_POOLS];
static unsigned poolCount;
static int booted; /* by a command, or found booted by one */

static int failWith(const char *command, int32_t status, const crew_refusal *refusal, const char *pool)
{
    char sentence[CREW_SENTENCE_BYTES];

    crewStatusSentence(status, refusal, pool, sentence, sizeof sentence);
    return crewFail(command, "%s", sentence);
}

static int boot(const char *command, const char *budget)
{
    int32_t status;

    if (booted) {
        return 0;
    }
    status = crewPortEpicsBoot(budget != NULL ? budget : getenv(BUDGET_VARIABLE));
    if (status != CREW_OK && status != CREW_ALREADY_BOOTED) {
        return failWith(command, status, NULL, "");
    }
    if (status == CREW_ALREADY_BOOTED && budget != NULL) {
        return crewFail(command, "this program has set the budget already, in its own main");
    }
    booted = 1;
    return 0;
}

static void remember(const char *name, crew_pool pool, const crewRoles *roster)
{
    opened *kept;

    if (poolCount == CREW_MAX_POOLS) { /* the core opens no more than that */
        return;
    }
    kept = &pools[poolCount];
    (void)epicsSnprintf(kept->name, CREW_NAME_BYTES, "%s", name);
    kept->pool = pool;
    kept->roleCount = roster != NULL ? roster->count : 0;
    if (roster != NULL) {
        memcpy(kept->roles, roster->names, sizeof kept->roles);
    }
    poolCount++;
}

static const opened *find(const char *name)
{
    unsigned i;

    for (i = 0; i < poolCount; i++) {
        if (strcmp(pools[i].name, name) == 0) {
            return &pools[i];
        }
    }
    return NULL;
}

int crewShellBoot(const char *command)
{
    return boot(command, NULL);
}

/* ---- the commands ---- */

int crewBudget(const char *mib)
{
    uint32_t number;

    if (mib == NULL) {
        return crewFail("crewBudget", "say how many MiB, for example crewBudget 160");
    }
    if (crewIsLate("crewBudget")) {
        return -1;
    }
    if (crew_budget_parse(mib, &number) != CREW_OK) {
        return crewFail("crewBudget", "must be a positive whole number of MiB, for example crewBudget 160; the default "
                        "stands");
    }
    if (booted) {
        return crewFail("crewBudget", "comes too late, the budget is in force: move it before every crewPoolOpen and "
                        "crewCasPool, and say it once");
    }
    return boot("crewBudget", mib);
}

int crewPoolOpen(const char *name, const char *roles, int capacity, int prestart, int keep)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crewRoles roster;
    char error[MESSAGE_BYTES];
    crew_pool pool;
    int32_t status;

    if (name == NULL || roles == NULL) {
        return crewFail("crewPoolOpen", "say name, roles and capacity, for example "
                        "crewPoolOpen stream \"conn:big:20 reader:small:18\" 8 0 2");
    }
    if (crewIsLate("crewPoolOpen")) {
        return -1;
    }
    if (crewRolesRead(roles, &roster, error, sizeof error) != 0) {
        return crewFail("crewPoolOpen", "%s", error);
    }
    if (capacity < 1 || prestart < 0 || keep < 0) {
        return failWith("crewPoolOpen", CREW_BAD_CAPACITY, NULL, name);
    }
    if (crewPoolFind(name, &pool) == CREW_OK) {
        return crewFail("crewPoolOpen", "a pool of that name is open: give each its own");
    }
    if (boot("crewPoolOpen", NULL) != 0) {
        return -1;
    }
    options.name = name;
    options.roles = roster.roles;
    options.role_count = roster.count;
    options.capacity = (uint32_t)capacity;
    options.prestart = (uint32_t)prestart;
    options.keep = (uint32_t)keep;
    status = crew_pool_open(&options, &pool);
    if (status != CREW_OK) {
        crewRefusalOfOpen(&options, status, &refusal);
        return failWith("crewPoolOpen", status, &refusal, name);
    }
    remember(name, pool, &roster);
    return 0;
}

int32_t crewPoolFind(const char *name, crew_pool *pool)
{
    const opened *found = find(name);

    if (found == NULL) {
        return CREW_STALE;
    }
    *pool = found->pool;
    return CREW_OK;
}

int32_t crewPoolRole(const char *name, const char *role, uint32_t *index)
{
    const opened *found = find(name);
    uint32_t i;

    if (found == NULL) {
        return CREW_STALE;
    }
    for (i = 0; i < found->roleCount; i++) {
        if (role == NULL || strcmp(found->roles[i], role) == 0) {
            if (index != NULL) {
                *index = i;
            }
            return CREW_OK;
        }
    }
    return CREW_BAD_ROLE;
}

int crewCasPool(int capacity, int perHost, int waitMs, int prestart)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crewCasConfig config;
    crew_pool pool;
    int32_t status;

    if (crewIsLate("crewCasPool")) {
        return -1;
    }
    if (capacity < 1 || capacity > (int)CREW_MAX_SETS || prestart < 0 || prestart > capacity) {
        return failWith("crewCasPool", CREW_BAD_CAPACITY, NULL, "CAS");
    }
    if (perHost < 0 || perHost > capacity) {
        return crewFail("crewCasPool", "perHost must be 0 (no limit) to the capacity");
    }
    if (waitMs < 0 || waitMs > (int)CREW_CAS_WAIT_MAX_MS) {
        return crewFail("crewCasPool", "waitMs must be 0 to 10000: no other client is accepted during that wait");
    }
    if (crewCasIsOn()) {
        return crewFail("crewCasPool", "the CA server has its pool: say it once");
    }
    if (boot("crewCasPool", NULL) != 0) {
        return -1;
    }
    config.capacity = (unsigned)capacity;
    config.perHost = (unsigned)perHost;
    config.waitMs = (unsigned)waitMs;
    config.prestart = (unsigned)prestart;
    status = crewCasOpen(&config, &pool, &refusal);
    if (status != CREW_OK) {
        return failWith("crewCasPool", status, &refusal, "CAS");
    }
    remember("CAS", pool, NULL);
    return 0;
}

int crewSeal(void)
{
    int32_t status;

    if (!booted) {
        return crewFail("crewSeal", "nothing to seal: open pools first (crewPoolOpen, crewCasPool)");
    }
    status = crew_seal();
    return status == CREW_OK ? 0 : failWith("crewSeal", status, NULL, "");
}

int crewTrim(const char *name, int keep)
{
    crew_pool pool;
    int32_t status;

    if (name == NULL) {
        return crewFail("crewTrim", "say which pool, for example crewTrim stream 2");
    }
    if (crewPoolFind(name, &pool) != CREW_OK) {
        return crewFail("crewTrim", "no pool of that name: crewShow lists them");
    }
    if (keep < 0) {
        return crewFail("crewTrim", "keep must be 0 or more sets");
    }
    status = crew_pool_trim(pool, (uint32_t)keep);
    return status == CREW_OK ? 0 : failWith("crewTrim", status, NULL, name);
}

static void printLine(void *context, const char *line)
{
    (void)context;
    epicsStdoutPrintf("%s\n", line);
}

int crewShow(int level)
{
    const uint32_t depth = level > 0 ? (uint32_t)level : 0u;
    crew_account account = CREW_ACCOUNT_INIT;
    unsigned heldBack;

    if (crew_account_usage(&account) != CREW_OK) {
        epicsStdoutPrintf("Crew is not in use: no crewBudget, crewPoolOpen or crewCasPool\n");
        return 0;
    }
    (void)crew_report(depth, printLine, NULL); /* its only error is a NULL sink */
    crewCasReport(depth);
    heldBack = crewLogHeldBack();
    if (depth > 0 && heldBack > 0) {
        epicsStdoutPrintf("log lines held back at the moment: %u\n", heldBack);
    }
    if (depth > 0 && crewPortEpicsRealTime() == 0) {
        epicsStdoutPrintf("EPICS priorities have no effect here: all threads run at one priority\n");
    }
    return 0;
}

/* ---- iocsh ---- */

static const iocshArg mibArg = {"MiB", iocshArgString};
static const iocshArg nameArg = {"name", iocshArgString};
static const iocshArg rolesArg = {"roles", iocshArgString};
static const iocshArg capacityArg = {"capacity", iocshArgInt};
static const iocshArg prestartArg = {"prestart", iocshArgInt};
static const iocshArg keepArg = {"keep", iocshArgInt};
static const iocshArg perHostArg = {"perHost", iocshArgInt};
static const iocshArg waitMsArg = {"waitMs", iocshArgInt};
static const iocshArg levelArg = {"level", iocshArgInt};
static const iocshArg kindArg = {"kind", iocshArgInt};
static const iocshArg nodesArg = {"nodes", iocshArgInt};
static const iocshArg resourcesArg = {"resources", iocshArgInt};
static const iocshArg keysArg = {"keys", iocshArgInt};
static const iocshArg poolArg = {"pool", iocshArgString};
static const iocshArg keyArg = {"key", iocshArgString};
static const iocshArg fleetArg = {"fleet", iocshArgString};

static const iocshArg *const budgetArgs[] = {&mibArg};
static const iocshArg *const poolOpenArgs[] = {&nameArg, &rolesArg, &capacityArg, &prestartArg, &keepArg};
static const iocshArg *const casPoolArgs[] = {&capacityArg, &perHostArg, &waitMsArg, &prestartArg};
static const iocshArg *const trimArgs[] = {&nameArg, &keepArg};
static const iocshArg *const showArgs[] = {&levelArg};
static const iocshArg *const fleetOpenArgs[] = {&nameArg, &kindArg, &nodesArg, &resourcesArg, &keysArg};
static const iocshArg *const fleetShowArgs[] = {&levelArg, &fleetArg};
static const iocshArg *const fleetPublishArgs[] = {&poolArg, &keyArg, &fleetArg};

#ifdef IOCSHFUNCDEF_HAS_USAGE
#define DEFINITION(name, count, arguments, usage) {name, count, arguments, usage}
#else
#define DEFINITION(name, count, arguments, usage) {name, count, arguments}
#endif

static const iocshFuncDef budgetDef = DEFINITION("crewBudget", 1, budgetArgs,
    "Bounds the memory of all pools together, in whole MiB. Before iocInit and before any pool.\n"
    "The target has to confirm it; what it does not confirm is clamped, and told.\n"
    "Example: crewBudget 160\n");
static const iocshFuncDef poolOpenDef = DEFINITION("crewPoolOpen", 5, poolOpenArgs,
    "Opens a pool of thread sets. Before iocInit.\n"
    "  roles     \"name:stack:priority ...\", the threads of one set. stack: small, medium, big, or\n"
    "            bytes (65536, 64k, 1M); priority: 0 to 99\n"
    "  capacity  sets at most\n"
    "  prestart  sets whose threads are made now (default 0)\n"
    "  keep      idle sets that are never given back (default 0)\n"
    "Example: crewPoolOpen stream \"conn:big:20 reader:small:18 writer:small:18\" 8 0 2\n");
static const iocshFuncDef casPoolDef = DEFINITION("crewCasPool", 4, casPoolArgs,
    "Runs the CA server's clients on a pool of thread sets, one set per client. Before iocInit.\n"
    "  capacity  clients at a time\n"
    "  perHost   of these, at most so many from one client host (0: no limit)\n"
    "  waitMs    how long a new connection may wait for a set before it is closed, 0 to 10000\n"
    "  prestart  sets whose threads are made now (default 0); the others come with clients, or all with crewSeal\n"
    "The variables crewCasClientStack and crewCasEventStack (bytes) set the stacks, 0 = the CA server's own.\n"
    "Example: crewCasPool 40 8 100\n");
static const iocshFuncDef sealDef = DEFINITION("crewSeal", 0, NULL,
    "Grows every pool to what it keeps, then stops growth: no thread is made and no memory taken any more.\n");
static const iocshFuncDef trimDef = DEFINITION("crewTrim", 2, trimArgs,
    "Gives back the idle sets of a pool that are more than keep (default 0).\n"
    "Example: crewTrim stream 2\n");
static const iocshFuncDef showDef = DEFINITION("crewShow", 1, showArgs,
    "Shows pools and the memory account.\n"
    "  level 0: a line per pool, the account\n"
    "        1: also roles, refusals by cause, the CA server's pool and its self-test\n"
    "        2: also every busy set, who holds it and since when\n");
static const iocshFuncDef fleetOpenDef = DEFINITION("crewFleetOpen", 5, fleetOpenArgs,
    "Opens a fleet: a table of limited things that the IOCs of this machine share. Before iocInit.\n"
    "  name       the shared memory's name; who opens it first makes it, the others must say the same numbers\n"
    "  kind       1 to 63 (default 1): tells the leases of several fleets of one IOC apart\n"
    "  nodes      processes at one time (default 16)\n"
    "  resources  of one process, a power of two (default 64)\n"
    "  keys       a power of two (default 64)\n"
    "The node's label is the variable IOC or IOCNAME, else the program's name.\n"
    "Example: crewFleetOpen gateway\n");
static const iocshFuncDef fleetShowDef = DEFINITION("crewFleetShow", 2, fleetShowArgs,
    "Shows the fleet of that name, or every one, and takes back what ended processes held.\n"
    "  level 0: its figures, and a line per node: label, process, alive or not\n"
    "        1: also resources: key, owner, units\n"
    "        2: also leases that wait for their owner, with holder and age, and what runs\n"
    "Example: crewFleetShow 2 gateway\n");
static const iocshFuncDef fleetPublishDef = DEFINITION("crewFleetPublish", 3, fleetPublishArgs,
    "Publishes a pool in a fleet: other IOCs can ask for its sets, one unit for each.\n"
    "  pool   from crewPoolOpen\n"
    "  key    1 to 16 characters; pools under the same key do the same work\n"
    "  fleet  default: the one that was opened first\n"
    "The variable crewFleetGraceMs (10000) says how long a lease that nobody brings keeps its unit.\n"
    "Example: crewFleetPublish scan scan\n");

static void callBudget(const iocshArgBuf *args)
{
    (void)iocshSetError(crewBudget(args[0].sval));
}

static void callPoolOpen(const iocshArgBuf *args)
{
    (void)iocshSetError(crewPoolOpen(args[0].sval, args[1].sval, args[2].ival, args[3].ival, args[4].ival));
}

static void callCasPool(const iocshArgBuf *args)
{
    (void)iocshSetError(crewCasPool(args[0].ival, args[1].ival, args[2].ival, args[3].ival));
}

static void callSeal(const iocshArgBuf *args)
{
    (void)args;
    (void)iocshSetError(crewSeal());
}

static void callTrim(const iocshArgBuf *args)
{
    (void)iocshSetError(crewTrim(args[0].sval, args[1].ival));
}

static void callShow(const iocshArgBuf *args)
{
    (void)iocshSetError(crewShow(args[0].ival));
}

static void callFleetOpen(const iocshArgBuf *args)
{
    (void)iocshSetError(crewFleetOpen(args[0].sval, args[1].ival, args[2].ival, args[3].ival, args[4].ival));
}

static void callFleetShow(const iocshArgBuf *args)
{
    (void)iocshSetError(crewFleetShow(args[0].ival, args[1].sval));
}

static void callFleetPublish(const iocshArgBuf *args)
{
    (void)iocshSetError(crewFleetPublish(args[0].sval, args[1].sval, args[2].sval));
}

void crewShellRegister(void)
{
    iocshRegister(&budgetDef, callBudget);
    iocshRegister(&poolOpenDef, callPoolOpen);
    iocshRegister(&casPoolDef, callCasPool);
    iocshRegister(&sealDef, callSeal);
    iocshRegister(&trimDef, callTrim);
    iocshRegister(&showDef, callShow);
    iocshRegister(&fleetOpenDef, callFleetOpen);
    iocshRegister(&fleetShowDef, callFleetShow);
    iocshRegister(&fleetPublishDef, callFleetPublish);
}
