/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLOBAL_TIMER 0xF8F00200u
#define COUNTER_LOW 0u
#define CONTROL 2u
#define CONTROL_ENABLE 1u

/* Semihosting: SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
#define SYS_EXIT_EXTENDED 0x20u
#define APPLICATION_EXIT 0x20026u

uint32_t machine_ticks(void)
{
    volatile uint32_t *timer = (volatile uint32_t *)GLOBAL_TIMER;

    timer[CONTROL] = CONTROL_ENABLE;
    return timer[COUNTER_LOW];
}

void machine_exit(int status)
{
    const uint32_t block[2] = { APPLICATION_EXIT, (uint32_t)status };
    register uint32_t operation __asm__("r0") = SYS_EXIT_EXTENDED;
    register const uint32_t *argument __asm__("r1") = block;

    __asm__ volatile("svc 0x123456" : : "r"(operation), "r"(argument) : "memory");
    for (;;) {
        __asm__ volatile("wfi");
    }
}

static void say(const char *text)
{
    uart_write(text, strlen(text));
}

void machine_exception(uint32_t which, uint32_t address)
{
    static const char *const names[] = { "undefined instruction", "supervisor call",
                                         "prefetch abort", "data abort", "interrupt" };
    char text[80];

    (void)snprintf(text, sizeof(text), "FAILED machine: %s at 0x%08lx\n", names[which],
                   (unsigned long)address);
    say(text);
    machine_exit(1);
}

/*
 * The core's panic handler calls this. It stands in place of the C library's, which needs signals.
 */
void abort(void)
{
    say("FAILED machine: abort\n");
    machine_exit(1);
}
