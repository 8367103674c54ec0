/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "drivers.h"

#include <epicsEvent.h>
#include <epicsThread.h>
#include <epicsThreadPool.h>

#include "crewLibCom.h"

static epicsEventId there;
static epicsEventId back;
static epicsEventId done;
static epicsThreadPool *pool;
static epicsJob *job;
static unsigned job_priority;

/* No drop-in in this process: the EPICS port gets libCom's own functions. */
epicsThreadId crewRealThreadCreateOpt(const char *name, EPICSTHREADFUNC function, void *parameter,
                                      const epicsThreadOpts *options)
{
    return epicsThreadCreateOpt(name, function, parameter, options);
}

void crewRealThreadMustJoin(epicsThreadId id)
{
    epicsThreadMustJoin(id);
}

static void pool_job(void *ignored, epicsJobMode mode)
{
    (void)bench_job(ignored);
    if (mode == epicsJobModeRun) {
        epicsEventMustTrigger(done);
    }
}

static void answerer(void *ignored)
{
    while (epicsEventWait(there) == epicsEventOK) {
        (void)bench_job(ignored);
        epicsEventMustTrigger(back);
    }
}

static void job_thread(void *ignored)
{
    (void)bench_job(ignored);
}

static void relay_thread(void *argument)
{
    (void)bench_relay_job(argument);
}

static epicsThreadId make(size_t role, EPICSTHREADFUNC start, void *argument, int joinable)
{
    epicsThreadOpts options = EPICS_THREAD_OPTS_INIT;
    epicsThreadId id;

    options.priority = job_priority;
    options.stackSize = bench_stack_bytes(role);
    options.joinable = joinable ? 1u : 0u;
    id = epicsThreadCreateOpt("bench", start, argument, &options);
    if (id == NULL) {
        bench_die("no EPICS thread", 0);
    }
    return id;
}

void bench_epics_open(uint32_t priority)
{
    epicsThreadPoolConfig config;

    job_priority = priority;
    there = epicsEventMustCreate(epicsEventEmpty);
    back = epicsEventMustCreate(epicsEventEmpty);
    done = epicsEventMustCreate(epicsEventEmpty);
    epicsThreadPoolConfigDefaults(&config);
    config.initialThreads = 1;
    config.maxThreads = 1;
    config.workerPriority = priority;
    pool = epicsThreadPoolCreate(&config);
    job = pool != NULL ? epicsJobCreate(pool, pool_job, NULL) : NULL;
    if (job == NULL) {
        bench_die("no epicsThreadPool", 0);
    }
    (void)make(0, answerer, NULL, 0); /* lives until the process ends */
}

void bench_epics_events(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        epicsEventMustTrigger(there);
        epicsEventMustWait(back);
    }
}

void bench_epics_pool_round_trip(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        const int error = epicsJobQueue(job);

        /* The job's own end is told by the event, before the pool is through with it. */
        if (error != 0) {
            bench_die("epicsJobQueue", error);
        }
        epicsEventMustWait(done);
    }
}

void bench_epics_thread_round_trip(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        epicsThreadMustJoin(make(0, job_thread, NULL, 1));
    }
}

void bench_epics_connection(uint32_t count, uint64_t *cycle_ns)
{
    epicsThreadId ids[BENCH_ROLES];
    uint32_t i;
    size_t role;

    for (i = 0; i < count; i++) {
        const uint64_t start = bench_now_ns();

        bench_relay_begin();
        for (role = 0; role < BENCH_ROLES; role++) {
            ids[role] = make(role, relay_thread, bench_relay_argument(role), 1);
        }
        for (role = 0; role < BENCH_ROLES; role++) {
            epicsThreadMustJoin(ids[role]);
        }
        cycle_ns[i] = bench_now_ns() - start;
        bench_relay_check();
    }
}
