/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from src/ffi/pool by cbindgen. Change it there, then: make header. */

/* Pools of worker sets: open to close, leases, jobs, figures. The conventions are in crew.h. */
#ifndef CREW_POOL_H
#define CREW_POOL_H

#include "crew.h"
