/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The IOC shell's definitions: the commands of crewShell.h and crewFleet.h, with their help, and
 * the variables. */
#ifndef CREW_IOCSH_H
#define CREW_IOCSH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the commands. Once; by the registrar. */
void crewIocshRegister(void);

/* Does what crew.dbd's variable() lines do, for an IOC that does not load it. Once. */
void crewIocshRegisterVariables(void);

#ifdef __cplusplus
}
#endif

#endif
