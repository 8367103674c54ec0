/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How many instructions the calls take that a connection makes, on this processor. */
#ifndef COUNTS_H
#define COUNTS_H

#include "crew.h"

/*
 * Counts, which is a suite of its own: the calls must do what they are counted for. After crew_boot
 * and before crew_seal. Returns the number of tests that failed. Meaningful under QEMU with
 * `-icount shift=0` only.
 */
int counts_take(crew_sink print, void *context);

/* Prints what was counted: "count <name> <instructions>" each. */
void counts_print(void);

#endif
