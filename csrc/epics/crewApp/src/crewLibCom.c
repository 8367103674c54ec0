/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#endif

#include "crewLibCom.h"

#ifdef CREW_WRAP

/* The names that the linker's --wrap gives to libCom's own. */
epicsThreadId __real_epicsThreadCreateOpt(const char *, EPICSTHREADFUNC, void *,
                                          const epicsThreadOpts *);
void __real_epicsThreadMustJoin(epicsThreadId);
SOCKET __real_epicsSocketAccept(SOCKET, struct sockaddr *, osiSocklen_t *);

/* libdbCore's; its header is private to rsrv. */
extern epicsThreadPrivateId rsrvCurrentClient;

epicsThreadId crewRealThreadCreateOpt(const char *name, EPICSTHREADFUNC function, void *parameter,
                                      const epicsThreadOpts *options)
{
    return __real_epicsThreadCreateOpt(name, function, parameter, options);
}

void crewRealThreadMustJoin(epicsThreadId id)
{
    __real_epicsThreadMustJoin(id);
}

SOCKET crewRealSocketAccept(SOCKET listener, struct sockaddr *address, osiSocklen_t *length)
{
    return __real_epicsSocketAccept(listener, address, length);
}

int crewLibComCallsCrew(const char *symbol, const char **provider)
{
    (void)symbol;
    *provider = "this image";
    return 1;
}

epicsThreadPrivateId crewLibComRsrvClient(void)
{
    return rsrvCurrentClient;
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epicsAtomic.h>

typedef epicsThreadId (*createFunction)(const char *, EPICSTHREADFUNC, void *,
                                        const epicsThreadOpts *);
typedef void (*joinFunction)(epicsThreadId);
typedef SOCKET (*acceptFunction)(SOCKET, struct sockaddr *, osiSocklen_t *);

static EpicsAtomicPtrT realCreate;
static EpicsAtomicPtrT realJoin;
static EpicsAtomicPtrT realAccept;
static EpicsAtomicPtrT rsrvClient; /* the address of libdbCore's variable */

/* The next definition after ours. Looked up once; two threads that race find the same one. */
static void *next(EpicsAtomicPtrT *cache, const char *symbol)
{
    void *found = epicsAtomicGetPtrT(cache);

    if (found == NULL) {
        found = dlsym(RTLD_NEXT, symbol);
        if (found == NULL) {
            fprintf(stderr,
                    "crew: no %s behind Crew's own: link libCom as a shared library, or build "
                    "Crew with CREW_WRAP and link with -Wl,--wrap=%s\n",
                    symbol, symbol);
            abort();
        }
        epicsAtomicSetPtrT(cache, found);
    }
    return found;
}

epicsThreadId crewRealThreadCreateOpt(const char *name, EPICSTHREADFUNC function, void *parameter,
                                      const epicsThreadOpts *options)
{
    void *symbol = next(&realCreate, "epicsThreadCreateOpt");
    createFunction real;

    /* ISO C has no conversion from an object pointer to a function. */
    memcpy(&real, &symbol, sizeof real);
    return real(name, function, parameter, options);
}

void crewRealThreadMustJoin(epicsThreadId id)
{
    void *symbol = next(&realJoin, "epicsThreadMustJoin");
    joinFunction real;

    memcpy(&real, &symbol, sizeof real);
    real(id);
}

SOCKET crewRealSocketAccept(SOCKET listener, struct sockaddr *address, osiSocklen_t *length)
{
    void *symbol = next(&realAccept, "epicsSocketAccept");
    acceptFunction real;

    memcpy(&real, &symbol, sizeof real);
    return real(listener, address, length);
}

int crewLibComCallsCrew(const char *symbol, const char **provider)
{
    /* As a library's call through its linkage table does. */
    void *found = dlsym(RTLD_DEFAULT, symbol);
    Dl_info theirs;
    Dl_info ours;

    *provider = "?";
    if (found == NULL || dladdr(found, &theirs) == 0 || dladdr(&realCreate, &ours) == 0) {
        return 0;
    }
    *provider = theirs.dli_fname != NULL ? theirs.dli_fname : "?";
    return theirs.dli_fbase == ours.dli_fbase;
}

epicsThreadPrivateId crewLibComRsrvClient(void)
{
    epicsThreadPrivateId *variable = epicsAtomicGetPtrT(&rsrvClient);

    if (variable == NULL) {
        variable = dlsym(RTLD_DEFAULT, "rsrvCurrentClient");
        epicsAtomicSetPtrT(&rsrvClient, variable);
    }
    return variable != NULL ? *variable : NULL;
}

#endif
