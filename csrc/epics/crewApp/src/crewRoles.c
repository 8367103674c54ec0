/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewRoles.h"

#include <stdlib.h>
#include <string.h>

#include <epicsStdio.h>
#include <epicsThread.h>

#include "crewPortEpics.h"

#define SEPARATORS " \t,"
#define ROLE_BYTES 64u

/* A decimal number that is all of `text` but for `*rest`. 0 = there is none, or it is beyond
 * `most`. */
static int readNumber(const char *text, unsigned long most, unsigned long *number,
                      const char **rest)
{
    char *end;

    if (text[0] < '0' || text[0] > '9') {
        return 0;
    }
    *number = strtoul(text, &end, 10);
    *rest = end;
    return *number <= most;
}

/* Bytes, or 0: not a stack size. */
static uint32_t readStack(const char *text)
{
    unsigned long number;
    unsigned long unit = 1;
    const char *rest;

    if (strcmp(text, "small") == 0) {
        return epicsThreadGetStackSize(epicsThreadStackSmall);
    }
    if (strcmp(text, "medium") == 0) {
        return epicsThreadGetStackSize(epicsThreadStackMedium);
    }
    if (strcmp(text, "big") == 0) {
        return epicsThreadGetStackSize(epicsThreadStackBig);
    }
    if (!readNumber(text, CREW_STACK_MAX, &number, &rest)) {
        return 0;
    }
    if (rest[0] == 'k' || rest[0] == 'K') {
        unit = 1024;
        rest++;
    } else if (rest[0] == 'm' || rest[0] == 'M') {
        unit = 1024 * 1024;
        rest++;
    }
    return rest[0] == '\0' && number <= CREW_STACK_MAX / unit ? (uint32_t)(number * unit) : 0;
}

/* `text` is one role, and is taken apart. */
static int readRole(char *text, uint32_t index, crewRoles *result, char *error, size_t errorBytes)
{
    const unsigned position = (unsigned)index + 1u;
    crew_role *role = &result->roles[index];
    char whole[ROLE_BYTES];
    char *stack = strchr(text, ':');
    char *priority = stack != NULL ? strchr(stack + 1, ':') : NULL;
    unsigned long number = 0;
    const char *rest = "";

    (void)epicsSnprintf(whole, sizeof whole, "%s", text);
    if (priority == NULL || strchr(priority + 1, ':') != NULL) {
        (void)epicsSnprintf(error, errorBytes, "role %u \"%s\" is not name:stack:priority",
                            position, whole);
        return -1;
    }
    *stack++ = '\0';
    *priority++ = '\0';
    if (text[0] == '\0' || strlen(text) >= CREW_NAME_BYTES) {
        (void)epicsSnprintf(error, errorBytes,
                            "role %u \"%s\": its name must be 1 to %u characters", position, whole,
                            (unsigned)CREW_NAME_BYTES - 1u);
        return -1;
    }
    role->stack_bytes = readStack(stack);
    if (role->stack_bytes < crewPortEpicsStackMin()) {
        (void)epicsSnprintf(error, errorBytes,
                            "role %u \"%s\": stack \"%s\" must be small, medium, big, or %u to "
                            "%u bytes (65536, 64k, 1M)",
                            position, whole, stack, (unsigned)crewPortEpicsStackMin(),
                            (unsigned)CREW_STACK_MAX);
        return -1;
    }
    if (!readNumber(priority, CREW_PRIORITY_MAX, &number, &rest) || rest[0] != '\0') {
        (void)epicsSnprintf(error, errorBytes,
                            "role %u \"%s\": priority \"%s\" must be 0 to %u, EPICS' scale",
                            position, whole, priority, (unsigned)CREW_PRIORITY_MAX);
        return -1;
    }
    role->priority = (uint32_t)number;
    (void)epicsSnprintf(result->names[index], CREW_NAME_BYTES, "%s", text);
    role->name = result->names[index];
    return 0;
}

int crewRolesRead(const char *text, crewRoles *result, char *error, size_t errorBytes)
{
    char copy[CREW_ROLES_TEXT_BYTES];
    char *role = copy;

    result->count = 0;
    if (strlen(text) >= sizeof copy) {
        (void)epicsSnprintf(error, errorBytes, "the roles are longer than %u characters",
                            CREW_ROLES_TEXT_BYTES - 1u);
        return -1;
    }
    (void)epicsSnprintf(copy, sizeof copy, "%s", text);
    for (;;) {
        size_t length;
        int isLast;

        role += strspn(role, SEPARATORS);
        length = strcspn(role, SEPARATORS);
        if (length == 0) {
            break;
        }
        if (result->count == CREW_MAX_ROLES) {
            (void)epicsSnprintf(error, errorBytes, "more than %u roles", (unsigned)CREW_MAX_ROLES);
            return -1;
        }
        isLast = role[length] == '\0';
        role[length] = '\0';
        if (readRole(role, result->count, result, error, errorBytes) != 0) {
            return -1;
        }
        result->count++;
        if (isLast) {
            break;
        }
        role += length + 1;
    }
    if (result->count == 0) {
        (void)epicsSnprintf(error, errorBytes,
                            "no roles: say name:stack:priority, for example \"conn:big:20\"");
        return -1;
    }
    return 0;
}
