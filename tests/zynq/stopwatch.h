/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The board's clock as a stopwatch that counts instructions, under QEMU's -icount shift=0. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include "machine.h"

/* Wraps after four seconds; steps are MACHINE_INSTRUCTIONS_PER_TICK. */
static inline uint32_t stopwatch_now(void)
{
    return machine_ticks() * MACHINE_INSTRUCTIONS_PER_TICK;
}

#endif
