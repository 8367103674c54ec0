/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The drop-in for the CA server (rsrv): clients run on the sets of one pool, "CAS", instead of on
 * threads of their own.
 *
 * Until crewCasOpen, and for every thread and call that is not rsrv's, the three functions behave
 * as libCom's.
 *
 * A client's way: the accepting thread (CAS-TCP) accepts a connection and asks for a set. No set:
 * the connection waits in this thread's line, at most waitMs, while the thread accepts others and
 * looks after the line between accepts. After its time, or at once when its host is at its limit
 * and none of that host's sets is coming back, it is reset, and the refusal counted and logged;
 * rsrv never sees it. A set: this thread holds the reservation for the two threads that
 * rsrv creates next, CAS-event (joinable) and CAS-client, which become jobs of the set's two
 * members. The set is released when CAS-event has been joined (CAS-client does that at its end) and
 * idle when both jobs have returned as well. A reservation that was not used is given back by this
 * thread's next accept.
 *
 * Should a member have died in between, rsrv gets real threads for this client instead: refusing it
 * there would cost one mutex and stop the accept loop for 15 s.
 */
#ifndef CREW_CAS_H
#define CREW_CAS_H

#include <epicsThread.h>
#include <osiSock.h>

#include <crew.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers that a pool for the CA server is opened with. */
typedef struct crewCasConfig {
    unsigned capacity; /* sets, that is clients at a time; 1 to CREW_MAX_SETS */
    unsigned perHost;  /* sets of one client host, 0 = no limit */
    unsigned waitMs;   /* a new connection's longest wait for a set, 0 to CREW_CAS_WAIT_MAX_MS */
    unsigned prestart; /* sets made now; the others come with clients, or with crewSeal */
} crewCasConfig;

#define CREW_CAS_POOL_NAME "CAS"
#define CREW_CAS_WAIT_MAX_MS 10000u

/* iocsh variables: stack bytes of the two roles, 0 = what rsrv asks for (Big and Medium). Read by
 * crewCasOpen. */
extern int crewCasClientStack;
extern int crewCasEventStack;

/*
 * Opens the pool and turns the drop-in on. Crew is booted; before the CA server starts (iocInit);
 * one thread at a time. CREW_OK; else a crew_pool_open status; CREW_ALREADY_BOOTED when the drop-in
 * is on already; CREW_TABLE_FULL when there is no memory for its table. `opened`: what the pool was
 * asked to be; it points to what stays. Not written with the last two.
 */
int32_t crewCasOpen(const crewCasConfig *config, crew_pool *pool, crew_pool_options *opened);

/*
 * For the clients that come from now on: when the network asks a silent one whether it is there,
 * and cuts it off. rsrv asks for that with the system's own times, by default two hours. At first
 * 30, 5, 3. Before iocInit. 0, or -1: the system cannot be told.
 */
int crewCasKeepaliveSet(unsigned idleS, unsigned intervalS, unsigned count);

/* Whether crewCasOpen has succeeded. Any thread. */
int crewCasIsOn(void);

/* Prints the drop-in's part of crewShow: 0 nothing, 1 what it did and its self-test. Any thread. */
void crewCasReport(unsigned level);

/*
 * For a line of crew_report about the pool's sets: prints the drop-in's own instead, one for each
 * set, with its client's address and threads. 0: the line is no such line. Any thread.
 */
int crewCasReportLine(const char *line);

/* The stand-ins call these instead of libCom's functions (crewInterpose.c). Any thread, at any
 * time. */
epicsThreadId crewCasCreate(const char *name, EPICSTHREADFUNC function, void *parameter,
                            const epicsThreadOpts *options);
void crewCasJoin(epicsThreadId id);
SOCKET crewCasAccept(SOCKET listener, struct sockaddr *address, osiSocklen_t *length);

#ifdef __cplusplus
}
#endif

#endif
