/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For libcrewCas.so, preloaded into an IOC that was built without Crew. Registers the commands when
 * it is loaded, and opens the CA server's pool during iocInit when the environment asks for it:
 *
 *   LD_PRELOAD=.../libcrewCas.so CREW_CAS_POOL="40 8 100" CREW_BUDGET_MIB=160 softIoc ...
 *
 * CREW_CAS_POOL has crewCasPool's arguments; the last three may be left out. It is not looked at
 * when the startup script has a crewCasPool of its own. Programs that the IOC starts inherit the
 * environment: one without libCom gets libCom loaded and is otherwise left alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include <initHooks.h>

#include "crewCas.h"
#include "crewIocsh.h"
#include "crewLibCom.h"
#include "crewLog.h"
#include "crewRegistrar.h"
#include "crewShell.h"

#define VARIABLE "CREW_CAS_POOL"

/* AtIocBuild still counts as before iocInit, and the CA server has no thread yet. */
static void atInitHook(initHookState state)
{
    const char *text = getenv(VARIABLE);
    int capacity = 0;
    int perHost = 0;
    int waitMs = 0;
    int prestart = 0;
    char rest;

    if (state != initHookAtIocBuild) {
        return;
    }
    if (crewLibComHasCrewTwice()) {
        crewLog(errlogMajor,
                "this IOC has Crew linked and preloaded, and uses one of the two: take "
                "libcrewCas.so out of LD_PRELOAD");
    }
    if (text == NULL || crewCasIsOn()) {
        return;
    }
    switch (sscanf(text, "%d %d %d %d %c", &capacity, &perHost, &waitMs, &prestart, &rest)) {
    case 1:
    case 2:
    case 3:
    case 4:
        if (crewCasPool(capacity, perHost, waitMs, prestart) == 0) {
            return;
        }
        break;
    default:
        break;
    }
    crewLog(errlogMajor,
            VARIABLE "=\"%s\" opened no pool: say capacity perHost waitMs prestart, for example "
                     "\"40 8 "
                     "100\"",
            text);
}

/* libCom is a library that this one needs, so its own start-up code has run. */
__attribute__((constructor)) static void atLoad(void)
{
    crewRegistrar();
    crewIocshRegisterVariables();
    (void)initHookRegister(atInitHook);
}
