/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reads the text of a roster: "conn:big:20 reader:64k:18". */
#ifndef CREW_ROLES_H
#define CREW_ROLES_H

#include <stddef.h>
#include <stdint.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CREW_ROLES_TEXT_BYTES 256u

/* A roster and the names that its roles point to: it must not be moved or copied. */
typedef struct crewRoles {
    uint32_t count;
    crew_role roles[CREW_MAX_ROLES];
    char names[CREW_MAX_ROLES][CREW_NAME_BYTES];
} crewRoles;

/*
 * Reads `text` (not NULL). 0; or -1, and `error` says which role and which part of it is wrong and
 * what may stand there, cut to `errorBytes`. Any thread.
 */
int crewRolesRead(const char *text, crewRoles *result, char *error, size_t errorBytes);

#ifdef __cplusplus
}
#endif

#endif
