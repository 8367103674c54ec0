/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For libcrewCas.so, preloaded into an IOC that was built without Crew. Registers the commands when
 * it is loaded, and opens the CA server's pool during iocInit when the environment asks for it:
 *
 *   LD_PRELOAD=.../libcrewCas.so CREW_CAS_POOL="40 0 100" CREW_BUDGET_MIB=160 softIoc ...
 *
 * CREW_CAS_POOL has crewCasPool's arguments; the last three may be left out. It is not looked at
 * when the startup script has a crewCasPool of its own. Programs that the IOC starts inherit the
 * environment: one without libCom gets libCom loaded and is otherwise left alone.
 */
#include <stdlib.h>
#include <string.h>

#include <initHooks.h>

#include "crewCas.h"
#include "crewIocsh.h"
#include "crewLibCom.h"
#include "crewLog.h"
#include "crewRegistrar.h"
#include "crewShell.h"

#define VARIABLE "CREW_CAS_POOL"
#define BLANKS " \t"
#define TEXT_BYTES 128u

/* Opens the pool that the text asks for: up to four numbers, separated by blanks. */
static int openAsAsked(const char *text)
{
    const char *texts[CREW_CAS_POOL_NUMBERS] = {NULL, NULL, NULL, NULL};
    char copy[TEXT_BYTES];
    char *word = copy;
    unsigned i;

    if (strlen(text) >= sizeof copy) {
        return -1;
    }
    strcpy(copy, text);
    for (i = 0; *(word += strspn(word, BLANKS)) != '\0'; i++) {
        char *const end = word + strcspn(word, BLANKS);

        if (i == CREW_CAS_POOL_NUMBERS) {
            return -1;
        }
        texts[i] = word;
        word = end;
        if (*end != '\0') {
            *end = '\0';
            word++;
        }
    }
    return crewCasPoolOfTexts(VARIABLE, texts);
}

/* AtIocBuild still counts as before iocInit, and the CA server has no thread yet. */
static void atInitHook(initHookState state)
{
    const char *text = getenv(VARIABLE);

    if (state != initHookAtIocBuild) {
        return;
    }
    if (crewLibComHasCrewTwice()) {
        crewLog(errlogMajor,
                "this IOC has Crew linked and preloaded, and uses one of the two: take "
                "libcrewCas.so out of LD_PRELOAD");
    }
    if (text != NULL && !crewCasIsOn() && openAsAsked(text) != 0) {
        crewLog(errlogMajor,
                VARIABLE "=\"%s\" opened no pool: say capacity perHost waitMs prestart, for "
                         "example \"40 0 100\"",
                text);
    }
}

/* libCom is a library that this one needs, so its own start-up code has run. */
__attribute__((constructor)) static void atLoad(void)
{
    crewRegistrar();
    crewIocshRegisterVariables();
    (void)initHookRegister(atInitHook);
}
