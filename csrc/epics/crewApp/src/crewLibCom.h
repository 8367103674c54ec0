/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libCom's own three functions, past the stand-ins of crewInterpose.c, and a variable of the CA
 * server.
 *
 * Two builds. The default one finds the functions with dlsym, so libCom has to be a shared
 * library. With CREW_WRAP it is for static images (RTEMS, STATIC_BUILD): link them with
 *   -Wl,--wrap=epicsThreadCreateOpt,--wrap=epicsThreadMustJoin,--wrap=epicsSocketAccept
 *   -Wl,-u,__wrap_epicsThreadCreateOpt
 * The second line has the linker take the stand-ins out of Crew's library: it comes before libCom,
 * whose calls alone need them.
 *
 * All functions: any thread, at any time, also before libCom has been initialised.
 */
#ifndef CREW_LIBCOM_H
#define CREW_LIBCOM_H

#include <epicsThread.h>
#include <osiSock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libCom's epicsThreadCreateOpt. NULL: no thread; the caller's signals may then be blocked. */
epicsThreadId crewRealThreadCreateOpt(const char *name, EPICSTHREADFUNC function, void *parameter,
                                      const epicsThreadOpts *options);

/* libCom's epicsThreadMustJoin. */
void crewRealThreadMustJoin(epicsThreadId id);

/* libCom's epicsSocketAccept. */
SOCKET crewRealSocketAccept(SOCKET listener, struct sockaddr *address, osiSocklen_t *length);

/*
 * Whether libraries that call `symbol` (one of the three names) get Crew's. 1 = they do, 0 = they
 * do not, and `*provider` is the file that they get it from ("?" when unknown; valid as long as
 * that file is loaded). Always 1 with CREW_WRAP, where the linker has decided.
 */
int crewLibComCallsCrew(const char *symbol, const char **provider);

/*
 * Whether two copies of Crew are in this process, one linked with the IOC and one preloaded. The
 * first of them is used then, by all that calls Crew.
 */
int crewLibComHasCrewTwice(void);

/* rsrv's thread-private "current client" of this process, NULL when there is no CA server in it. */
epicsThreadPrivateId crewLibComRsrvClient(void);

#ifdef __cplusplus
}
#endif

#endif
