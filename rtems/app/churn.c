/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Connections one after the other, and what they leave behind in the heap: on borrowed sets, and on threads of their own. */
#include "app.h"
#include "fixture.h"
#include "heap.h"

#include <stdio.h>

#define CYCLES 10000u
#define LINE_EVERY 1000u
/* Before the heap is looked at first: what the first threads make for good is there then. */
#define WARM_UP 10u
#define ROLES 3u

static const crew_role roles[ROLES] = {
    { "conn", 65536u, 20u }, { "reader", 32768u, 18u }, { "writer", 32768u, 18u }
};

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

/* Returns how many of its calls did not answer as they must. */
static unsigned cycle_on_a_set(crew_pool pool, uint32_t *counters)
{
    crew_lease lease;
    crew_job jobs[ROLES];
    unsigned wrong;
    uint32_t i;

    wrong = crew_acquire(pool, 0u, &lease, NULL) != CREW_OK;
    for (i = 0; i < ROLES; i++) {
        wrong += crew_run(lease, i, "counts", job_counts, &counters[i], &jobs[i]) != CREW_OK;
    }
    for (i = 0; i < ROLES; i++) {
        wrong += crew_join(jobs[i], LONG_MS, NULL) != CREW_OK;
    }
    return wrong + (crew_release(lease) != CREW_OK);
}

static unsigned cycle_on_threads(uint32_t *counters)
{
    pthread_t threads[ROLES];
    pthread_attr_t attr;
    unsigned wrong = 0;
    uint32_t i;

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

/* `pool`: NULL for threads of their own. */
static void churn(const char *name, const crew_pool *pool)
{
    uint32_t counters[ROLES] = { 0u, 0u, 0u };
    unsigned wrong = 0;
    heap before = { 0, 0 };
    heap now = { 0, 0 };
    uint32_t i;

    for (i = 0; i < WARM_UP + CYCLES; i++) {
        if (i >= WARM_UP && (i - WARM_UP) % LINE_EVERY == 0u) {
            now = heap_now();
            before = i == WARM_UP ? now : before;
            (void)printf("churn %s: %5lu cycles, heap free %ld B, largest block %ld B\n", name,
                         (unsigned long)(i - WARM_UP), now.free_bytes, now.largest_bytes);
        }
        wrong += pool != NULL ? cycle_on_a_set(*pool, counters) : cycle_on_threads(counters);
    }
    now = heap_now();
    (void)printf("churn %s: %5u cycles, heap free %ld B, largest block %ld B\n", name, CYCLES, now.free_bytes,
                 now.largest_bytes);
    (void)printf("churn %s: %ld B lost in %u cycles\n", name, before.free_bytes - now.free_bytes, CYCLES);
    (void)CHECK_EQ(wrong, 0);
    for (i = 0; i < ROLES; i++) {
        (void)CHECK_EQ(counters[i], WARM_UP + CYCLES);
    }
    (void)CHECK_EQ(now.free_bytes, before.free_bytes);
    (void)CHECK_EQ(now.largest_bytes, before.largest_bytes);
}

static void connections_on_a_borrowed_set_lose_nothing(void)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_pool pool;

    options.name = "churn";
    options.roles = roles;
    options.role_count = ROLES;
    options.capacity = 4u;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    churn("on a borrowed set", &pool);
    (void)CHECK_EQ(usage_of(pool).threads_created, ROLES);
    (void)CHECK_EQ(usage_of(pool).leases, WARM_UP + CYCLES);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static void connections_on_threads_of_their_own(void)
{
    churn("on pthreads", NULL);
}

int churn_suite(crew_sink print, void *context)
{
    check.print = print;
    check.context = context;
    check.failed = 0;
    RUN(connections_on_a_borrowed_set_lose_nothing);
    RUN(connections_on_threads_of_their_own);
    return check.failed;
}
