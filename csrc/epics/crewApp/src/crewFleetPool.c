/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pools that are published in a fleet's table, and the jobs that run on them for leases.
 *
 *              (1)             (2)            (3)            (4)
 *     FREE ---------> TAKEN --------> RUNNING ------> JOINING -----> FREE, complete, ended()
 *                       |                ^   (5)         |
 *                       +---> FREE       +---------------+
 *
 * 1. crewFleetRun, whose lease the table has accepted: so one of the pool's jobs is free.
 * 2. The job has been given to a member of a set, and the set released: it is idle when the job has
 *    ended.
 * 3. `collect`: called back by the job itself when it has returned or failed, and once a second by
 *    the tick, which alone notices a job whose thread has ended.
 * 4. It has been joined: the set is idle, and the unit can go back.
 * 5. Not yet.
 */
#include "crewFleetPool.h"

#include <stdlib.h>
#include <string.h>

#include <callback.h>
#include <epicsAtomic.h>
#include <epicsExport.h>
#include <epicsMutex.h>
#include <epicsStdio.h>

#include "crewFleetTable.h"
#include "crewLease.h"
#include "crewLog.h"
#include "crewPools.h"
#include "crewText.h"
#include "crew_call_cxx.h"

#define PUBLISHED_MAX 16u
/* A job that has said that it is over has a few instructions left; its thread may be preempted
 * there. */
#define LAST_INSTRUCTIONS_MS 100u

typedef enum { FREE, TAKEN, RUNNING, JOINING } jobState;

typedef struct fleetJob {
    jobState state; /* under the lock */
    struct published *of;
    crew_execution execution;
    crew_job job;
    crew_work work;
    crewFleetEnded ended;
    int32_t outcome; /* as the job's own thread saw it; written before `over` */
    int32_t value;
    int over;        /* atomic: nothing but the member's last instructions is left */
    epicsCallback callback;
} fleetJob;

typedef struct published {
    crew_fleet fleet;
    crew_key key;
    char keyText[CREW_FLEET_KEY_BYTES];
    char pool[CREW_NAME_BYTES];
    char label[CREW_LABEL_BYTES];
    crew_pool handle;
    uint32_t capacity;
    crew_resource resource; /* under the lock: it is another one after the table was reset */
    fleetJob *jobs;         /* as many as the capacity */
} published;

int crewFleetGraceMs = 10000;
epicsExportAddress(int, crewFleetGraceMs);

static published pools[PUBLISHED_MAX];
static int poolCount; /* atomic: the entries below it do not change place */
static epicsMutexId lock;
static int callbacksWork; /* atomic */

/* ---- the end of a job ---- */

/* On the member's thread. An exception of the job is caught here, so that a failed job is called
 * back too. */
static int32_t runJob(void *argument)
{
    fleetJob *job = argument;

    crew_call_cxx(&job->work, &job->outcome, &job->value);
    epicsAtomicSetIntT(&job->over, 1);
    if (epicsAtomicGetIntT(&callbacksWork)) {
        (void)callbackRequest(&job->callback); /* a full queue: the tick comes by */
    }
    return 0;
}

static void collect(fleetJob *job)
{
    crew_result result = CREW_RESULT_INIT;
    crewFleetEnded ended;
    void *argument;
    crew_execution execution;
    int32_t status;

    epicsMutexMustLock(lock);
    if (job->state != RUNNING) {
        epicsMutexUnlock(lock);
        return;
    }
    job->state = JOINING;
    epicsMutexUnlock(lock);

    status = crew_join(job->job, epicsAtomicGetIntT(&job->over) ? LAST_INSTRUCTIONS_MS : 0u,
                       &result);
    if (status == CREW_TIMED_OUT) {
        epicsMutexMustLock(lock);
        job->state = RUNNING;
        epicsMutexUnlock(lock);
        return;
    }
    if (status == CREW_OK && result.outcome == CREW_JOB_RETURNED) {
        result.outcome = job->outcome;
        result.value = job->value;
    } else if (status != CREW_OK) { /* its pool was closed under it */
        result.outcome = CREW_JOB_NOT_RUN;
    }
    ended = job->ended;
    argument = job->work.argument;
    execution = job->execution;
    /* Free before the unit goes back, so that the lease which gets that unit finds a free job. */
    epicsMutexMustLock(lock);
    job->state = FREE;
    epicsMutexUnlock(lock);
    /* Stale: the table was reset meanwhile, or this IOC's life in it was ended by a report. Nothing
     * is held then. */
    (void)crew_fleet_complete(job->of->fleet, execution);
    if (ended != NULL) {
        ended(argument, &result);
    }
}

