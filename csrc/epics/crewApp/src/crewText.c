/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewText.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <epicsStdio.h>
#include <iocInit.h>

#define BYTES_PER_MIB 1048576.0
#define CREW_ROLE_UNKNOWN UINT32_MAX

static double mib(uint64_t bytes)
{
    return (double)bytes / BYTES_PER_MIB;
}

void crewRefusalText(const crew_refusal *refusal, const char *pool, char *text, size_t bytes)
{
    const unsigned capacity = (unsigned)refusal->capacity;

    switch (refusal->kind) {
    case CREW_REFUSED_AT_CAPACITY:
        (void)epicsSnprintf(text, bytes,
                            "all %u sets of pool %s are in use: raise its capacity, or accept "
                            "that as the limit",
                            capacity, pool);
        break;
    case CREW_REFUSED_OUT_OF_RESERVATION:
        (void)epicsSnprintf(text, bytes,
                            "pool %s needs %.2f MiB, %.2f of the budget's %.2f MiB are held: "
                            "raise crewBudget (and have the RAM)",
                            pool, mib(refusal->bytes_requested), mib(refusal->bytes_held),
                            mib(refusal->bytes_budget));
        break;
    case CREW_REFUSED_SPAWN_FAILED:
        if (refusal->os_error == EINVAL) {
            (void)epicsSnprintf(text, bytes,
                                "the stack of pool %s, role %u, does not hold this program's "
                                "thread-local storage: declare a larger one",
                                pool, (unsigned)refusal->role);
            break;
        }
        if (refusal->role == CREW_ROLE_UNKNOWN) {
            (void)epicsSnprintf(text, bytes,
                                "the system gave pool %s no more threads: more memory or a higher "
                                "thread limit",
                                pool);
            break;
        }
        (void)epicsSnprintf(text, bytes,
                            "the system gave pool %s no thread for role %u (%s): more memory or "
                            "a higher thread limit",
                            pool, (unsigned)refusal->role,
                            refusal->os_error != 0 ? strerror(refusal->os_error)
                                                   : "it ended at once");
        break;
    case CREW_REFUSED_OBJECTS_EXHAUSTED:
        if (refusal->objects == 0) {
            (void)epicsSnprintf(text, bytes,
                                "the system lacks kernel objects for a set of pool %s: it passes, "
                                "try again",
                                pool);
            break;
        }
        (void)epicsSnprintf(text, bytes,
                            "the system lacks the %u kernel objects that a set of pool %s needs: "
                            "it passes, try again",
                            (unsigned)refusal->objects, pool);
        break;
    case CREW_REFUSED_SHUTTING_DOWN:
        (void)epicsSnprintf(text, bytes, "pool %s is closing", pool);
        break;
    case CREW_REFUSED_PEER_LIMIT:
        (void)epicsSnprintf(text, bytes,
                            "this host holds its %u sets of pool %s: close clients there, or "
                            "raise the limit per host",
                            capacity, pool);
        break;
    case CREW_REFUSED_TARGET_MEMORY:
        (void)epicsSnprintf(text, bytes,
                            "the target has not the %.2f MiB in one piece that pool %s needs: "
                            "free memory, or smaller stacks",
                            mib(refusal->bytes_requested), pool);
        break;
    case CREW_REFUSED_SEALED:
        (void)epicsSnprintf(text, bytes,
                            "pool %s has no idle set and crewSeal stopped growth: prestart or "
                            "keep more sets before it",
                            pool);
        break;
    case CREW_REFUSED_TOO_MANY_WAITERS:
        (void)epicsSnprintf(text, bytes,
                            "%u callers wait for sets of pool %s already: raise its capacity, or "
                            "ask without waiting",
                            capacity, pool);
        break;
    default:
        (void)epicsSnprintf(text, bytes, "pool %s: %s", pool, crew_status_text(refusal->kind));
        break;
    }
}

