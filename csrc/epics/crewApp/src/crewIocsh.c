/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewIocsh.h"

#include <stddef.h>

#include <iocsh.h>

#include "crewCas.h"
#include "crewFleet.h"
#include "crewLog.h"
#include "crewShell.h"

/* ---- the commands' arguments and help ---- */

static const iocshArg mibArg = {"MiB", iocshArgString};
static const iocshArg nameArg = {"name", iocshArgString};
static const iocshArg rolesArg = {"roles", iocshArgString};
static const iocshArg capacityArg = {"capacity", iocshArgInt};
static const iocshArg prestartArg = {"prestart", iocshArgInt};
static const iocshArg keepArg = {"keep", iocshArgInt};
/* Texts: a number that is not said would be 0 without a word. */
static const iocshArg casCapacityArg = {"capacity", iocshArgString};
static const iocshArg casPerHostArg = {"perHost", iocshArgString};
static const iocshArg casWaitMsArg = {"waitMs", iocshArgString};
static const iocshArg casPrestartArg = {"prestart", iocshArgString};
static const iocshArg idleArg = {"idle", iocshArgInt};
static const iocshArg intervalArg = {"interval", iocshArgInt};
static const iocshArg countArg = {"count", iocshArgInt};
static const iocshArg levelArg = {"level", iocshArgInt};
static const iocshArg kindArg = {"kind", iocshArgInt};
static const iocshArg nodesArg = {"nodes", iocshArgInt};
static const iocshArg resourcesArg = {"resources", iocshArgInt};
static const iocshArg keysArg = {"keys", iocshArgInt};
static const iocshArg poolArg = {"pool", iocshArgString};
static const iocshArg keyArg = {"key", iocshArgString};
static const iocshArg fleetArg = {"fleet", iocshArgString};

static const iocshArg *const budgetArgs[] = {&mibArg};
static const iocshArg *const poolOpenArgs[] = {&nameArg, &rolesArg, &capacityArg, &prestartArg,
                                               &keepArg};
static const iocshArg *const casPoolArgs[] = {&casCapacityArg, &casPerHostArg, &casWaitMsArg,
                                              &casPrestartArg};
static const iocshArg *const keepaliveArgs[] = {&idleArg, &intervalArg, &countArg};
static const iocshArg *const trimArgs[] = {&nameArg, &keepArg};
static const iocshArg *const showArgs[] = {&levelArg};
static const iocshArg *const fleetOpenArgs[] = {&nameArg, &kindArg, &nodesArg, &resourcesArg,
                                                &keysArg};
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
    "  roles     \"name:stack:priority ...\", the threads of one set. stack: small, medium, big, "
    "or\n"
    "            bytes (65536, 64k, 1M); priority: 0 to 99\n"
    "  capacity  sets at most\n"
    "  prestart  sets whose threads are made now (default 0)\n"
    "  keep      idle sets that are never given back (default 0)\n"
    "            After crewSeal the pool lends these, and makes no others.\n"
    "Example: crewPoolOpen stream \"conn:big:20 reader:small:18 writer:small:18\" 8 0 8\n");
static const iocshFuncDef casPoolDef = DEFINITION("crewCasPool", 4, casPoolArgs,
    "Runs the CA server's clients on a pool of thread sets, one set per client. Before iocInit.\n"
    "  capacity  clients at a time\n"
    "  perHost   of these, at most so many from one client host (default 0: no limit)\n"
    "  waitMs    how long a new connection may wait for a set before it is closed, 0 to 10000\n"
    "            (default 100); no other connection waits for it\n"
    "  prestart  sets whose threads are made now (default 0); the others come with "
    "clients, or all with crewSeal\n"
    "The variables crewCasClientStack and crewCasEventStack (bytes) set the stacks, 0 = the CA "
    "server's own.\n"
    "Example: crewCasPool 40 20 100\n");