static void collectCallback(epicsCallback *callback)
{
    void *user;

    callbackGetUser(user, callback);
    collect(user);
}

/* ---- the beginning ---- */

static published *publishedAs(crew_resource resource)
{
    published *found = NULL;
    int i;

    if (lock == NULL) {
        return NULL; /* no crewFleetOpen */
    }
    epicsMutexMustLock(lock);
    for (i = 0; i < poolCount && found == NULL; i++) {
        found = pools[i].resource.bits == resource.bits ? &pools[i] : NULL;
    }
    epicsMutexUnlock(lock);
    return found;
}

static fleetJob *takeJob(published *pool)
{
    fleetJob *taken = NULL;
    uint32_t i;

    epicsMutexMustLock(lock);
    for (i = 0; i < pool->capacity && taken == NULL; i++) {
        if (pool->jobs[i].state == FREE) {
            taken = &pool->jobs[i];
            taken->state = TAKEN;
        }
    }
    epicsMutexUnlock(lock);
    return taken;
}

static int32_t start(fleetJob *job, uint32_t role)
{
    crew_lease set;
    int32_t status = crew_acquire(job->of->handle, 0, &set, NULL);

    if (status != CREW_OK) {
        return status;
    }
    /* Locked, so that no thread collects the job before its set has been released. */
    epicsMutexMustLock(lock);
    status = crew_run(set, role, job->of->label, runJob, job, &job->job);
    if (status == CREW_OK) {
        job->state = RUNNING;
    }
    (void)crew_release(set); /* a set that has died already is gone */
    epicsMutexUnlock(lock);
    return status;
}

int32_t crewFleetRun(const char *lease, const char *role, crew_function function, void *argument,
                     crewFleetEnded ended)
{
    crew_fleet_lease read;
    crew_execution execution;
    published *pool;
    fleetJob *job;
    uint32_t index = 0;
    int32_t status;

    if (lease == NULL || function == NULL) {
        return CREW_NULL_ARGUMENT;
    }
    status = crewLeaseParse(lease, &read);
    if (status != CREW_OK) {
        return status;
    }
    pool = publishedAs(read.resource);
    if (pool == NULL) {
        return CREW_BAD_HANDLE;
    }
    if (role != NULL && crewPoolRole(pool->pool, role, &index) != CREW_OK) {
        return CREW_BAD_ROLE;
    }
    status = crew_fleet_accept(pool->fleet, &read, &execution);
    if (status != CREW_OK) {
        return status;
    }
    job = takeJob(pool);
    if (job == NULL) { /* after a reset of the table, while jobs of before it still run */
        (void)crew_fleet_complete(pool->fleet, execution);
        return CREW_BUSY;
    }
    job->execution = execution;
    job->work.function = function;
    job->work.argument = argument;
    job->ended = ended;
    job->over = 0;
    status = start(job, index);
    if (status != CREW_OK) {
        epicsMutexMustLock(lock);
        job->state = FREE;
        epicsMutexUnlock(lock);
        (void)crew_fleet_complete(pool->fleet, execution);
    }
    return status;
}

/* ---- publishing ---- */

void crewFleetPoolInit(void)
{
    lock = epicsMutexMustCreate();
}

void crewFleetPoolCallbacks(int work)
{
    epicsAtomicSetIntT(&callbacksWork, work);
}

static int makeJobs(published *pool)
{
    uint32_t i;

    pool->jobs = calloc(pool->capacity, sizeof *pool->jobs);
    if (pool->jobs == NULL) {
        return -1;
    }
    for (i = 0; i < pool->capacity; i++) {
        fleetJob *job = &pool->jobs[i];

        job->of = pool;
        callbackSetCallback(collectCallback, &job->callback);
        callbackSetPriority(priorityMedium, &job->callback);
        callbackSetUser(job, &job->callback);
    }
    return 0;
}

