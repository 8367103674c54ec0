/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the drop-in asks of the CA server's sockets beyond libCom's accept. All functions: any
 * thread. */
#ifndef CREW_CAS_SOCKET_H
#define CREW_CAS_SOCKET_H

#include <osiSock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For a thread that begins to accept: has the system allocate now what the first
 * crewCasAcceptWithin of a thread takes (RTEMS: 88 bytes for select), not under load. */
void crewCasAcceptPrepare(SOCKET listener);

/*
 * As libCom's epicsSocketAccept, but waits for no connection longer than `ms` (rounded up to the
 * system's tick). `*none`: whether there was none, or one that had gone again; the answer is then
 * INVALID_SOCKET. Without `*none` INVALID_SOCKET is accept's own failure. The caller is the only
 * one that accepts from this listener, which is a blocking socket before and afterwards.
 */
SOCKET crewCasAcceptWithin(SOCKET listener, unsigned ms, struct sockaddr *address,
                           osiSocklen_t *length, int *none);

/* The same without a bound, except that it comes back when a connection has gone again. */
SOCKET crewCasAcceptOne(SOCKET listener, struct sockaddr *address, osiSocklen_t *length, int *none);

/*
 * Whether the client has closed its end, or the connection is broken, as far as the system can tell
 * at once: 0 also when it cannot. What was received and not read stays.
 */
int crewCasHasEnded(SOCKET connection);

/* When a silent peer is asked whether it is there: after so many seconds, again at that distance,
 * and how many questions without an answer end the connection. */
typedef struct crewCasKeepalive {
    unsigned idleS;
    unsigned intervalS;
    unsigned count;
} crewCasKeepalive;

/* Whether this system lets a program say so for a connection. */
int crewCasHasKeepalive(void);

/* Says so for a connection. Nothing where the system does not have it. */
void crewCasSetKeepalive(SOCKET connection, const crewCasKeepalive *how);

/*
 * Closes with a reset. A connection that the server closes first in the orderly way stays with the
 * network for a minute and keeps one of its sockets: with 64 sockets, on RTEMS, no connection came
 * through after 16 refusals beside 40 clients, and a client that left made room for none. A reset
 * keeps nothing.
 */
void crewCasReset(SOCKET connection);

#ifdef __cplusplus
}
#endif

#endif
