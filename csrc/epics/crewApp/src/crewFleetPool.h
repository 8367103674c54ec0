/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Between crewFleet.c, the tables, and crewFleetPool.c, the pools that are published in them. */
#ifndef CREW_FLEET_POOL_H
#define CREW_FLEET_POOL_H

#include "crewFleet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Once, by the first crewFleetOpen. */
void crewFleetPoolInit(void);

/* EPICS' callbacks work from here on (1), or not any more (0). */
void crewFleetPoolCallbacks(int work);

/* What is looked at once a second: jobs whose thread has ended, leases that nobody brought, resources that were reset. */
void crewFleetPoolTick(void);

/* Prints a line for each pool that this IOC has published in the table. */
void crewFleetPoolReport(crew_fleet fleet);

#ifdef __cplusplus
}
#endif

#endif
