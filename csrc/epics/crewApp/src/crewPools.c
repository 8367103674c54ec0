/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewPools.h"

#include <string.h>

#include <epicsStdio.h>

typedef struct opened {
    char name[CREW_NAME_BYTES];
    crew_pool pool;
    uint32_t roleCount; /* 0: the CA server's */
    char roles[CREW_MAX_ROLES][CREW_NAME_BYTES];
} opened;

static opened pools[CREW_MAX_POOLS];
static unsigned poolCount;

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

void crewPoolsAdd(const char *name, crew_pool pool, const crew_role *roles, uint32_t roleCount)
{
    opened *added;
    uint32_t i;

    if (poolCount == CREW_MAX_POOLS) { /* the core opens no more than that */
        return;
    }
    added = &pools[poolCount];
    (void)epicsSnprintf(added->name, CREW_NAME_BYTES, "%s", name);
    added->pool = pool;
    added->roleCount = roleCount;
    for (i = 0; i < roleCount; i++) {
        (void)epicsSnprintf(added->roles[i], CREW_NAME_BYTES, "%s", roles[i].name);
    }
    poolCount++;
}
