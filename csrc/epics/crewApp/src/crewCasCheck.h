/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The drop-in's self-test: it proves that the calls of libCom and libdbCore themselves come through
 * Crew, by having seen them. A failure is one line of major severity that says what to change.
 */
#ifndef CREW_CAS_CHECK_H
#define CREW_CAS_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes what the test needs. Before iocInit, one thread at a time. 0, or -1: no memory, try
 * again. */
int crewCasCheckInit(void);

/* The drop-in is on: the test runs at the end of iocInit. After crewCasCheckInit; any thread. */
void crewCasCheckArm(void);

/* The drop-in tells the test which calls have come through it. Any thread, at any time. */
void crewCasCheckSawThread(const char *name);
void crewCasCheckSawAccept(void);
void crewCasCheckSawClientWithoutAccept(void);

/* Prints the result. Any thread. */
void crewCasCheckReport(void);

#ifdef __cplusplus
}
#endif

#endif
