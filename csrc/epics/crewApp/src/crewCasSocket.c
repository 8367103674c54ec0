/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* POLLRDHUP */
#endif

#include "crewCasSocket.h"

#include <stddef.h>

#include <epicsThread.h>

#include "crewLibCom.h"

#ifdef __linux__
#include <poll.h>
#elif defined vxWorks
#include <selectLib.h>
#else
#include <sys/select.h>
#endif

/* Waits until the listener has a connection, at most `ms`. */
static void waitForConnection(SOCKET listener, unsigned ms)
{
#ifdef __linux__
    struct pollfd look = {0, POLLIN, 0};

    look.fd = listener;
    (void)poll(&look, 1, (int)ms);
#else
    struct timeval limit;
    fd_set readers;

    if (!FD_IN_FDSET(listener)) {
        epicsThreadSleep((double)ms / 1000.0);
        return;
    }
    FD_ZERO(&readers);
    FD_SET(listener, &readers);
    limit.tv_sec = ms / 1000u;
    limit.tv_usec = (ms % 1000u) * 1000u;
    (void)select(listener + 1, &readers, NULL, NULL, &limit);
#endif
}

void crewCasAcceptPrepare(SOCKET listener)
{
    waitForConnection(listener, 0);
}

static void setBlocking(SOCKET socket, int blocking)
{
    osiSockIoctl_t noWait = !blocking;

    (void)socket_ioctl(socket, FIONBIO, &noWait);
}

SOCKET crewCasAcceptOne(SOCKET listener, struct sockaddr *address, osiSocklen_t *length, int *none)
{
    const SOCKET made = crewRealSocketAccept(listener, address, length);

    *none = 0;
    if (made == INVALID_SOCKET) {
        const int error = SOCKERRNO;

        /* No failure of the server's: it would pause for 15 s. */
        *none = error == SOCK_ECONNABORTED || error == SOCK_EINTR;
    }
    return made;
}

SOCKET crewCasAcceptWithin(SOCKET listener, unsigned ms, struct sockaddr *address,
                           osiSocklen_t *length, int *none)
{
    SOCKET made;

    waitForConnection(listener, ms);
    /* Some systems take a connection that was reset meanwhile out of the queue, and accept would
     * wait for another. */
    setBlocking(listener, 0);
    made = crewCasAcceptOne(listener, address, length, none);
    if (made == INVALID_SOCKET && SOCKERRNO == SOCK_EWOULDBLOCK) {
        *none = 1;
    }
    setBlocking(listener, 1);
    if (made != INVALID_SOCKET) {
        setBlocking(made, 1); /* some systems hand the listener's mode down */
    }
    return made;
}

int crewCasHasEnded(SOCKET connection)
{
#ifdef __linux__
    struct pollfd look = {0, POLLRDHUP, 0};

    look.fd = connection;
    return poll(&look, 1, 0) > 0 &&
           (look.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
#elif defined MSG_DONTWAIT
    char byte;
    const int received = (int)recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return received == 0 ||
           (received < 0 && SOCKERRNO != SOCK_EWOULDBLOCK && SOCKERRNO != SOCK_EINTR);
#else
    (void)connection;
    return 0;
#endif
}

#if defined TCP_KEEPIDLE && defined TCP_KEEPINTVL && defined TCP_KEEPCNT

int crewCasHasKeepalive(void)
{
    return 1;
}

static void setOption(SOCKET connection, int option, unsigned value)
{
    const int number = (int)value;

    (void)setsockopt(connection, IPPROTO_TCP, option, (const char *)&number, sizeof number);
}

void crewCasSetKeepalive(SOCKET connection, const crewCasKeepalive *how)
{
    setOption(connection, TCP_KEEPIDLE, how->idleS);
    setOption(connection, TCP_KEEPINTVL, how->intervalS);
    setOption(connection, TCP_KEEPCNT, how->count);
}

#else

int crewCasHasKeepalive(void)
{
    return 0;
}

void crewCasSetKeepalive(SOCKET connection, const crewCasKeepalive *how)
{
    (void)connection;
    (void)how;
}

#endif

void crewCasReset(SOCKET connection)
{
    struct linger atOnce;

    atOnce.l_onoff = 1;
    atOnce.l_linger = 0;
    (void)setsockopt(connection, SOL_SOCKET, SO_LINGER, (char *)&atOnce, sizeof atOnce);
    epicsSocketDestroy(connection);
}
