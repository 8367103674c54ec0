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
 * Adds a pool that a command has opened with these options. They are copied, with the roles and all
 * names. `isServers`: the CA server's, on which other code runs no jobs.
 */
void crewPoolsAdd(const crew_pool_options *options, crew_pool pool, int isServers);

/*
 * The first pool that has fewer sets than it keeps, which is the one that a failed crew_seal
 * stopped at: its options, and how many sets it has. NULL: none.
 */
const crew_pool_options *crewPoolsShort(uint32_t *created);

#ifdef __cplusplus
}
#endif

#endif
