/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Fleet leases in an IOC: one table of limited things that the IOCs of a machine share.
 *
 * An owner publishes a pool under a key. An asker asks for a lease under that key; it comes as
 * text, which the asker's database sends to the owner, by Channel Access for example. The owner's
 * program brings the text to crewFleetRun. The table moves nothing and runs nothing: it says which
 * IOC may ask which.
 *
 * On RTEMS and in VxWorks kernels the table is in the image's own memory, and its one node is this
 * IOC.
 *
 * Commands: functions that return int; one thread at a time, 0 or -1 after having printed to stderr
 * what to change. Functions that return int32_t: any thread, a status of crew.h. Nothing is
 * allocated after a command has returned.
 */
#ifndef CREW_FLEET_EPICS_H
#define CREW_FLEET_EPICS_H

#include "crewFleetPool.h"
#include "crewFleetTable.h"
#include "crewLease.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens the table of that name, which is made if there is none, and joins it until the IOC exits. 0
 * for a number is its default; the first to open a table decides, the others must say the same.
 * `kind` tells the leases of the tables of one IOC apart: each has its own. The node's label is the
 * variable IOC or IOCNAME of the environment, else the program's name. Before iocInit.
 */
int crewFleetOpen(const char *name, int kind, int nodes, int resources, int keys);

/* Prints the table of that name, NULL: every table. 0 nodes; 1 also resources; 2 also leases, with
 * their ages. */
int crewFleetShow(int level, const char *name);

#ifdef __cplusplus
}
#endif

#endif
