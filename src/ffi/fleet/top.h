/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from src/ffi/fleet by cbindgen. Change it there, then: make header. */

/*
 * Fleet leases: one table of limited things, shared by the processes of a machine. The conventions
 * are in crew.h; the table's shared memory is in crew_fleet_shm.h.
 */
#ifndef CREW_FLEET_H
#define CREW_FLEET_H

#include "crew.h"
