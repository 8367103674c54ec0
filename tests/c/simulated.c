/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the simulated port alone can show: bounds met to the millisecond, ages of hours, and the nth
 * creation failing, for every n, with nothing else in the process that could hide a loss.
 */
#include "simulated.h"
#include "sim_suite.h"

#include <errno.h>

#define STACK_BYTES 65536u
#define THREAD_BYTES ((uint64_t)STACK_BYTES + PORT_SIM_OVERHEAD_BYTES)
#define HOUR_S 3600u
#define HOUR_MS (HOUR_S * 1000u)

static const crew_role roles[2] = { { "left", STACK_BYTES, 10u }, { "right", STACK_BYTES, 10u } };
static crew_event pause_event;
static uint32_t boot_budget_mib;

static void pause_ms(uint32_t ms)
{
    (void)port_sim()->event_wait(NULL, &pause_event, ms);
}

static crew_pool_options pair_options(uint32_t capacity)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = "pair";
    options.roles = roles;
    options.role_count = 2u;
    options.capacity = capacity;
    return options;
}

static int32_t job_value(void *argument)
{
    return *(const int32_t *)argument;
}

/* Both members work. */
static void check_works(crew_lease lease)
{
    static int32_t value = 17;
    uint32_t role;

    for (role = 0; role < 2u; role++) {
        crew_result result = CREW_RESULT_INIT;
        crew_job job;

        REQUIRE_EQ(crew_run(lease, role, "value", job_value, &value, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.value, 17);
    }
}

/* ---- tests ---- */

static void boot_asks_again_after_an_event_was_refused(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    uint32_t nth = 1;
    int32_t status;

    options.port = port_sim();
    options.budget_mib = boot_budget_mib;
    (void)CHECK_EQ(port_sim()->event_create(NULL, &pause_event), 0);
    for (;;) {
        port_sim_fail_event(nth, ENOMEM);
        status = crew_boot(&options);
        if (status != CREW_REFUSED_OBJECTS_EXHAUSTED) {
            break;
        }
        nth++;
    }
    port_sim_fail_event(0u, 0);
    (void)CHECK_EQ(status, CREW_OK);
    (void)CHECK(nth > 1u);
}

/* First: events are made once, so that only the first set of the process can be refused for one. */
static void nth_event_is_refused(void)
{
    crew_pool_options options = pair_options(1u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_lease lease;
    uint32_t nth = 1;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    for (;;) {
        port_sim_fail_event(nth, ENOMEM);
        if (crew_acquire(pool, 0u, &lease, &refusal) == CREW_OK) {
            break;
        }
        REQUIRE_EQ(refusal.kind, CREW_REFUSED_OBJECTS_EXHAUSTED);
        (void)CHECK_EQ(usage_of(pool).created, 0);
        check_nothing_left();
        nth++;
    }
    port_sim_fail_event(0u, 0);
    (void)CHECK(nth > 1u);
    check_works(lease);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

static void nth_thread_is_refused(void)
{
    crew_pool_options options = pair_options(1u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_lease lease;
    uint32_t nth = 1;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    for (;;) {
        port_sim_fail_thread(nth, EAGAIN);
        if (crew_acquire(pool, 0u, &lease, &refusal) == CREW_OK) {
            break;
        }
        REQUIRE_EQ(refusal.kind, CREW_REFUSED_SPAWN_FAILED);
        (void)CHECK_EQ(refusal.role, nth - 1u);
        (void)CHECK_EQ(refusal.os_error, EAGAIN);
        (void)CHECK_EQ(usage_of(pool).created, 0);
        check_nothing_left();
        nth++;
    }
    port_sim_fail_thread(0u, 0);
    (void)CHECK_EQ(nth, 3);
    check_works(lease);
    (void)CHECK_EQ(port_sim_threads(), 2);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

static void target_out_of_threads_is_a_refusal(void)
{
    crew_pool_options options = pair_options(PORT_SIM_THREADS);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_lease lease;
    uint32_t sets;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    for (sets = 0; crew_acquire(pool, 0u, &lease, &refusal) == CREW_OK; sets++) {
        REQUIRE(sets < PORT_SIM_THREADS);
    }
    (void)CHECK_EQ(sets, PORT_SIM_THREADS / 2);
    (void)CHECK_EQ(refusal.kind, CREW_REFUSED_SPAWN_FAILED);
    (void)CHECK_EQ(held_bytes(), PORT_SIM_THREADS * THREAD_BYTES);
    close_pool(pool);
    check_nothing_left();
}

static void waits_end_to_the_millisecond(void)
{
    crew_pool_options options = pair_options(1u);
    crew_pool pool;
    crew_lease lease;
    crew_lease none;
    uint64_t before;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    before = now_ms();
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, NULL), CREW_REFUSED_AT_CAPACITY);
    (void)CHECK_EQ(now_ms() - before, 0);
    (void)CHECK_EQ(crew_acquire(pool, HOUR_MS, &none, NULL), CREW_REFUSED_AT_CAPACITY);
    (void)CHECK_EQ(now_ms() - before, HOUR_MS);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

/*
 * The promise is: once it has been idle for that age, and before it has been idle for twice that
 * age.
 */
static void idle_set_goes_back_at_its_age(void)
{
    crew_pool_options options = pair_options(2u);
    crew_pool pool;
    crew_lease leases[2];

    options.keep = 1u;
    options.idle_age_s = HOUR_S;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &leases[0], NULL), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &leases[1], NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(leases[0]), CREW_OK);
    (void)CHECK_EQ(crew_release(leases[1]), CREW_OK);
    pause_ms(HOUR_MS - 1000u);
    (void)CHECK_EQ(usage_of(pool).created, 2);
    pause_ms(HOUR_MS + 1000u);
    (void)CHECK_EQ(usage_of(pool).idle, 1);
    /* Asking for the figures was enough to have the ended threads joined. */
    (void)CHECK_EQ(usage_of(pool).created, 1);
    (void)CHECK_EQ(port_sim_threads(), 2);
    (void)CHECK_EQ(held_bytes(), 2u * THREAD_BYTES);
    close_pool(pool);
    check_nothing_left();
}

static void thread_that_ends_inside_its_job_takes_its_set_along(void)
{
    crew_pool_options options = pair_options(1u);
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "dies", job_dies, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)CHECK_EQ(usage_of(pool).retirements, 1);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    check_works(lease);
    (void)CHECK_EQ(port_sim_threads(), 2);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

int crew_simulated(uint32_t budget_mib, crew_sink print, void *context)
{
    check_begin(print, context);
    boot_budget_mib = budget_mib;
    RUN(boot_asks_again_after_an_event_was_refused);
    RUN(nth_event_is_refused);
    RUN(nth_thread_is_refused);
    RUN(target_out_of_threads_is_a_refusal);
    RUN(waits_end_to_the_millisecond);
    RUN(idle_set_goes_back_at_its_age);
    RUN(thread_that_ends_inside_its_job_takes_its_set_along);
    return check_end();
}
