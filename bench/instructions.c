/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Calls Crew on a port without threads, for ci/instructions.sh to count: main makes a worker's
 * calls as well. Each scenario does its calls ROUNDS times.
 *
 *   instructions job        acquire, run, next (run), done, next (wait), join, release
 *   instructions detached   the same without a join
 *   instructions last       acquire and release, with all sets but the last one lent
 *   instructions full       an acquire that is refused, with all sets lent
 */
#include "crew.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 1000u

static uint32_t worker_made;

static int32_t thread_create(void *context, const crew_thread_spec *spec, size_t *thread)
{
    (void)context;
    worker_made = spec->worker;
    *thread = 1u + spec->worker;
    return 0;
}

static int32_t thread_reap(void *context, size_t thread)
{
    (void)context;
    (void)thread;
    return 1;
}

static int32_t event_create(void *context, crew_event *event)
{
    (void)context;
    (void)event;
    return 0;
}

static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    (void)context;
    (void)event;
    (void)timeout_ms;
    return 0;
}

static void event_post(void *context, crew_event *event)
{
    (void)context;
    (void)event;
}

static uint64_t clock_ms(void *context)
{
    (void)context;
    return 1000u;
}

static int32_t memory_has(void *context, size_t bytes, const char **basis)
{
    (void)context;
    (void)bytes;
    (void)basis;
    return -1;
}

static void log_line(void *context, int32_t severity, const char *text)
{
    (void)context;
    (void)severity;
    (void)fprintf(stderr, "instructions: %s\n", text);
}

static int32_t job(void *argument)
{
    (void)argument;
    return 0;
}

/* One job, from its lease's beginning to its end. Returns how many calls answered wrongly. */
static unsigned cycle(crew_pool pool, uint32_t worker, int joinable)
{
    crew_lease lease;
    crew_job handle;
    crew_work work;
    unsigned wrong = 0;

    wrong += crew_acquire(pool, 0, &lease, NULL) != CREW_OK;
    wrong += crew_run(lease, 0, "count", job, NULL, joinable ? &handle : NULL) != CREW_OK;
    wrong += crew_worker_next(worker, &work) != CREW_WORK_RUN;
    crew_worker_done(worker, CREW_JOB_RETURNED, 0);
    wrong += crew_worker_next(worker, &work) != CREW_WORK_WAIT;
    if (joinable) {
        wrong += crew_join(handle, 0, NULL) != CREW_OK;
    }
    return wrong + (crew_release(lease) != CREW_OK);
}

/* Through another function than the one that is counted. */
static unsigned lend(crew_pool pool, uint32_t sets)
{
    crew_lease lease;
    unsigned wrong = 0;

    for (; sets > 0; sets--) {
        wrong += crew_acquire_peer(pool, 1, 0, &lease, NULL) != CREW_OK;
    }
    return wrong;
}

static unsigned play(const char *scenario, crew_pool pool, uint32_t worker)
{
    unsigned wrong = 0;
    uint32_t i;

    if (strcmp(scenario, "last") == 0) {
        wrong = lend(pool, CREW_MAX_SETS - 1u);
    } else if (strcmp(scenario, "full") == 0) {
        wrong = lend(pool, CREW_MAX_SETS);
    }
    for (i = 0; i < ROUNDS; i++) {
        crew_lease lease;

        if (strcmp(scenario, "last") == 0) {
            wrong += crew_acquire(pool, 0, &lease, NULL) != CREW_OK;
            wrong += crew_release(lease) != CREW_OK;
        } else if (strcmp(scenario, "full") == 0) {
            wrong += crew_acquire(pool, 0, &lease, NULL) != CREW_REFUSED_AT_CAPACITY;
        } else {
            wrong += cycle(pool, worker, strcmp(scenario, "job") == 0);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static const crew_port port = {
        .size = sizeof port,
        .target = CREW_TARGET_HOST,
        .thread_create = thread_create,
        .thread_reap = thread_reap,
        .event_create = event_create,
        .event_wait = event_wait,
        .event_post = event_post,
        .clock_ms = clock_ms,
        .memory_has = memory_has,
        .log = log_line,
    };
    const crew_role role = { "worker", CREW_STACK_MIN, 20 };
    crew_boot_options boot = CREW_BOOT_OPTIONS_INIT;
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_pool pool;
    uint32_t first;
    unsigned wrong;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: instructions job|detached|last|full\n");
        return 2;
    }
    boot.port = &port;
    options.name = "count";
    options.roles = &role;
    options.role_count = 1;
    options.capacity = CREW_MAX_SETS;
    options.prestart = CREW_MAX_SETS;
    if (crew_boot(&boot) != CREW_OK || crew_pool_open(&options, &pool) != CREW_OK) {
        (void)fprintf(stderr, "instructions: no pool\n");
        return 1;
    }
    /* The lowest set is lent first, and its worker was made first. */
    first = worker_made + 1u - CREW_MAX_SETS;
    wrong = play(argv[1], pool, first);
    if (wrong != 0u) {
        (void)fprintf(stderr, "instructions: %u calls did not answer as they must\n", wrong);
        return 1;
    }
    return 0;
}
