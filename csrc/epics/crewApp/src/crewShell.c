/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewShell.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epicsStdio.h>

#include "crewCas.h"
#include "crewLog.h"
#include "crewPortEpics.h"
#include "crewRoles.h"
#include "crewText.h"

#define MESSAGE_BYTES 256u
#define KEEPALIVE_MAX_S 32767 /* Linux' bounds */
#define KEEPALIVE_MAX_COUNT 127
#define OTHER_DESCRIPTORS 16u /* an idle IOC has 8 to 10 files and sockets open (measured) */

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
        crewRefusalOfGrowth(&options, options.prestart, status, &refusal);
        return crewFailWith("crewPoolOpen", status, &refusal, name);
    }
    crewTellBudget("crewPoolOpen", &options);
    crewPoolsAdd(&options, pool, 0);
    return 0;
}

static void tellDescriptors(const char *command, unsigned capacity)
{
    const long limit = sysconf(_SC_OPEN_MAX);

    if (limit > 0 && (unsigned long)limit < capacity + OTHER_DESCRIPTORS) {
        crewTell(command,
                 "%u CA clients need as many files and the IOC some %u more, this process may open "
                 "%ld: beyond that the CA server pauses for 15 s. Raise the limit or lower the "
                 "capacity",
                 capacity, OTHER_DESCRIPTORS, limit);
    }
}

/* Whether a stack variable's value can be one. */
static int isStack(int bytes)
{
    return bytes == 0 || (bytes > 0 && (uint32_t)bytes >= crewPortEpicsStackMin() &&
                          (uint32_t)bytes <= CREW_STACK_MAX);
}

static int openCasPool(const char *command, int capacity, int perHost, int waitMs, int prestart)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crewCasConfig config;
    crew_pool pool;
    int32_t status;

    if (crewIsLate(command)) {
        return -1;
    }
    if (capacity < 1 || capacity > (int)CREW_MAX_SETS || prestart < 0 || prestart > capacity) {
        return crewFailWith(command, CREW_BAD_CAPACITY, NULL, "CAS");
    }
    if (perHost < 0 || perHost > capacity) {
        return crewFail(command, "perHost must be 0 (no limit) to the capacity");
    }
    if (waitMs < 0 || waitMs > (int)CREW_CAS_WAIT_MAX_MS) {
        return crewFail(command, "waitMs must be 0 to %u", CREW_CAS_WAIT_MAX_MS);
    }
    if (!isStack(crewCasClientStack) || !isStack(crewCasEventStack)) {
        return crewFail(command,
                        "crewCasClientStack (%d) and crewCasEventStack (%d) must be 0, or %u to %u "
                        "bytes",
                        crewCasClientStack, crewCasEventStack, (unsigned)crewPortEpicsStackMin(),
                        (unsigned)CREW_STACK_MAX);
    }
    if (crewCasIsOn()) {
        return crewFail(command, "the CA server has its pool: say it once");
    }
    if (crewShellBoot(command) != 0) {
        return -1;
    }
    config.capacity = (unsigned)capacity;
    config.perHost = (unsigned)perHost;
    config.waitMs = (unsigned)waitMs;
    config.prestart = (unsigned)prestart;
    status = crewCasOpen(&config, &pool, &options);
    if (status != CREW_OK) {
        crewRefusalOfGrowth(&options, options.prestart, status, &refusal);
        return crewFailWith(command, status, &refusal, "CAS");
    }
    tellDescriptors(command, config.capacity);
    crewTellBudget(command, &options);
    crewPoolsAdd(&options, pool, 1);
    return 0;
}

int crewCasPool(int capacity, int perHost, int waitMs, int prestart)
{
    return openCasPool("crewCasPool", capacity, perHost, waitMs, prestart);
}

static int isSaid(const char *text)
{
    return text != NULL && text[0] != '\0';
}

