/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the port on EPICS threads promises beyond what every port does: none of its calls waits for
 * a thread that takes its time to end, or for the console.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <epicsEvent.h>
#include <epicsThread.h>
#include <errlog.h>

#include <crew.h>
#include <crewPortEpics.h>

#include "check.h"
#include "host_main.h"

#define LONG_MS 100000u
#define LONG_S 100.0

static const crew_role reader = { "reader", 524288u, 20u };
static crew_pool pool;

/* ---- a thread that is long in ending ---- */

static pthread_key_t lateKey;
static epicsEventId lateMayEnd;
static int lateGaveUp;

/* Of a key that was made after Crew's, so it runs after Crew has been told of the end. */
static void endLate(void *value)
{
    (void)value;
    if (epicsEventWaitWithTimeout(lateMayEnd, 30.0) != epicsEventOK) {
        __atomic_store_n(&lateGaveUp, 1, __ATOMIC_SEQ_CST);
    }
}

static int32_t endsLate(void *argument)
{
    (void)argument;
    (void)pthread_setspecific(lateKey, &lateKey);
    pthread_exit(NULL);
    return 0;
}

static uint32_t created(void)
{
    crew_usage usage = CREW_USAGE_INIT;

    (void)CHECK_EQ(crew_pool_usage(pool, &usage), CREW_OK);
    return usage.created;
}

static void no_call_waits_for_a_thread_that_is_long_in_ending(void)
{
    crew_result result = CREW_RESULT_INIT;
    crew_lease first;
    crew_lease second;
    crew_job job;
    int tries;

    lateMayEnd = epicsEventMustCreate(epicsEventEmpty);
    REQUIRE_EQ(pthread_key_create(&lateKey, endLate), 0);
    REQUIRE_EQ(crew_acquire(pool, 0u, &first, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(first, 0u, "ends late", endsLate, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)crew_release(first);
    /* Growth, trim and usage would all take back what has ended. */
    (void)CHECK_EQ(crew_acquire(pool, 0u, &second, NULL), CREW_OK);
    (void)CHECK_EQ(created(), 2);
    (void)CHECK_EQ(__atomic_load_n(&lateGaveUp, __ATOMIC_SEQ_CST), 0);
    epicsEventMustTrigger(lateMayEnd);
    for (tries = 0; created() != 1u && tries < (int)LONG_MS; tries++) {
        epicsThreadSleep(0.001);
    }
    (void)CHECK_EQ(created(), 1);
    (void)CHECK_EQ(crew_release(second), CREW_OK);
}

/* ---- a console that takes nothing ---- */

static epicsEventId logged;

static void logTask(void *argument)
{
    const crew_port *port = crewPortEpics();

    (void)argument;
    epicsThreadSetOkToBlock(1); /* as the shell's thread is */
    port->log(port->context, CREW_SEVERITY_MAJOR, "a line that nothing reads");
    if (epicsThreadIsOkToBlock()) {
        epicsEventMustTrigger(logged);
    }
}

static void no_line_waits_for_the_console(void)
{
    static const char filler[4096] = "";
    int ends[2];
    int own;
    size_t piece;

    logged = epicsEventMustCreate(epicsEventEmpty);
    errlogFlush();
    REQUIRE_EQ(pipe(ends), 0);
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (piece = sizeof(filler); piece > 0u; piece /= 2u) {
        while (write(ends[1], filler, piece) > 0) {
        }
    }
    (void)fcntl(ends[1], F_SETFL, 0);
    own = dup(STDERR_FILENO);
    (void)dup2(ends[1], STDERR_FILENO);
    (void)epicsThreadMustCreate("logs", 50u, 524288u, logTask, NULL);
    (void)CHECK_EQ(epicsEventWaitWithTimeout(logged, 30.0), epicsEventOK);
    (void)dup2(own, STDERR_FILENO);
    /* The write that waits ends with an error. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)close(ends[1]);
    (void)close(ends[0]);
}

/* ---- a stack that does not hold the program's thread-local storage ---- */

static __thread volatile char local[200000];

static void a_stack_too_small_for_thread_local_storage_is_told_as_that(void)
{
    static const crew_role small = { "small", 65536u, 20u };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_refusal why = CREW_REFUSAL_INIT;
    crew_pool cramped;
    crew_lease lease;

    local[0] = 1;
    options.name = "cramped";
    options.roles = &small;
    options.role_count = 1u;
    options.capacity = 1u;
    REQUIRE_EQ(crew_pool_open(&options, &cramped), CREW_OK);
    (void)CHECK_EQ(crew_acquire(cramped, 0u, &lease, &why), CREW_REFUSED_SPAWN_FAILED);
    (void)CHECK_EQ(why.os_error, EINVAL);
    (void)CHECK_EQ(crew_pool_close(cramped, LONG_MS), CREW_OK);
}

int main(void)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    host_guard();
    options.name = "port";
    options.roles = &reader;
    options.role_count = 1u;
    options.capacity = 2u;
    if (crewPortEpicsBoot(NULL) != CREW_OK || crew_pool_open(&options, &pool) != CREW_OK) {
        (void)puts("FAILED porttest: no pool");
        return 1;
    }
    check_begin(host_print, NULL);
    RUN(no_call_waits_for_a_thread_that_is_long_in_ending);
    RUN(a_stack_too_small_for_thread_local_storage_is_told_as_that);
    RUN(no_line_waits_for_the_console);
    return check_end() == 0 ? 0 : 1;
}
