/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * From power-on to main, and what becomes of exceptions. The processor comes in Supervisor mode,
 * interrupts masked.
 */
    .syntax unified
    .arm

    .section .vectors, "ax"
    .balign 32
    .global _start
_start:
    b reset
    b undefined_instruction
    b supervisor_call
    b prefetch_abort
    b data_abort
    b .
    b interrupt
    b interrupt

    .text
reset:
    ldr sp, =__stack_top
    ldr r0, =_start
    mcr p15, 0, r0, c12, c0, 0          /* VBAR */

    mrc p15, 0, r0, c1, c0, 2           /* CPACR: coprocessors 10 and 11, the floating-point unit */
    orr r0, r0, #(0xf << 20)
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #0x40000000                 /* FPEXC.EN */
    vmsr fpexc, r0

    ldr r0, =__bss_start
    ldr r1, =__bss_end
    mov r2, #0
1:  cmp r0, r1
    strlo r2, [r0], #4
    blo 1b

    bl memory_map
    bl main
    b machine_exit

/* r0: which exception, r1: where. Told on a stack of its own: the one in use may be the cause. */
    .macro exception name, which, back
\name:
    sub r1, lr, #\back
    mov r0, #\which
    b tell
    .endm

    exception undefined_instruction, 0, 4
    exception supervisor_call, 1, 4
    exception prefetch_abort, 2, 4
    exception data_abort, 3, 8
    exception interrupt, 4, 4

tell:
    cps #0x13
    ldr sp, =__exception_stack_top
    b machine_exception
