/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The stand-ins for three functions of libCom: epicsThreadCreateOpt, epicsThreadMustJoin,
 * epicsSocketAccept. crewCas.c decides what they do. How they come in front of libCom's own:
 * crewLibCom.h.
 */
#include <epicsThread.h>
#include <osiSock.h>

#include "crewCas.h"

#ifdef CREW_WRAP
/* The names that the linker's --wrap gives to the stand-ins. */
#define STAND_IN(name) __wrap_##name

epicsThreadId __wrap_epicsThreadCreateOpt(const char *, EPICSTHREADFUNC, void *,
                                          const epicsThreadOpts *);
void __wrap_epicsThreadMustJoin(epicsThreadId);
SOCKET __wrap_epicsSocketAccept(SOCKET, struct sockaddr *, osiSocklen_t *);
#else
#define STAND_IN(name) name
#endif

epicsThreadId STAND_IN(epicsThreadCreateOpt)(const char *name, EPICSTHREADFUNC function,
                                             void *parameter, const epicsThreadOpts *options)
{
    return crewCasCreate(name, function, parameter, options);
}

void STAND_IN(epicsThreadMustJoin)(epicsThreadId id)
{
    crewCasJoin(id);
}

SOCKET STAND_IN(epicsSocketAccept)(SOCKET listener, struct sockaddr *address, osiSocklen_t *length)
{
    return crewCasAccept(listener, address, length);
}
