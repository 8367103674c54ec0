/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewShell.h"

#include <epicsStdio.h>

#include "crewCas.h"
#include "crewLog.h"
#include "crewPortEpics.h"
#include "crewRoles.h"
#include "crewText.h"

#define MESSAGE_BYTES 256u

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
        return crewFail("crewBudget",
                        "must be a positive whole number of MiB, for example crewBudget 160; the "
                        "default stands");
    }
    if (crewBootIsDone()) {
        return crewFail("crewBudget",
                        "comes too late, the budget is in force: move it before every "
                        "crewPoolOpen and crewCasPool, and say it once");
    }
    return crewBootWithBudget("crewBudget", mib);
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
        return crewFail("crewPoolOpen",
                        "say name, roles and capacity, for example crewPoolOpen stream "
                        "\"conn:big:20 reader:small:18\" 8 0 2");
    }
    if (crewIsLate("crewPoolOpen")) {
        return -1;
    }
    if (crewRolesRead(roles, &roster, error, sizeof error) != 0) {
        return crewFail("crewPoolOpen", "%s", error);
    }
    if (capacity < 1 || prestart < 0 || keep < 0) {
        return crewFailWith("crewPoolOpen", CREW_BAD_CAPACITY, NULL, name);
    }
    if (crewPoolFind(name, &pool) == CREW_OK) {
        return crewFail("crewPoolOpen", "a pool of that name is open: give each its own");
    }
    if (crewShellBoot("crewPoolOpen") != 0) {
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
        return crewFailWith("crewPoolOpen", status, &refusal, name);
    }
    crewPoolsAdd(name, pool, roster.roles, roster.count);
    return 0;
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
        return crewFailWith("crewCasPool", CREW_BAD_CAPACITY, NULL, "CAS");
    }
    if (perHost < 0 || perHost > capacity) {
        return crewFail("crewCasPool", "perHost must be 0 (no limit) to the capacity");
    }
    if (waitMs < 0 || waitMs > (int)CREW_CAS_WAIT_MAX_MS) {
        return crewFail("crewCasPool", "waitMs must be 0 to 10000");
    }
    if (crewCasIsOn()) {
        return crewFail("crewCasPool", "the CA server has its pool: say it once");
    }
    if (crewShellBoot("crewCasPool") != 0) {
        return -1;
    }
    config.capacity = (unsigned)capacity;
    config.perHost = (unsigned)perHost;
    config.waitMs = (unsigned)waitMs;
    config.prestart = (unsigned)prestart;
    status = crewCasOpen(&config, &pool, &refusal);
    if (status != CREW_OK) {
        return crewFailWith("crewCasPool", status, &refusal, "CAS");
    }
    crewPoolsAdd("CAS", pool, NULL, 0);
    return 0;
}

int crewSeal(void)
{
    int32_t status;

    if (!crewBootIsDone()) {
        return crewFail("crewSeal",
                        "nothing to seal: open pools first (crewPoolOpen, crewCasPool)");
    }
    status = crew_seal();
    return status == CREW_OK ? 0 : crewFailWith("crewSeal", status, NULL, "");
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
    return status == CREW_OK ? 0 : crewFailWith("crewTrim", status, NULL, name);
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
        epicsStdoutPrintf("EPICS priorities have no effect here: all threads run at one "
                          "priority\n");
    }
    return 0;
}
