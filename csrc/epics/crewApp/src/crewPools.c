/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewPools.h"

#include <string.h>

#include <epicsStdio.h>

typedef struct opened {
    char name[CREW_NAME_BYTES];
    crew_pool pool;
    int isServers;
    crew_pool_options options; /* its pointers point to here */
    crew_role roles[CREW_MAX_ROLES];
    char roleNames[CREW_MAX_ROLES][CREW_NAME_BYTES];
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
    for (i = 0; i < found->options.role_count && !found->isServers; i++) {
        if (role == NULL || strcmp(found->roleNames[i], role) == 0) {
            if (index != NULL) {
                *index = i;
            }
            return CREW_OK;
        }
    }
    return CREW_BAD_ROLE;
}

void crewPoolsAdd(const crew_pool_options *options, crew_pool pool, int isServers)
{
    opened *added;
    uint32_t i;

    if (poolCount == CREW_MAX_POOLS) { /* the core opens no more than that */
        return;
    }
    added = &pools[poolCount];
    (void)epicsSnprintf(added->name, CREW_NAME_BYTES, "%s", options->name);
    added->pool = pool;
    added->isServers = isServers;
    added->options = *options;
    added->options.name = added->name;
    added->options.roles = added->roles;
    for (i = 0; i < options->role_count; i++) {
        (void)epicsSnprintf(added->roleNames[i], CREW_NAME_BYTES, "%s", options->roles[i].name);
        added->roles[i] = options->roles[i];
        added->roles[i].name = added->roleNames[i];
    }
    poolCount++;
}

const crew_pool_options *crewPoolsShort(uint32_t *created)
{
    unsigned i;

    for (i = 0; i < poolCount; i++) {
        crew_usage usage = CREW_USAGE_INIT;

        if (crew_pool_usage(pools[i].pool, &usage) == CREW_OK &&
            usage.created < pools[i].options.keep) {
            *created = usage.created;
            return &pools[i].options;
        }
    }
    return NULL;
}
