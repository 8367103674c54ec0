/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The machine below tests/c/port_sim.c: stacks in the RAM, and the switch between them. */
#include "port_sim.h"
#include "sim_context.h"

#include <string.h>

/*
 * A switch leaves on the stack the registers that a function must preserve (procedure call
 * standard), lowest address first.
 */
typedef struct frame {
    uint64_t d8_to_d15[8];
    uint32_t r3_to_r11[9]; /* r3 only to keep the stack aligned to 8 bytes */
    void (*pc)(void);
} frame;

static unsigned char stacks[PORT_SIM_THREADS][PORT_SIM_STACK_BYTES]
    __attribute__((section(".stacks"), aligned(8)));
/* The frames of threads that are not running. */
static frame *frames[1 + PORT_SIM_THREADS];

int32_t sim_context_make(size_t number, void (*entry)(void))
{
    frame *first = (frame *)(void *)(stacks[number - 1u] + PORT_SIM_STACK_BYTES) - 1;

    (void)memset(first, 0, sizeof(*first));
    first->pc = entry;
    frames[number] = first;
    return 0;
}

/* Puts the running thread's frame on its stack, stores where, and goes on from the other frame. */
static void __attribute__((naked, noinline)) change_stacks(frame **from, frame *to)
{
    (void)from;
    (void)to;
    __asm__ volatile("push {r3-r11, lr}\n\t"
                     "vpush {d8-d15}\n\t"
                     "str sp, [r0]\n\t"
                     "mov sp, r1\n\t"
                     "vpop {d8-d15}\n\t"
                     "pop {r3-r11, pc}");
}

void sim_context_switch(size_t from, size_t to)
{
    change_stacks(&frames[from], frames[to]);
}
