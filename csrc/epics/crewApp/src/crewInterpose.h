/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The three functions of libCom that the drop-in for the CA server stands in front of: epicsThreadCreateOpt,
 * epicsThreadMustJoin, epicsSocketAccept. This file's implementation defines them and asks crewCas.h what to do; the
 * names below are libCom's own functions, past the drop-in.
 *
 * Two builds. The default one finds libCom's functions with dlsym(RTLD_NEXT), so libCom has to be a shared library.
 * With CREW_WRAP it is for static images (RTEMS, STATIC_BUILD): link them with
 *   -Wl,--wrap=epicsThreadCreateOpt,--wrap=epicsThreadMustJoin,--wrap=epicsSocketAccept
 *
 * All functions: any thread, at any time, also before libCom has been initialised.
 */
#ifndef CREW_INTERPOSE_H
#define CREW_INTERPOSE_H

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
 * Whether libraries that call `symbol` (one of the three names) get ours. 1 = ours, 0 = not ours, and `*provider` is
 * the file that they get it from ("?" when unknown; valid as long as that file is loaded). Always 1 with CREW_WRAP,
 * where the linker has decided.
 */
int crewInterposeIsOurs(const char *symbol, const char **provider);

/* rsrv's thread-private "current client" of this process, NULL when there is no CA server in it. */
epicsThreadPrivateId crewInterposeRsrvClient(void);

#ifdef __cplusplus
}
#endif

#endif
