/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The asker's records: one that asks for a lease and sends the request, one that hears the owner's
 * answers. */
#include <stdlib.h>
#include <string.h>

#include <aSubRecord.h>
#include <dbLink.h>
#include <epicsExport.h>
#include <epicsStdio.h>
#include <iocsh.h>
#include <registryFunction.h>

#include <crewFleet.h>

#include "fleet.h"

/* The texts of VAL. An aSub record writes its outputs, here the request, on 0 only. */
enum { SENT = 0, WAIT = 1, NOBODY = 2, NO_WAY = 3, REFUSED = 4 };

/*
 * Input A: points (LONG). Asks for a lease; output A: the request (CHAR), goes to the owner. VALB:
 * the same as VAL, as a text.
 */
static long fleetAsk(aSubRecord *record)
{
    char lease[CREW_LEASE_TEXT_BYTES];
    char *request = record->vala;
    const char *text = "sent";
    int said = SENT;
    uint32_t units;
    uint32_t resources;
    int32_t status;

    if (crewFleetUnits(NULL, FLEET_KEY, &units, &resources) == CREW_OK && resources > 0 &&
        !dbIsLinkConnected(&record->outa)) {
        said = NO_WAY; /* a lease that cannot be brought would only keep others from it */
        text = "the way to the owner is not there";
    } else {
        status = crewFleetAsk(NULL, FLEET_KEY, 0, lease, sizeof lease);
        if (status == CREW_OK) {
            (void)epicsSnprintf(request, record->nova, "%s %d", lease,
                                (int)*(epicsInt32 *)record->a);
            record->neva = (epicsUInt32)strlen(request) + 1u;
        } else if (status == CREW_TIMED_OUT) {
            said = WAIT;
            text = "wait";
        } else if (status == CREW_NOT_RUN) {
            said = NOBODY;
            text = "nobody offers it";
        } else {
            said = REFUSED;
            text = crew_status_text(status);
        }
    }
    (void)epicsSnprintf(record->valb, MAX_STRING_SIZE, "%s", text);
    return said;
}

/*
 * Inputs: A the owner's last answer (CHAR), B the last request that was sent (CHAR). If the answer
 * is the one to the request: output A the sum (DOUBLE), output B how it went, VAL 0.
 */
static long fleetHear(aSubRecord *record)
{
    const char *answer = record->a;
    const char *request = record->b;
    const size_t lease = strcspn(request, " ");
    const char *how = answer + lease + 1;

    ((char *)record->a)[record->noa - 1u] = '\0';
    ((char *)record->b)[record->nob - 1u] = '\0';
    if (lease == 0 || strncmp(answer, request, lease) != 0 || answer[lease] != ' ') {
        return 1; /* to another request */
    }
    *(double *)record->vala = strncmp(how, "done ", 5) == 0 ? strtod(how + 5, NULL) : 0.0;
    (void)epicsSnprintf(record->valb, MAX_STRING_SIZE, "%s", how);
    return 0;
}

/* ---- a lease by hand ---- */

static const iocshFuncDef holdDef = {"fleetHold", 0, NULL,
                                     "Asks for a lease and prints it, and does not bring it: its "
                                     "owner takes the unit back after crewFleetGraceMs.\n"};

static void callHold(const iocshArgBuf *args)
{
    char lease[CREW_LEASE_TEXT_BYTES];
    const int32_t status = crewFleetAsk(NULL, FLEET_KEY, 0, lease, sizeof lease);

    (void)args;
    if (status == CREW_OK) {
        epicsStdoutPrintf("%s\n", lease);
    } else {
        fprintf(stderr, "fleetHold: %s\n", status == CREW_TIMED_OUT ? "all units are taken" :
                status == CREW_NOT_RUN ? "nobody offers it" : crew_status_text(status));
        (void)iocshSetError(-1);
    }
}

static void fleetAskerRegister(void)
{
    iocshRegister(&holdDef, callHold);
}

epicsRegisterFunction(fleetAsk);
epicsRegisterFunction(fleetHear);
epicsExportRegistrar(fleetAskerRegister);
