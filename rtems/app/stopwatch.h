/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A clock that counts instructions under QEMU's -icount shift=0, and nanoseconds elsewhere. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <rtems.h>
#include <stdint.h>

#define STOPWATCH_TURNS 500000u

/* Nanoseconds; wraps after four seconds. */
static inline uint32_t stopwatch_now(void)
{
    return (uint32_t)rtems_clock_get_uptime_nanoseconds();
}

/*
 * A loop of two instructions a turn: whether it takes two nanoseconds a turn, within a hundredth.
 */
static inline int stopwatch_counts_instructions(void)
{
    uint32_t left = STOPWATCH_TURNS;
    uint32_t ticks = stopwatch_now();

    __asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(left) : : "cc");
    ticks = stopwatch_now() - ticks;
    return ticks > STOPWATCH_TURNS * 2u / 100u * 99u && ticks < STOPWATCH_TURNS * 2u / 100u * 101u;
}

#endif
