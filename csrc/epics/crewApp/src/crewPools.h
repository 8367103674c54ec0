/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pools that the commands have opened, by name. One thread at a time, as commands are. */
#ifndef CREW_POOLS_H
#define CREW_POOLS_H

#include <stdint.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The pool of that name that crewPoolOpen or crewCasPool ("CAS") opened. CREW_OK, or CREW_STALE:
 * none. */
int32_t crewPoolFind(const char *name, crew_pool *pool);

/*
 * The position of that role in the pool's roster; NULL: the first. `index` may be NULL. CREW_OK, or
 * CREW_STALE: no such pool, or CREW_BAD_ROLE: no such role, or a pool ("CAS") whose threads are
 * another's.
 */
int32_t crewPoolRole(const char *pool, const char *role, uint32_t *index);

/*
 * Adds a pool that a command has opened. The name and the roles' names are copied. No roles: the CA
 * server's pool, on which other code runs no jobs.
 */
void crewPoolsAdd(const char *name, crew_pool pool, const crew_role *roles, uint32_t roleCount);

#ifdef __cplusplus
}
#endif

#endif