void crewStatusSentence(int32_t status, const crew_refusal *refusal, const char *pool, char *text,
                        size_t bytes)
{
    if (refusal != NULL && refusal->kind == status) {
        crewRefusalText(refusal, pool, text, bytes);
        return;
    }
    switch (status) {
    case CREW_BAD_CAPACITY:
        (void)epicsSnprintf(text, bytes,
                            "capacity must be 1 to %u sets, prestart and keep at most the capacity",
                            (unsigned)CREW_MAX_SETS);
        break;
    case CREW_TABLE_FULL:
        (void)epicsSnprintf(text, bytes,
                            "no room in this build's tables (%u pools, %u sets, %u threads): "
                            "lower a capacity, or build Crew larger",
                            (unsigned)CREW_MAX_POOLS, (unsigned)CREW_MAX_SETS,
                            (unsigned)CREW_MAX_WORKERS);
        break;
    case CREW_BAD_TEXT:
        (void)epicsSnprintf(text, bytes,
                            "a name must be 1 to %u printable characters without blanks",
                            (unsigned)CREW_NAME_BYTES - 1u);
        break;
    case CREW_ALREADY_SEALED:
        (void)epicsSnprintf(text, bytes, "crewSeal came first: move this command before it");
        break;
    default:
        (void)epicsSnprintf(text, bytes, "%s", crew_status_text(status));
        break;
    }
}

static uint64_t setBytes(const crew_pool_options *options)
{
    uint64_t sum = options->extra_bytes;
    uint32_t i;

    for (i = 0; i < options->role_count; i++) {
        sum += options->roles[i].stack_bytes;
    }
    return sum;
}

static uint64_t largestStack(const crew_pool_options *options)
{
    uint64_t largest = 0;
    uint32_t i;

    for (i = 0; i < options->role_count; i++) {
        if (options->roles[i].stack_bytes > largest) {
            largest = options->roles[i].stack_bytes;
        }
    }
    return largest;
}

void crewRefusalOfGrowth(const crew_pool_options *options, uint32_t sets, int32_t status,
                         crew_refusal *refusal)
{
    crew_account account = CREW_ACCOUNT_INIT;

    if (status < CREW_REFUSED_AT_CAPACITY || status >= CREW_TIMED_OUT) {
        return; /* no refusal: a wrong argument */
    }
    refusal->kind = status;
    refusal->capacity = options->capacity;
    refusal->role = CREW_ROLE_UNKNOWN;
    refusal->bytes_requested = status == CREW_REFUSED_TARGET_MEMORY ? largestStack(options)
                                                                    : setBytes(options) * sets;
    if (crew_account_usage(&account) == CREW_OK) {
        refusal->bytes_held = account.held_bytes;
        refusal->bytes_budget = account.budget_bytes;
    }
}

void crewTellBudget(const char *command, const crew_pool_options *options)
{
    const uint64_t each = setBytes(options);
    crew_account account = CREW_ACCOUNT_INIT;

    if (each > 0 && crew_account_usage(&account) == CREW_OK &&
        account.budget_bytes / each < options->capacity) {
        crewTell(command,
                 "%u sets need %.2f MiB, the budget is %.2f MiB and has room for %u: raise "
                 "crewBudget, lower the capacity, or choose smaller stacks",
                 (unsigned)options->capacity, mib(each * options->capacity),
                 mib(account.budget_bytes), (unsigned)(account.budget_bytes / each));
    }
}

static void print(const char *command, const char *format, va_list arguments)
{
    fprintf(stderr, "%s: ", command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
}

void crewTell(const char *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(command, format, arguments);
    va_end(arguments);
}

int crewFail(const char *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(command, format, arguments);
    va_end(arguments);
    return -1;
}

int crewFailWith(const char *command, int32_t status, const crew_refusal *refusal, const char *pool)
{
    char sentence[CREW_SENTENCE_BYTES];

    crewStatusSentence(status, refusal, pool, sentence, sizeof sentence);
    return crewFail(command, "%s", sentence);
}

int crewIsLate(const char *command)
{
    return getIocState() == iocVoid ? 0 : crewFail(command, "must be called before iocInit");
}
