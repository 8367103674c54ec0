/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The owner's records: one that brings requests to the pool and answers them, one that says how
 * much room there is.
 *
 * The "scan" adds up its points' numbers. It pauses while the PV says so, and one of less than no
 * points ends its own thread, as a driver with a defect might.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <aSubRecord.h>
#include <alarm.h>
#include <dbAccess.h>
#include <dbScan.h>
#include <epicsExport.h>
#include <epicsMutex.h>
#include <epicsStdio.h>
#include <epicsThread.h>
#include <recGbl.h>
#include <registryFunction.h>
#include <subRecord.h>

#include <crewFleet.h>

#include "fleet.h"

#define SCANS 8 /* at one time, at most */
#define PAUSE_LOOK_S 0.02
#define PAUSE_MAX_S 120.0
#define THREAD_BYTES 16

/* One request on its way through the pool. */
typedef struct scan {
    int used; /* under the lock */
    char lease[CREW_LEASE_TEXT_BYTES];
    long points;
    long sum;
    char thread[THREAD_BYTES];
    DBADDR pause;
    DBADDR answer;
} scan;

static scan scans[SCANS];
static epicsMutexId lock;

static int paused(scan *self)
{
    epicsEnum16 value = 0;

    return dbGetField(&self->pause, DBR_ENUM, &value, NULL, NULL, NULL) == 0 && value != 0;
}

/* The job: on a thread of the pool. */
static int32_t runScan(void *argument)
{
    scan *self = argument;
    double waited = 0.0;
    long point;

    if (self->points < 0) {
        pthread_exit(NULL);
    }
    for (point = 1; point <= self->points; point++) {
        while (paused(self) && waited < PAUSE_MAX_S) {
            epicsThreadSleep(PAUSE_LOOK_S);
            waited += PAUSE_LOOK_S;
        }
        self->sum += point;
    }
    epicsThreadGetName(epicsThreadGetIdSelf(), self->thread, sizeof self->thread);
    return 0;
}

/* The job has ended, and its unit has gone back. On a callback thread of EPICS. */
static void tellEnd(void *argument, const crew_result *result)
{
    scan *self = argument;
    char text[FLEET_TEXT_BYTES];
    DBADDR answer = self->answer;

    if (result->outcome == CREW_JOB_RETURNED) {
        (void)epicsSnprintf(text, sizeof text, "%s done %ld %s", self->lease, self->sum,
                            self->thread);
    } else {
        (void)epicsSnprintf(text, sizeof text, "%s %s", self->lease,
                            result->outcome == CREW_JOB_DIED ? "died" : "failed");
    }
    epicsMutexMustLock(lock);
    self->used = 0;
    epicsMutexUnlock(lock);
    (void)dbPutField(&answer, DBR_CHAR, text, (long)strlen(text) + 1);
}

static scan *takeScan(void)
{
    scan *taken = NULL;
    int i;

    epicsMutexMustLock(lock);
    for (i = 0; i < SCANS && taken == NULL; i++) {
        if (!scans[i].used) {
            taken = &scans[i];
            memset(taken, 0, sizeof *taken);
            taken->used = 1;
        }
    }
    epicsMutexUnlock(lock);
    return taken;
}

static const char *begin(scan *taken, const char *request, const char *pause, const char *answer)
{
    const char *blank = strchr(request, ' ');
    const size_t length = blank != NULL ? (size_t)(blank - request) : 0;
    int32_t status;

    if (length == 0 || length >= sizeof taken->lease) {
        return "not \"<lease> <points>\"";
    }
    memcpy(taken->lease, request, length);
    taken->points = strtol(blank, NULL, 10);
    if (dbNameToAddr(pause, &taken->pause) != 0 || dbNameToAddr(answer, &taken->answer) != 0) {
        return "the record's inputs B and C name no PVs here";
    }
    status = crewFleetRun(taken->lease, "scan", runScan, taken, tellEnd);
    return status == CREW_OK ? NULL : crew_status_text(status);
}

/*
 * Inputs: A the request (CHAR), B the PV that pauses scans, C the PV for the answer (its long
 * string). VAL 1: it runs, and the answer comes at its end; 0: it was refused, and output A says
 * why. (An aSub record writes its outputs on 0 only.)
 */
static long fleetRun(aSubRecord *record)
{
    char *request = record->a;
    char *refusal = record->vala;
    scan *taken = takeScan();
    const char *why = "more requests than this program keeps";
    int length;

    request[record->noa - 1u] = '\0';
    length = (int)strcspn(request, " ");
    if (taken != NULL) {
        why = begin(taken, request, record->b, record->c);
        if (why == NULL) {
            return 1;
        }
        epicsMutexMustLock(lock);
        taken->used = 0;
        epicsMutexUnlock(lock);
    }
    (void)epicsSnprintf(refusal, record->nova, "%.*s refused: %s", length, request, why);
    record->neva = (epicsUInt32)strlen(refusal) + 1u;
    return 0;
}

static long initRun(aSubRecord *record)
{
    if (lock == NULL) {
        lock = epicsMutexMustCreate();
    }
    return record->fta == DBF_CHAR && record->ftva == DBF_CHAR ? 0 : -1;
}

/* VAL: how many leases could be had now. */
static long fleetUnits(subRecord *record)
{
    uint32_t units;

    if (crewFleetUnits(NULL, FLEET_KEY, &units, NULL) != CREW_OK) {
        (void)recGblSetSevr(record, SOFT_ALARM, INVALID_ALARM);
        return 0;
    }
    record->val = units;
    return 0;
}

epicsRegisterFunction(initRun);
epicsRegisterFunction(fleetRun);
epicsRegisterFunction(fleetUnits);