int crewCasPoolOfTexts(const char *command, const char *const *texts)
{
    static const char *const names[CREW_CAS_POOL_NUMBERS] = {"capacity", "perHost", "waitMs",
                                                             "prestart"};
    int numbers[CREW_CAS_POOL_NUMBERS] = {0, 0, CREW_CAS_WAIT_DEFAULT_MS, 0};
    unsigned i;

    if (!isSaid(texts[0])) {
        return crewFail(command,
                        "say capacity, perHost, waitMs, and prestart if need be, for example 40 0 "
                        "100: 40 clients, no limit per host, a wait of 100 ms");
    }
    for (i = 0; i < CREW_CAS_POOL_NUMBERS; i++) {
        char *rest;
        long number;

        if (!isSaid(texts[i])) {
            continue;
        }
        errno = 0;
        number = strtol(texts[i], &rest, 0);
        if (rest == texts[i] || *rest != '\0' || errno != 0 || number < INT_MIN ||
            number > INT_MAX) {
            return crewFail(command, "%s \"%s\" is no whole number", names[i], texts[i]);
        }
        numbers[i] = (int)number;
    }
    if (openCasPool(command, numbers[0], numbers[1], numbers[2], numbers[3]) != 0) {
        return -1;
    }
    if (!isSaid(texts[1])) {
        crewTell(command, "perHost was not said: one host may take all %d sets", numbers[0]);
    }
    if (!isSaid(texts[2])) {
        crewTell(command, "waitMs was not said: a connection waits up to %d ms for a set",
                 numbers[2]);
    }
    return 0;
}

int crewCasKeepaliveSay(int idleS, int intervalS, int count)
{
    if (crewIsLate("crewCasKeepalive")) {
        return -1;
    }
    if (idleS < 1 || idleS > KEEPALIVE_MAX_S || intervalS < 1 || intervalS > KEEPALIVE_MAX_S ||
        count < 1 || count > KEEPALIVE_MAX_COUNT) {
        return crewFail("crewCasKeepalive",
                        "say idle and interval in s (1 to %d) and count (1 to %d), for example 30 "
                        "5 3",
                        KEEPALIVE_MAX_S, KEEPALIVE_MAX_COUNT);
    }
    if (crewCasKeepaliveSet((unsigned)idleS, (unsigned)intervalS, (unsigned)count) != 0) {
        return crewFail("crewCasKeepalive", "this system cannot be told: its own times stand");
    }
    return 0;
}

/* Says which pool the seal stopped at, with its figures and what to change. */
static int failedSeal(int32_t status)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;
    char sentence[CREW_SENTENCE_BYTES];
    uint32_t created;
    const crew_pool_options *options = crewPoolsShort(&created);

    if (options == NULL) {
        return crewFailWith("crewSeal", status, NULL, "");
    }
    crewRefusalOfGrowth(options, 1, status, &refusal);
    crewStatusSentence(status, &refusal, options->name, sentence, sizeof sentence);
    return crewFail("crewSeal",
                    "not sealed: pool %s has %u of the %u sets that it keeps, and holds these. For "
                    "one more: %s; or lower its %s",
                    options->name, (unsigned)created, (unsigned)options->keep, sentence,
                    options->keep == options->capacity ? "capacity" : "keep");
}

int crewSeal(void)
{
    int32_t status;

    if (!crewBootIsDone()) {
        return crewFail("crewSeal",
                        "nothing to seal: open pools first (crewPoolOpen, crewCasPool)");
    }
    status = crew_seal();
    if (status == CREW_ALREADY_SEALED) {
        crewTell("crewSeal", "sealed already, nothing has changed");
        return 0;
    }
    return status == CREW_OK ? 0 : failedSeal(status);
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
    static const char begins[] = "pool " CREW_CAS_POOL_NAME ":";
    int *isOfCas = context;

    if (line[0] != ' ') {
        *isOfCas = strncmp(line, begins, sizeof begins - 1u) == 0;
    }
    if (!*isOfCas || !crewCasReportLine(line)) {
        epicsStdoutPrintf("%s\n", line);
    }
}

int crewShow(int level)
{
    const uint32_t depth = level > 0 ? (uint32_t)level : 0u;
    crew_account account = CREW_ACCOUNT_INIT;
    unsigned heldBack;
    int isOfCas = 0;

    if (crew_account_usage(&account) != CREW_OK) {
        epicsStdoutPrintf("Crew is not in use: no crewBudget, crewPoolOpen or crewCasPool\n");
        return 0;
    }
    (void)crew_report(depth, printLine, &isOfCas); /* its only error is a NULL sink */
    crewCasReport(depth);
    if (depth > 0) {
        epicsStdoutPrintf("since boot: leases, refused, retired, threads ever created, most busy, "
                          "high water\n");
    }
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
