/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counts.h"
#include "count_calls.h"
#include "sim_context.h"
#include "sim_suite.h"

#define SETS (PORT_SIM_THREADS / CREW_MAX_ROLES)
#define COUNTS_MAX 16u

typedef struct count {
    const char *name;
    uint32_t instructions;
} count;

static count counts[COUNTS_MAX];
static uint32_t count_of;

static void note(const char *name, uint32_t instructions)
{
    REQUIRE(count_of < COUNTS_MAX);
    counts[count_of].name = name;
    counts[count_of].instructions = instructions;
    count_of++;
}

static int opened(uint32_t role_count, uint32_t capacity, crew_pool *pool)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = "counted";
    options.roles = sim_roles;
    options.role_count = role_count;
    options.capacity = capacity;
    options.prestart = 1u;
    return CHECK_EQ(crew_pool_open(&options, pool), CREW_OK);
}

static void close_counted(crew_pool pool)
{
    close_pool(pool);
    check_nothing_left();
}

/* ---- leases ---- */

static void count_acquire_and_release(const char *name, uint32_t capacity)
{
    crew_pool pool;

    REQUIRE(opened(1u, capacity, &pool));
    note(name, count_lease(&pool));
    close_counted(pool);
}

static void acquire_and_release_do_not_depend_on_the_capacity(void)
{
    const uint32_t first = count_of;

    count_acquire_and_release("acquire_release", 1u);
    count_acquire_and_release("acquire_release_at_max_sets", CREW_MAX_SETS);
    REQUIRE_EQ(count_of, first + 2u);
    /* A tenth, for the second level of a bitmap. */
    (void)CHECK(counts[first + 1u].instructions <= counts[first].instructions * 11u / 10u);
}

/* ---- jobs ---- */

/* All members of SETS sets, and the numbers by which the core knows them. */
static int lease_all(crew_pool pool, crew_lease *leases, uint32_t *workers)
{
    size_t thread;
    uint32_t i;

    for (i = 0; i < SETS * CREW_MAX_ROLES; i++) {
        const uint32_t role = i % CREW_MAX_ROLES;
        crew_lease *lease = &leases[i / CREW_MAX_ROLES];

        if ((role == 0u && !CHECK_EQ(crew_acquire(pool, 0u, lease, NULL), CREW_OK)) ||
            !CHECK_EQ(crew_lease_thread(*lease, role, &thread), CREW_OK)) {
            return 0;
        }
        workers[i] = port_sim_worker(thread);
    }
    return 1;
}

/*
 * The core's part of a job, without a switch in it: this thread makes the worker's calls in its
 * place, since no other thread runs meanwhile.
 */
static void dispatch_is_counted_without_threads(void)
{
    crew_lease leases[SETS];
    uint32_t workers[SETS * CREW_MAX_ROLES];
    crew_work work;
    crew_pool pool;
    uint32_t run_taken = 0;
    uint32_t worker_taken = 0;
    uint32_t wrong = 0;
    uint32_t round;
    uint32_t i;

    REQUIRE(opened(CREW_MAX_ROLES, SETS, &pool));
    REQUIRE(lease_all(pool, leases, workers));
    for (round = 0; round < COUNT_ROUNDS / (SETS * CREW_MAX_ROLES); round++) {
        const uint32_t begin = stopwatch_now();
        uint32_t middle;

        for (i = 0; i < SETS * CREW_MAX_ROLES; i++) {
            wrong += crew_run(leases[i / CREW_MAX_ROLES], i % CREW_MAX_ROLES, "nothing",
                              job_nothing, NULL, NULL) != CREW_OK;
        }
        middle = stopwatch_now();
        for (i = 0; i < SETS * CREW_MAX_ROLES; i++) {
            wrong += crew_worker_next(workers[i], &work) != CREW_WORK_RUN;
            crew_worker_done(workers[i], CREW_JOB_RETURNED, 0);
        }
        worker_taken += stopwatch_now() - middle;
        run_taken += middle - begin;
    }
    (void)CHECK_EQ(wrong, 0);
    note("run", count_each(run_taken, round * SETS * CREW_MAX_ROLES));
    note("next_done", count_each(worker_taken, round * SETS * CREW_MAX_ROLES));
    for (i = 0; i < SETS; i++) {
        (void)CHECK_EQ(crew_release(leases[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_pool_trim(pool, 1u), CREW_OK);
    close_counted(pool);
}

static void round_trip_of_a_job(void)
{
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;

    REQUIRE(opened(1u, 1u, &pool));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    note("job_round_trip", count_job(&lease, &result));
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_counted(pool);
}

/* ---- what they are compared with ---- */

static crew_event ping;
static crew_event pong;

/* Until the other thread posts no more. */
static int32_t job_plays(void *argument)
{
    const crew_port *port = port_sim();

    (void)argument;
    while (port->event_wait(NULL, &ping, LONG_MS) == 1) {
        port->event_post(NULL, &pong);
    }
    return 0;
}

/* The floor: no hand-over to another thread of this port and back can take less. */
static void round_trip_of_two_events(void)
{
    const crew_port *port = port_sim();
    uint32_t lost = 0;
    crew_pool pool;
    crew_lease lease;
    crew_job job;
    uint32_t begin;
    uint32_t i;

    REQUIRE_EQ(port->event_create(NULL, &ping), 0);
    REQUIRE_EQ(port->event_create(NULL, &pong), 0);
    REQUIRE(opened(1u, 1u, &pool));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "plays", job_plays, NULL, &job), CREW_OK);
    begin = stopwatch_now();
    for (i = 0; i < COUNT_ROUNDS; i++) {
        port->event_post(NULL, &ping);
        lost += port->event_wait(NULL, &pong, LONG_MS) != 1;
    }
    note("event_ping_pong", count_each(stopwatch_now() - begin, COUNT_ROUNDS));
    (void)CHECK_EQ(lost, 0);
    (void)CHECK_EQ(crew_join(job, 2u * LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_counted(pool);
}

static volatile uint32_t balls;

static void ball_wall(void)
{
    for (;;) {
        balls++;
        sim_context_switch(PORT_SIM_THREADS, 0u);
    }
}

/* The switch itself, there and back; the stack is one that the port does not use just now. */
static void round_trip_of_two_switches(void)
{
    uint32_t begin;
    uint32_t i;

    REQUIRE_EQ(port_sim_threads(), 0);
    REQUIRE_EQ(sim_context_make(PORT_SIM_THREADS, ball_wall), 0);
    begin = stopwatch_now();
    for (i = 0; i < COUNT_ROUNDS; i++) {
        sim_context_switch(0u, PORT_SIM_THREADS);
    }
    note("switch_ping_pong", count_each(stopwatch_now() - begin, COUNT_ROUNDS));
    (void)CHECK_EQ(balls, COUNT_ROUNDS);
}

int counts_take(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(acquire_and_release_do_not_depend_on_the_capacity);
    RUN(dispatch_is_counted_without_threads);
    RUN(round_trip_of_a_job);
    RUN(round_trip_of_two_events);
    RUN(round_trip_of_two_switches);
    return check_end();
}

void counts_print(void)
{
    uint32_t i;

    for (i = 0; i < count_of; i++) {
        count_print(counts[i].name, counts[i].instructions);
    }
}
