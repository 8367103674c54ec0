/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The MMU with a flat map, because of what the architecture says about memory without one: it is
 * Strongly-ordered, where exclusives need not work and unaligned accesses fault. The caches stay
 * off. The rest of the map faults, so that NULL and a stack outside the RAM do not go unnoticed.
 */
#include "machine.h"

#define MIB_SHIFT 20u
#define SECTIONS 4096u
/* As link.ld has it. */
#define RAM_FIRST 1u
#define RAM_END 128u
#define PERIPHERALS 0xE00u
#define CPU_PRIVATE 0xF8Fu

/* Section descriptors: readable and writable in every mode, domain 0. */
#define SECTION 0x00000C02u
/* Normal, write-back, write-allocate, not shared: one processor. */
#define NORMAL (SECTION | 0x0000100Cu)
/* Device, never executed. */
#define DEVICE (SECTION | 0x00000014u)

static uint32_t table[SECTIONS] __attribute__((aligned(16384)));

void memory_map(void)
{
    uint32_t control;
    uint32_t i;

    for (i = RAM_FIRST; i < RAM_END; i++) {
        table[i] = i << MIB_SHIFT | NORMAL;
    }
    table[PERIPHERALS] = PERIPHERALS << MIB_SHIFT | DEVICE;
    table[CPU_PRIVATE] = CPU_PRIVATE << MIB_SHIFT | DEVICE;
    __asm__ volatile("dsb\n\t"
                     "mcr p15, 0, %0, c2, c0, 0\n\t" /* TTBR0 */
                     "mcr p15, 0, %1, c2, c0, 2\n\t" /* TTBCR: TTBR0 for all addresses */
                     "mcr p15, 0, %2, c3, c0, 0\n\t" /* DACR: domain 0 checks permissions */
                     "mcr p15, 0, %1, c8, c7, 0\n\t" /* TLBIALL */
                     "dsb\n\t"
                     "isb"
                     :
                     : "r"(table), "r"(0u), "r"(1u)
                     : "memory");
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(control));
    control |= 1u;
    __asm__ volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" : : "r"(control) : "memory");
}
