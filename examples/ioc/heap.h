/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef DEMO_HEAP_H
#define DEMO_HEAP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the shell commands, demoHeap and on RTEMS demoEvents. Once, before the shell starts. */
void demoHeapRegister(void);

#ifdef __cplusplus
}
#endif

#endif
