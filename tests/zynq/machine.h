/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The board, as far as the self-test needs it: a Zynq-7000, one Cortex-A9, no operating system. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Under QEMU with `-icount shift=0` an instruction takes a nanosecond, and the global timer counts
 * every 10 ns.
 */
#define MACHINE_INSTRUCTIONS_PER_TICK 10u

/*
 * Maps memory one to one. Everything that is not there, the first MiB included, faults. Called
 * once, by the start-up.
 */
void memory_map(void);

/* Writes bytes to the console. */
void uart_write(const char *bytes, size_t count);

/* The global timer's low half. Wraps after 43 s. */
uint32_t machine_ticks(void);

/* Ends QEMU with this exit status (semihosting). */
void machine_exit(int status) __attribute__((noreturn));

/* Says which exception happened at which address, and ends with status 1. Called by the vectors. */
void machine_exception(uint32_t which, uint32_t address) __attribute__((noreturn));

#endif
