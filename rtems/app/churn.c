/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Connections one after the other, and what they leave behind in the heap: on borrowed sets, and on
 * threads of their own.
 */
#include "app.h"
#include "fixture.h"
#include "heap.h"

#include <stdio.h>

#define CYCLES 10000u
#define LINE_EVERY 1000u
/* Cycles before the first look at the heap: the first threads make objects that stay. */
#define WARM_UP 10u
#define ROLES 3u

static const crew_role roles[ROLES] = {
    { "conn", 65536u, 20u }, { "reader", 32768u, 18u }, { "writer", 32768u, 18u }
};

static uint32_t counters[ROLES];

static int32_t job_counts(void *argument)
{
    (*(uint32_t *)argument)++;
    return 0;
}

static void *thread_counts(void *argument)
{
    (void)job_counts(argument);
    return NULL;
}

static unsigned cycle_on_a_set(void *context)
{
    const crew_pool *pool = (const crew_pool *)context;
    crew_lease lease;
    crew_job jobs[ROLES];
    unsigned wrong;
    uint32_t i;

    wrong = crew_acquire(*pool, 0u, &lease, NULL) != CREW_OK;
    for (i = 0; i < ROLES; i++) {
        wrong += crew_run(lease, i, "counts", job_counts, &counters[i], &jobs[i]) != CREW_OK;
    }
    for (i = 0; i < ROLES; i++) {
        wrong += crew_join(jobs[i], LONG_MS, NULL) != CREW_OK;
    }
    return wrong + (crew_release(lease) != CREW_OK);
}

static unsigned cycle_on_threads(void *context)
{
    pthread_t threads[ROLES];
    pthread_attr_t attr;
    unsigned wrong = 0;
    uint32_t i;

    (void)context;
    for (i = 0; i < ROLES; i++) {
        (void)pthread_attr_init(&attr);
        (void)pthread_attr_setstacksize(&attr, roles[i].stack_bytes);
        wrong += pthread_create(&threads[i], &attr, thread_counts, &counters[i]) != 0;
        (void)pthread_attr_destroy(&attr);
    }
    for (i = 0; i < ROLES; i++) {
        wrong += pthread_join(threads[i], NULL) != 0;
    }
    return wrong;
}

void churn_cycles(const char *name, unsigned (*cycle)(void *context), void *context,
                  churn_result *seen)
{
    heap before = { 0, 0 };
    heap now = { 0, 0 };
    uint32_t i;

    seen->wrong = 0;
    for (i = 0; i < WARM_UP + CYCLES; i++) {
        if (i >= WARM_UP && (i - WARM_UP) % LINE_EVERY == 0u) {
            now = heap_now();
            before = i == WARM_UP ? now : before;
            (void)printf("churn %s: %5lu cycles, heap free %ld B, largest block %ld B\n", name,
                         (unsigned long)(i - WARM_UP), now.free_bytes, now.largest_bytes);
        }
        seen->wrong += cycle(context);
    }
    now = heap_now();
    seen->lost_bytes = before.free_bytes - now.free_bytes;
    (void)printf("churn %s: %5u cycles, heap free %ld B, largest block %ld B\n", name, CYCLES,
                 now.free_bytes, now.largest_bytes);
    (void)printf("churn %s: %ld B lost in %u cycles, %ld.%02ld B each\n", name, seen->lost_bytes,
                 CYCLES, seen->lost_bytes / (long)CYCLES,
                 seen->lost_bytes % (long)CYCLES / (long)(CYCLES / 100u));
}

/* All of its jobs were done, and nothing was lost. */
static void churned(const churn_result *seen)
{
    uint32_t i;

    (void)CHECK_EQ(seen->wrong, 0);
    (void)CHECK_EQ(seen->lost_bytes, 0);
    for (i = 0; i < ROLES; i++) {
        (void)CHECK_EQ(counters[i], WARM_UP + CYCLES);
        counters[i] = 0u;
    }
}

static void connections_on_a_borrowed_set_lose_nothing(void)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    churn_result seen = { 0, 0u };
    crew_pool pool;

    options.name = "churn";
    options.roles = roles;
    options.role_count = ROLES;
    options.capacity = 4u;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    churn_cycles("on a borrowed set", cycle_on_a_set, &pool, &seen);
    churned(&seen);
    (void)CHECK_EQ(usage_of(pool).threads_created, ROLES);
    (void)CHECK_EQ(usage_of(pool).leases, WARM_UP + CYCLES);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static void connections_on_threads_of_their_own(void)
{
    churn_result seen = { 0, 0u };

    churn_cycles("on pthreads", cycle_on_threads, NULL, &seen);
    churned(&seen);
}

int churn_on_a_set(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(connections_on_a_borrowed_set_lose_nothing);
    return check_end();
}

int churn_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(connections_on_a_borrowed_set_lose_nothing);
    RUN(connections_on_threads_of_their_own);
    return check_end();
}