int crewFleetPublish(const char *pool, const char *key, const char *table)
{
    const int count = epicsAtomicGetIntT(&poolCount);
    crew_usage usage = CREW_USAGE_INIT;
    published made;
    int32_t status;
    int i;

    if (pool == NULL || key == NULL) {
        return crewFail("crewFleetPublish",
                        "say which pool and under which key, for example crewFleetPublish scan "
                        "scan");
    }
    memset(&made, 0, sizeof made);
    if (crewFleetKey(key, &made.key) != CREW_OK) {
        return crewFail("crewFleetPublish", "a key must be 1 to %u printable characters",
                        CREW_FLEET_KEY_BYTES - 1u);
    }
    if (crewFleetFind(table, &made.fleet) != CREW_OK) {
        return crewFail("crewFleetPublish", table == NULL ? "no fleet is open: crewFleetOpen first"
                                                          : "no fleet of that name is open here: "
                                                            "crewFleetShow lists them");
    }
    if (crewPoolFind(pool, &made.handle) != CREW_OK ||
        crew_pool_usage(made.handle, &usage) != CREW_OK) {
        return crewFail("crewFleetPublish",
                        "no pool of that name: crewPoolOpen first; crewShow lists them");
    }
    if (crewPoolRole(pool, NULL, NULL) != CREW_OK) {
        return crewFail("crewFleetPublish",
                        "that pool's threads are the CA server's: open one of your own with "
                        "crewPoolOpen");
    }
    for (i = 0; i < count; i++) {
        if (strcmp(pools[i].pool, pool) == 0) {
            return crewFail("crewFleetPublish",
                            "that pool is published already, under the key %s: its sets would be "
                            "promised twice",
                            pools[i].keyText);
        }
    }
    if (count == (int)PUBLISHED_MAX) {
        return crewFail("crewFleetPublish", "an IOC publishes at most %u pools", PUBLISHED_MAX);
    }
    (void)epicsSnprintf(made.keyText, sizeof made.keyText, "%s", key);
    (void)epicsSnprintf(made.pool, sizeof made.pool, "%s", pool);
    (void)epicsSnprintf(made.label, sizeof made.label, "fleet:%s", key);
    made.capacity = usage.capacity;
    pools[count] = made;
    if (makeJobs(&pools[count]) != 0) {
        return crewFail("crewFleetPublish", "no memory for the %u jobs of that pool",
                        (unsigned)usage.capacity);
    }
    /* Locked: the first lease may be brought before the call has returned. */
    epicsMutexMustLock(lock);
    status = crew_fleet_register(made.fleet, made.key, made.capacity, &pools[count].resource);
    if (status == CREW_OK) {
        epicsAtomicSetIntT(&poolCount, count + 1);
    }
    epicsMutexUnlock(lock);
    if (status != CREW_OK) {
        free(pools[count].jobs);
        return crewFail("crewFleetPublish", "%s", crew_status_text(status));
    }
    return 0;
}

/* ---- once a second ---- */

/* Only the table counts here, so there is no other count to set right: the call takes back old
 * leases. */
static void ageLeases(published *pool)
{
    crew_reconciled result;
    const uint32_t graceMs = crewFleetGraceMs > 0 ? (uint32_t)crewFleetGraceMs : 0u;
    crew_resource resource;
    int32_t status;

    epicsMutexMustLock(lock);
    resource = pool->resource;
    epicsMutexUnlock(lock);
    status = crew_fleet_reconcile(pool->fleet, resource, 0, 0, graceMs, &result);
    if (status == CREW_OK && result.aged > 0) {
        crewLog(errlogMinor,
                "fleet: %u leases under the key %s were not brought within %u ms and are taken "
                "back: their askers have ended, or cannot reach this IOC",
                (unsigned)result.aged, pool->keyText, (unsigned)graceMs);
    } else if (status == CREW_STALE) {
        epicsMutexMustLock(lock);
        status = crew_fleet_register(pool->fleet, pool->key, pool->capacity, &pool->resource);
        epicsMutexUnlock(lock);
        if (status == CREW_OK) {
            crewLog(errlogMinor,
                    "fleet: the table was reset, pool %s is published anew under the key %s",
                    pool->pool, pool->keyText);
        }
    }
}

void crewFleetPoolTick(void)
{
    const int count = epicsAtomicGetIntT(&poolCount);
    uint32_t job;
    int i;

    for (i = 0; i < count; i++) {
        for (job = 0; job < pools[i].capacity; job++) {
            collect(&pools[i].jobs[job]);
        }
        ageLeases(&pools[i]);
    }
}

void crewFleetPoolReport(crew_fleet fleet)
{
    const int count = epicsAtomicGetIntT(&poolCount);
    char resource[CREW_LEASE_TEXT_BYTES];
    int i;

    for (i = 0; i < count; i++) {
        if (pools[i].fleet.bits != fleet.bits) {
            continue;
        }
        epicsMutexMustLock(lock);
        if (crew_resource_print(pools[i].resource, resource, sizeof resource) != CREW_OK) {
            resource[0] = '\0';
        }
        epicsMutexUnlock(lock);
        epicsStdoutPrintf("  published here: pool %s under the key %s, %u units, resource %s\n",
                          pools[i].pool, pools[i].keyText, (unsigned)pools[i].capacity, resource);
    }
}
