/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Acquire, run, join, release, 10,000 times at capacity 1 with no time to wait: the set is free
 * every time, and no thread of the process calls the allocator. Nor does any call of fleet leases,
 * joining and leaving included. This program's malloc, calloc, realloc and free stand in front of
 * glibc's for every caller, the C library included.
 */
#include "check.h"
#include "crew_port_posix.h"
#include "fixture.h"
#include "fleet.h"

#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 10000

/* glibc's own entries, exported for exactly this purpose. */
#ifdef __cplusplus
extern "C" {
#define THROWS_NOTHING throw()
#else
#define THROWS_NOTHING
#endif
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static int counting;
static int calls;

static void count_call(void)
{
    if (__atomic_load_n(&counting, __ATOMIC_SEQ_CST)) {
        (void)__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    }
}

void *malloc(size_t size) THROWS_NOTHING
{
    count_call();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) THROWS_NOTHING
{
    count_call();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) THROWS_NOTHING
{
    count_call();
    return __libc_realloc(block, size);
}

void free(void *block) THROWS_NOTHING
{
    count_call();
    __libc_free(block);
}
#ifdef __cplusplus
}
#endif

static void counter_counts(void)
{
    void *volatile block;

    calls = 0;
    __atomic_store_n(&counting, 1, __ATOMIC_SEQ_CST);
    block = malloc(100u);
    free(block);
    __atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
    (void)CHECK_EQ(calls, 2);
}

static void cycle_allocates_nothing_and_is_never_refused(void)
{
    static int32_t value = 6;
    crew_pool_options options = pair_options("cycle", 1u);
    crew_pool pool;
    int served = 0;
    int i;

    REQUIRE_EQ(boot(crew_port_posix(), 0u), CREW_OK);
    options.prestart = 1u;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    calls = 0;
    __atomic_store_n(&counting, 1, __ATOMIC_SEQ_CST);
    for (i = 0; i < ROUNDS; i++) {
        crew_result first = CREW_RESULT_INIT;
        crew_result second = CREW_RESULT_INIT;
        crew_lease lease;
        crew_job jobs[2];

        if (crew_acquire(pool, 0u, &lease, NULL) != CREW_OK) {
            continue;
        }
        served += crew_run(lease, 0u, "first", job_value, &value, &jobs[0]) == CREW_OK &&
                  crew_run(lease, 1u, "second", job_value, &value, &jobs[1]) == CREW_OK &&
                  crew_join(jobs[1], LONG_MS, &second) == CREW_OK &&
                  crew_join(jobs[0], LONG_MS, &first) == CREW_OK &&
                  crew_release(lease) == CREW_OK && first.value == 6 && second.value == 6;
    }
    __atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
    (void)CHECK_EQ(served, ROUNDS);
    (void)CHECK_EQ(calls, 0);
    (void)CHECK_EQ(usage_of(pool).threads_created, 2);
    (void)CHECK_EQ(usage_of(pool).leases, ROUNDS);
    (void)CHECK_EQ(usage_of(pool).refused[CREW_REFUSED_AT_CAPACITY], 0);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

/*
 * Both ways out of an acquire that lead to work, once around; how many steps went as they should.
 */
static int fleet_round(crew_fleet owner, crew_fleet user, crew_key key)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan create = CREW_FLEET_PLAN_INIT;
    crew_fleet_plan reuse = CREW_FLEET_PLAN_INIT;
    crew_candidate candidate;
    crew_reconciled reconciled;
    crew_execution execution;
    crew_key_budget budget;
    crew_resource resource;
    crew_life lives[2];
    crew_swept swept;
    uint32_t number;

    limits.max_live = 2u;
    return (crew_fleet_acquire(owner, key, &limits, NULL, NULL, &create) == CREW_OK &&
            create.kind == CREW_PLAN_CREATE) +
           (crew_fleet_register(owner, key, 2u, &resource) == CREW_OK) +
           (crew_fleet_finish(owner, create.permit) == CREW_OK) +
           (crew_fleet_candidates(user, key, &candidate, 1u, &number) == CREW_OK && number == 1u) +
           (crew_fleet_budget(user, key, &budget) == CREW_OK && budget.live == 1u) +
           (crew_fleet_acquire(user, key, &limits, crew_fleet_local_first, NULL, &reuse) ==
                CREW_OK &&
            reuse.kind == CREW_PLAN_REMOTE_REUSE) +
           (crew_fleet_is_current(user, &reuse.lease) == CREW_OK) +
           (crew_fleet_accept(owner, &reuse.lease, &execution) == CREW_OK) +
           (crew_fleet_active(owner, resource, &number) == CREW_OK && number == 1u) +
           (crew_fleet_reconcile(owner, resource, 1u, 1u, 0u, &reconciled) == CREW_OK) +
           (crew_fleet_complete(owner, execution) == CREW_OK) +
           (crew_fleet_version(user, key, &number) == CREW_OK) +
           (crew_fleet_wait(user, key, number, 1u, &number) == CREW_TIMED_OUT) +
           (crew_fleet_watch(user, &number) == CREW_OK) +
           (crew_fleet_wait_any(user, number, 1u, &number) == CREW_TIMED_OUT) +
           (crew_fleet_owners(user, lives, 2u, &number) == CREW_OK && number == 1u) +
           (crew_fleet_node_dead(user, lives[0]) == CREW_FLEET_ALIVE) +
           (crew_fleet_sweep(user, &swept) == CREW_OK) +
           (crew_fleet_drain(owner, resource) == CREW_OK) +
           (crew_fleet_unregister(owner, resource) == CREW_OK);
}

/* Without printf, which may allocate. */
static void line_drop(void *context, const char *line)
{
    *(unsigned *)context += line[0] != '\0';
}

static void fleet_calls_allocate_nothing(void)
{
    static uint32_t words[SMALL_WORDS];
    crew_fleet_geometry geometry = small_geometry();
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;
    crew_key key = text_key("key");
    crew_fleet fleets[2] = { { 0u }, { 0u } };
    unsigned reported = 0u;
    int went_well = 0;
    int i;

    options.geometry = &geometry;
    options.memory = words;
    options.bytes = sizeof(words);
    options.name = "nothing";
    calls = 0;
    __atomic_store_n(&counting, 1, __ATOMIC_SEQ_CST);
    for (i = 0; i < 2; i++) {
        went_well += crew_fleet_join(&options, &fleets[i]) == CREW_OK;
    }
    for (i = 0; i < 100; i++) {
        went_well += fleet_round(fleets[0], fleets[1], key);
    }
    went_well += crew_fleet_report(fleets[0], 2u, line_drop, &reported) == CREW_OK;
    went_well += crew_fleet_reset(fleets[0]) == CREW_OK;
    for (i = 0; i < 2; i++) {
        went_well += crew_fleet_leave(fleets[i]) == CREW_OK;
    }
    __atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
    (void)CHECK_EQ(calls, 0);
    (void)CHECK_EQ(went_well, 2 + 100 * 20 + 1 + 1 + 2);
    /* The table, two nodes, one key. */
    (void)CHECK_EQ(reported, 4);
}

int main(void)
{
    (void)alarm(120u);
    RUN(counter_counts);
    RUN(cycle_allocates_nothing_and_is_never_refused);
    RUN(fleet_calls_allocate_nothing);
    return check_sum();
}