static const iocshFuncDef keepaliveDef = DEFINITION("crewCasKeepalive", 3, keepaliveArgs,
    "When the network asks a silent CA client on the pool whether it is there. Before iocInit.\n"
    "  idle      seconds of silence before the first question\n"
    "  interval  seconds between questions\n"
    "  count     questions without an answer before the client is cut off and its set comes back\n"
    "Without this command 30 5 3. Systems have 7200 75 9 by themselves.\n"
    "Example: crewCasKeepalive 30 5 3\n");
static const iocshFuncDef sealDef = DEFINITION("crewSeal", 0, NULL,
    "Grows every pool to what it keeps, then stops growth: no thread is made and no memory "
    "taken any more.\n");
static const iocshFuncDef trimDef = DEFINITION("crewTrim", 2, trimArgs,
    "Gives back the idle sets of a pool that are more than keep (default 0).\n"
    "Example: crewTrim stream 2\n");
static const iocshFuncDef showDef = DEFINITION("crewShow", 1, showArgs,
    "Shows pools and the memory account.\n"
    "  level 0: a line per pool, the account\n"
    "        1: also roles, refusals by cause, the CA server's pool and its self-test\n"
    "        2: also every busy set, its holder and since when; a CA client's user and channels: "
    "casr 2\n");
static const iocshFuncDef fleetOpenDef = DEFINITION("crewFleetOpen", 5, fleetOpenArgs,
    "Opens a fleet: a table of limited things that the IOCs of this machine share. Before "
    "iocInit.\n"
    "  name       the shared memory's name; the first IOC to open it makes it, the others must say "
    "the same numbers\n"
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
    "The variable crewFleetGraceMs (10000) says how long a lease that is not brought keeps its "
    "unit.\n"
    "Example: crewFleetPublish scan scan\n");

/* ---- the calls ---- */

static void callBudget(const iocshArgBuf *args)
{
    (void)iocshSetError(crewBudget(args[0].sval));
}

static void callPoolOpen(const iocshArgBuf *args)
{
    (void)iocshSetError(
        crewPoolOpen(args[0].sval, args[1].sval, args[2].ival, args[3].ival, args[4].ival));
}

static void callCasPool(const iocshArgBuf *args)
{
    const char *const texts[CREW_CAS_POOL_NUMBERS] = {args[0].sval, args[1].sval, args[2].sval,
                                                      args[3].sval};

    (void)iocshSetError(crewCasPoolOfTexts("crewCasPool", texts));
}

static void callKeepalive(const iocshArgBuf *args)
{
    (void)iocshSetError(crewCasKeepaliveSay(args[0].ival, args[1].ival, args[2].ival));
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
    (void)iocshSetError(
        crewFleetOpen(args[0].sval, args[1].ival, args[2].ival, args[3].ival, args[4].ival));
}

static void callFleetShow(const iocshArgBuf *args)
{
    (void)iocshSetError(crewFleetShow(args[0].ival, args[1].sval));
}

static void callFleetPublish(const iocshArgBuf *args)
{
    (void)iocshSetError(crewFleetPublish(args[0].sval, args[1].sval, args[2].sval));
}

void crewIocshRegister(void)
{
    iocshRegister(&budgetDef, callBudget);
    iocshRegister(&poolOpenDef, callPoolOpen);
    iocshRegister(&casPoolDef, callCasPool);
    iocshRegister(&keepaliveDef, callKeepalive);
    iocshRegister(&sealDef, callSeal);
    iocshRegister(&trimDef, callTrim);
    iocshRegister(&showDef, callShow);
    iocshRegister(&fleetOpenDef, callFleetOpen);
    iocshRegister(&fleetShowDef, callFleetShow);
    iocshRegister(&fleetPublishDef, callFleetPublish);
}

/* ---- variables ---- */

static const iocshVarDef variables[] = {
    {"crewLogPeriodMs", iocshArgInt, &crewLogPeriodMs},
    {"crewCasClientStack", iocshArgInt, &crewCasClientStack},
    {"crewCasEventStack", iocshArgInt, &crewCasEventStack},
    {"crewFleetGraceMs", iocshArgInt, &crewFleetGraceMs},
    {NULL, iocshArgInt, NULL},
};

void crewIocshRegisterVariables(void)
{
    iocshRegisterVariable(variables);
}
