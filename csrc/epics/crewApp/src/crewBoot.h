/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Crew's start in an IOC, on the EPICS port. One thread at a time, as commands are. */
#ifndef CREW_BOOT_H
#define CREW_BOOT_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Boots Crew unless that has been done, with the budget of the environment. For commands that need
 * it; `command` is the name that messages begin with. 0, or -1 after having printed to stderr what
 * to change.
 */
int crewShellBoot(const char *command);

/* The same with the budget `mib`, a text in whole MiB; it must be the first boot. */
int crewBootWithBudget(const char *command, const char *mib);

/* Whether a command has booted Crew, or has found it booted. */
int crewBootIsDone(void);

#ifdef __cplusplus
}
#endif

#endif
