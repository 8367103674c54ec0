/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Acquire, run, join, release, 10,000 times at capacity 1 with no time to wait: the set is free every time, and no
 * thread of the process calls the allocator. This program's malloc, calloc, realloc and free stand in front of glibc's
 * for every caller, the C library included.
 */
#include "check.h"
#include "crew_port_posix.h"
#include "fixture.h"

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
                  crew_join(jobs[1], LONG_MS, &second) == CREW_OK && crew_join(jobs[0], LONG_MS, &first) == CREW_OK &&
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

int main(void)
{
    (void)alarm(120u);
    RUN(counter_counts);
    RUN(cycle_allocates_nothing_and_is_never_refused);
    return check_sum();
}
