/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The calls' cost in instructions, beside that of RTEMS's own. Under QEMU's -icount shift=0 an
 * instruction takes a nanosecond of the guest's time, which the first count proves; elsewhere the
 * figures are nanoseconds and only printed.
 */
#include "app.h"
#include "count_calls.h"
#include "fixture.h"

#include <sched.h>
#include <stdio.h>

#define CREATIONS 200u
#define KIB 1024u

/* Prints what each of `times` times the same took since `begin`. */
static void note(const char *name, uint32_t begin, uint32_t times)
{
    count_print(name, count_each(stopwatch_now() - begin, times));
}

/* ---- floors ---- */

static sem_t ping;
static sem_t pong;
static uint32_t turns_left;

static void *thread_plays(void *argument)
{
    while (turns_left > 0u) {
        turns_left--;
        (void)sem_wait(&ping);
        (void)sem_post(&pong);
    }
    return argument;
}

static int made(pthread_t *thread, size_t stack_bytes, int priority, void *(*start)(void *))
{
    struct sched_param param;
    pthread_attr_t attr;
    int error;

    memset(&param, 0, sizeof(param));
    param.sched_priority = priority;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, stack_bytes);
    (void)pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    (void)pthread_attr_setschedparam(&attr, &param);
    error = pthread_create(thread, &attr, start, NULL);
    (void)pthread_attr_destroy(&attr);
    return error == 0;
}

static void count_semaphores(const char *name, int priority)
{
    pthread_t thread;
    uint32_t begin;
    uint32_t i;

    (void)sem_init(&ping, 0, 0u);
    (void)sem_init(&pong, 0, 0u);
    turns_left = COUNT_ROUNDS + 1u;
    REQUIRE(made(&thread, STACK_BYTES, priority, thread_plays));
    (void)sem_post(&ping); /* from here on the other one waits, whatever its priority */
    (void)sem_wait(&pong);
    begin = stopwatch_now();
    for (i = 0; i < COUNT_ROUNDS; i++) {
        (void)sem_post(&ping);
        (void)sem_wait(&pong);
    }
    note(name, begin, COUNT_ROUNDS);
    (void)CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void *thread_ends(void *argument)
{
    return argument;
}

static void count_threads(const char *name, size_t stack_bytes, int priority)
{
    uint32_t begin;
    uint32_t i;

    begin = stopwatch_now();
    for (i = 0; i < CREATIONS; i++) {
        pthread_t thread;

        REQUIRE(made(&thread, stack_bytes, priority, thread_ends));
        REQUIRE_EQ(pthread_join(thread, NULL), 0);
    }
    note(name, begin, CREATIONS);
}

/* ---- Crew ---- */

static int counted_pool(uint32_t priority, uint32_t role_count, crew_pool *pool)
{
    crew_role roles[3] = { { "first", STACK_BYTES, 0u },
                           { "second", STACK_BYTES, 0u },
                           { "third", STACK_BYTES, 0u } };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    uint32_t i;

    for (i = 0; i < 3u; i++) {
        roles[i].priority = priority;
    }
    options.name = "counted";
    options.roles = roles;
    options.role_count = role_count;
    options.capacity = 1u;
    options.prestart = 1u;
    if (!CHECK_EQ(crew_pool_open(&options, pool), CREW_OK)) {
        return 0;
    }
    pause_ms(20u); /* a worker of low priority gets to its first wait */
    return 1;
}

static void count_leases(void)
{
    crew_pool pool;

    REQUIRE(counted_pool(10u, 1u, &pool));
    count_print("acquire_release", count_lease(&pool));
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static void count_jobs(const char *name, uint32_t priority)
{
    crew_pool pool;
    crew_lease lease;

    REQUIRE(counted_pool(priority, 1u, &pool));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    count_print(name, count_job(&lease, NULL));
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static void count_connections(void)
{
    int32_t refused = 0;
    crew_pool pool;
    crew_lease lease;
    crew_job jobs[3];
    uint32_t begin;
    uint32_t role;
    uint32_t i;

    REQUIRE(counted_pool(10u, 3u, &pool));
    begin = stopwatch_now();
    for (i = 0; i < COUNT_ROUNDS; i++) {
        refused |= crew_acquire(pool, 0u, &lease, NULL);
        for (role = 0; role < 3u; role++) {
            refused |= crew_run(lease, role, "nothing", job_nothing, NULL, &jobs[role]);
        }
        for (role = 0; role < 3u; role++) {
            refused |= crew_join(jobs[role], LONG_MS, NULL);
        }
        refused |= crew_release(lease);
    }
    note("connection_on_a_set", begin, COUNT_ROUNDS);
    (void)CHECK_EQ(refused, 0);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static void count_connections_on_threads(int priority)
{
    uint32_t begin;
    uint32_t role;
    uint32_t i;

    begin = stopwatch_now();
    for (i = 0; i < CREATIONS; i++) {
        pthread_t threads[3];

        for (role = 0; role < 3u; role++) {
            REQUIRE(made(&threads[role], STACK_BYTES, priority, thread_ends));
        }
        for (role = 0; role < 3u; role++) {
            REQUIRE_EQ(pthread_join(threads[role], NULL), 0);
        }
    }
    note("connection_on_threads", begin, CREATIONS);
}

/* ---- */

/* The stopwatch itself: a loop whose length is known. */
static void an_instruction_is_a_nanosecond(void)
{
    if (!stopwatch_counts_instructions()) {
        (void)printf("counts: not under -icount shift=0, so these are nanoseconds\n");
    }
}

static void calls_are_counted(void)
{
    /* Workers of priority 10 on EPICS' scale, below this thread; and of 90, above it. */
    const int below = 1 + 10 * 253 / 99;
    const int above = 1 + 90 * 253 / 99;

    count_semaphores("semaphores_below", below);
    count_semaphores("semaphores_above", above);
    count_leases();
    count_jobs("job_below", 10u);
    count_jobs("job_above", 90u);
    count_connections();
    count_connections_on_threads(below);
    count_threads("thread_32_KiB", 32u * KIB, below);
    count_threads("thread_1_MiB", 1024u * KIB, below);
}

int counts_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(an_instruction_is_a_nanosecond);
    RUN(calls_are_counted);
    return check_end();
}
