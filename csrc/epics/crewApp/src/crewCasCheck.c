/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "crewCasCheck.h"

#include <string.h>

#include <epicsAtomic.h>
#include <epicsEvent.h>
#include <epicsStdio.h>
#include <epicsThread.h>
#include <initHooks.h>

#include "crewLibCom.h"
#include "crewLog.h"

/* rsrv's accept loop looks every 0.1 s whether the server has been started. */
#define ACCEPT_WITHIN_S 2.0

enum { NOT_YET, NO_SERVER, PASSED, FAILED };

static int armed;
static int sawServer; /* CAS-TCP: made by libdbCore through libCom's epicsThreadCreate */
static int sawCore;   /* scanOnce: made by libdbCore with epicsThreadCreateOpt itself */
static int sawAccept;
static int sawBypass;
static int result = NOT_YET;
static epicsEventId accepted;

static const char *const symbols[] = {"epicsThreadCreateOpt", "epicsThreadMustJoin",
                                      "epicsSocketAccept"};

static const char *fileName(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* The first of the three that libraries do not get from Crew; NULL: all are. */
static const char *foreignSymbol(const char **provider)
{
    unsigned i;

    for (i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (!crewLibComCallsCrew(symbols[i], provider)) {
            return symbols[i];
        }
    }
    return NULL;
}

static void tellFailure(void)
{
    const char *provider;
    const char *symbol = foreignSymbol(&provider);

#ifdef CREW_WRAP
    (void)symbol;
    crewLog(errlogMajor,
            "the CA server's threads bypass Crew: link this image with "
            "-Wl,--wrap=epicsThreadCreateOpt,--wrap=epicsThreadMustJoin,--wrap=epicsSocketAccept,"
            "-u,__wrap_epicsThreadCreateOpt");
#else
    if (symbol != NULL) {
        crewLog(errlogMajor,
                "the CA server bypasses Crew: %s is taken from %s. Link $(CREW_IOC_LIBS) before "
                "$(EPICS_BASE_IOC_LIBS), or LD_PRELOAD libcrewCas.so (setcap disables that)",
                symbol, fileName(provider));
    } else {
        crewLog(errlogMajor,
                "the CA server bypasses Crew: its libraries call themselves (-Bsymbolic or LTO). "
                "Build base without these, or statically with CREW_WRAP");
    }
#endif
}

static void atInitHook(initHookState state)
{
    if (state != initHookAfterIocRunning || !epicsAtomicGetIntT(&armed) ||
        epicsAtomicGetIntT(&result) != NOT_YET) {
        return;
    }
    if (epicsThreadGetId("CAS-TCP") == NULL) {
        epicsAtomicSetIntT(&result, NO_SERVER);
        crewLog(errlogMinor, "crewCasPool holds sets for a CA server, but none runs in this IOC");
        return;
    }
    if (!epicsAtomicGetIntT(&sawAccept)) {
        (void)epicsEventWaitWithTimeout(accepted, ACCEPT_WITHIN_S);
    }
    if (epicsAtomicGetIntT(&sawServer) && epicsAtomicGetIntT(&sawCore) &&
        epicsAtomicGetIntT(&sawAccept)) {
        const char *provider;

        epicsAtomicSetIntT(&result, foreignSymbol(&provider) == NULL ? PASSED : FAILED);
    } else {
        epicsAtomicSetIntT(&result, FAILED);
    }
    if (epicsAtomicGetIntT(&result) == FAILED) {
        tellFailure();
    }
}

int crewCasCheckInit(void)
{
    if (accepted == NULL) {
        accepted = epicsEventCreate(epicsEventEmpty);
        if (accepted != NULL && initHookRegister(atInitHook) != 0) {
            epicsEventDestroy(accepted);
            accepted = NULL;
        }
    }
    return accepted != NULL ? 0 : -1;
}

void crewCasCheckArm(void)
{
    epicsAtomicSetIntT(&armed, 1);
}

void crewCasCheckSawThread(const char *name)
{
    if (strcmp(name, "CAS-TCP") == 0) {
        epicsAtomicSetIntT(&sawServer, 1);
    } else if (strcmp(name, "scanOnce") == 0) {
        epicsAtomicSetIntT(&sawCore, 1);
    }
}

void crewCasCheckSawAccept(void)
{
    if (!epicsAtomicGetIntT(&sawAccept)) {
        epicsAtomicSetIntT(&sawAccept, 1);
        (void)epicsEventTrigger(accepted);
    }
}

void crewCasCheckSawClientWithoutAccept(void)
{
    if (epicsAtomicCmpAndSwapIntT(&sawBypass, 0, 1) == 0) {
        epicsAtomicSetIntT(&result, FAILED);
        tellFailure();
    }
}

void crewCasCheckReport(void)
{
    const char *provider;
    const char *foreign = foreignSymbol(&provider);

    switch (epicsAtomicGetIntT(&result)) {
    case NOT_YET:
        epicsStdoutPrintf("  self-test: runs at the end of iocInit\n");
        break;
    case NO_SERVER:
        epicsStdoutPrintf("  self-test: no CA server in this IOC\n");
        break;
    case PASSED:
        epicsStdoutPrintf("  self-test: passed, the calls of libCom and libdbCore come through "
                          "Crew\n");
        break;
    default:
        epicsStdoutPrintf("  self-test: FAILED, the CA server bypasses Crew. Seen: CAS-TCP %s, "
                          "scanOnce %s, accept %s\n",
                          epicsAtomicGetIntT(&sawServer) ? "yes" : "no",
                          epicsAtomicGetIntT(&sawCore) ? "yes" : "no",
                          epicsAtomicGetIntT(&sawAccept) ? "yes" : "no");
        break;
    }
    if (foreign != NULL) {
        epicsStdoutPrintf("  %s is taken from %s\n", foreign, fileName(provider));
    }
}
