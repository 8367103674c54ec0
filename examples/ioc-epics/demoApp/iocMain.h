/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef IOC_MAIN_H
#define IOC_MAIN_H

/* What the program's database definition file is called, without ".dbd". */
extern const char *const iocName;

/* RTEMS: registers the shell command that makes the console fit for a program at its other end.
 * Once. */
void consoleRegister(void);

#endif
