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

int crewLibComHasCrewTwice(void)
{
    return 0;
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

/* A function of Crew alone: an object that defines it has Crew's stand-ins too. */
#define CREWS_OWN "crewCasCreate"

/* Any function of libCom that Crew does not stand in front of. */
#define LIBCOMS_OWN "epicsThreadShowAll"

/* Where the object begins that holds the address; NULL: none does. */
static void *baseOf(void *address)
{
    Dl_info its;

    return address != NULL && dladdr(address, &its) != 0 ? its.dli_fbase : NULL;
}

/* The definition that the object holding `inside` has, or one of those that it needs. */
static void *inObjectOf(void *inside, const char *symbol)
{
    Dl_info its;
    void *object;
    void *found;

    if (inside == NULL || dladdr(inside, &its) == 0) {
        return NULL;
    }
    object = dlopen(its.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL) {
        return NULL;
    }
    found = dlsym(object, symbol);
    (void)dlclose(object); /* others have it open: it stays */
    return found;
}

/* Whether a definition of one of the three is a stand-in: of this copy of Crew, or of another that
 * has come into the process, linked and preloaded. */
static int isStandIn(void *definition)
{
    void *const base = baseOf(definition);

    return base == baseOf(&realCreate) || base == baseOf(dlsym(RTLD_DEFAULT, CREWS_OWN)) ||
           base == baseOf(inObjectOf(definition, CREWS_OWN));
}

/*
 * libCom's definition, or that of a library that stands between Crew and libCom. It comes after
 * ours. Where Crew was linked behind libCom nothing does, and where Crew is there twice, the other
 * copy's stand-in, which would lead back here.
 */
static void *findReal(const char *symbol)
{
    void *found = dlsym(RTLD_NEXT, symbol);

    if (found == NULL || isStandIn(found)) {
        found = dlsym(RTLD_DEFAULT, symbol);
    }
    if (found == NULL || isStandIn(found)) {
        found = inObjectOf(dlsym(RTLD_DEFAULT, LIBCOMS_OWN), symbol);
    }
    return found == NULL || isStandIn(found) ? NULL : found;
}

/* Looked up once; two threads that race find the same one. */
static void *next(EpicsAtomicPtrT *cache, const char *symbol)
{
    void *found = epicsAtomicGetPtrT(cache);

    if (found == NULL) {
        found = findReal(symbol);
        if (found == NULL) {
            fprintf(stderr,
                    "crew: this process has no %s but Crew's own: link libCom as a shared library, "
                    "or build Crew with CREW_WRAP and link with -Wl,--wrap=%s\n",
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

int crewLibComHasCrewTwice(void)
{
    void *const later = dlsym(RTLD_NEXT, CREWS_OWN);

    return later != NULL && baseOf(later) != baseOf(&realCreate);
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
