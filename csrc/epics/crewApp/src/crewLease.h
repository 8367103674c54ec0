/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A fleet's lease as text, to be sent to the resource's owner in a PV:
 *
 *     kind.node.slot.generation:fence:holder's node.holder's incarnation       1.0.0.3:17:2.5
 *
 * The text is no secret and no proof: the owner's table decides whether the lease is pending.
 */
#ifndef CREW_LEASE_H
#define CREW_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every lease's text fits into these bytes, its NUL included. */
#define CREW_LEASE_TEXT_BYTES 72u

/* Writes the lease. CREW_OK, or CREW_BAD_VALUE: it does not fit into `bytes`. Any thread. */
int32_t crewLeasePrint(const crew_fleet_lease *lease, char *text, size_t bytes);

/* Reads a lease; nothing may stand before or after it. CREW_OK, or CREW_BAD_TEXT. Any thread. */
int32_t crewLeaseParse(const char *text, crew_fleet_lease *lease);

#ifdef __cplusplus
}
#endif

#endif
