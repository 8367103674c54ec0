/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every table of the core filled to its last slot, one more refused with nothing changed, and all
 * of it given back: a board that runs for years depends on it. And many threads at once: all that
 * die, all that wait.
 */
#include "simulated.h"
#include "sim_suite.h"

#define MEMBER_BYTES ((uint64_t)SIM_STACK_BYTES + PORT_SIM_OVERHEAD_BYTES)
#define WAIT_MS 1000u
#define ROUNDS 3u

static crew_pool_options options_for(uint32_t role_count, uint32_t capacity)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = "full";
    options.roles = role_count > 0u ? sim_roles : NULL;
    options.role_count = role_count;
    options.capacity = capacity;
    options.extra_bytes = role_count > 0u ? 0u : 1u;
    return options;
}

/* ---- tables ---- */

static void fill_the_charges(void)
{
    static crew_charge_handle charges[CREW_MAX_CHARGES];
    crew_charge_handle none = { 0u };
    uint32_t i;

    for (i = 0; i < CREW_MAX_CHARGES; i++) {
        REQUIRE_EQ(crew_charge(i + 1u, &charges[i]), CREW_OK);
    }
    (void)CHECK_EQ(held_bytes(), CREW_MAX_CHARGES * (CREW_MAX_CHARGES + 1u) / 2u);
    (void)CHECK_EQ(crew_charge(1u, &none), CREW_TABLE_FULL);
    (void)CHECK_EQ(none.bits, 0);
    for (i = 0; i < CREW_MAX_CHARGES; i++) {
        REQUIRE_EQ(crew_uncharge(charges[i]), CREW_OK);
    }
    for (i = 0; i < CREW_MAX_CHARGES; i++) {
        REQUIRE_EQ(crew_uncharge(charges[i]), CREW_STALE);
    }
}

static void charges_fill_their_table(void)
{
    uint32_t round;

    for (round = 0; round < ROUNDS; round++) {
        fill_the_charges();
        check_nothing_left();
    }
}

static void pools_fill_their_table(void)
{
    const crew_pool_options options = options_for(1u, 1u);
    crew_pool pools[CREW_MAX_POOLS];
    crew_pool none = { 0u };
    uint32_t round;
    uint32_t i;

    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < CREW_MAX_POOLS; i++) {
            REQUIRE_EQ(crew_pool_open(&options, &pools[i]), CREW_OK);
        }
        (void)CHECK_EQ(crew_pool_open(&options, &none), CREW_TABLE_FULL);
        (void)CHECK_EQ(none.bits, 0);
        for (i = 0; i < CREW_MAX_POOLS; i++) {
            close_pool(pools[i]);
            (void)CHECK_EQ(crew_pool_close(pools[i], 0u), CREW_STALE);
        }
    }
    check_nothing_left();
}

static void sets_fill_their_table(void)
{
    static crew_lease leases[CREW_MAX_SETS];
    const crew_pool_options options = options_for(0u, CREW_MAX_SETS);
    const crew_pool_options one_more = options_for(0u, 1u);
    crew_pool pool;
    crew_pool no_pool = { 0u };
    crew_lease none = { 0u };
    uint32_t round;
    uint32_t i;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    (void)CHECK_EQ(crew_pool_open(&one_more, &no_pool), CREW_TABLE_FULL);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < CREW_MAX_SETS; i++) {
            REQUIRE_EQ(crew_acquire(pool, 0u, &leases[i], NULL), CREW_OK);
        }
        (void)CHECK_EQ(crew_acquire(pool, 0u, &none, NULL), CREW_REFUSED_AT_CAPACITY);
        (void)CHECK_EQ(none.bits, 0);
        (void)CHECK_EQ(usage_of(pool).busy, CREW_MAX_SETS);
        (void)CHECK_EQ(held_bytes(), CREW_MAX_SETS);
        for (i = 0; i < CREW_MAX_SETS; i++) {
            REQUIRE_EQ(crew_release(leases[i]), CREW_OK);
        }
        for (i = 0; i < CREW_MAX_SETS; i++) {
            REQUIRE_EQ(crew_release(leases[i]), CREW_STALE);
        }
        /* A pool keeps no set without threads. */
        (void)CHECK_EQ(usage_of(pool).created, 0);
    }
    close_pool(pool);
    check_nothing_left();
}

static void workers_fill_their_table(void)
{
    const crew_pool_options options =
        options_for(CREW_MAX_ROLES, CREW_MAX_WORKERS / CREW_MAX_ROLES);
    const crew_pool_options one_more = options_for(CREW_MAX_ROLES, 1u);
    crew_pool pool;
    crew_pool none = { 0u };

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    (void)CHECK_EQ(crew_pool_open(&one_more, &none), CREW_TABLE_FULL);
    close_pool(pool);
    REQUIRE_EQ(crew_pool_open(&one_more, &pool), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

static int32_t job_nothing(void *argument)
{
    (void)argument;
    return 0;
}

static void untaken_results_fill_their_cells(void)
{
    const crew_pool_options options = options_for(1u, 1u);
    crew_job jobs[CREW_JOBS_PER_WORKER];
    crew_job none = { 0u };
    crew_pool pool;
    crew_lease lease;
    uint32_t i;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    for (i = 0; i < CREW_JOBS_PER_WORKER; i++) {
        REQUIRE_EQ(crew_run(lease, 0u, "nothing", job_nothing, NULL, &jobs[i]), CREW_OK);
        /* Long enough for the job to end; nothing is joined. */
        (void)CHECK_EQ(crew_acquire(pool, 1u, &lease, NULL), CREW_REFUSED_AT_CAPACITY);
    }
    (void)CHECK_EQ(crew_run(lease, 0u, "nothing", job_nothing, NULL, &none), CREW_NO_JOB_CELL);
    (void)CHECK_EQ(crew_run(lease, 0u, "nothing", job_nothing, NULL, NULL), CREW_OK);
    for (i = 0; i < CREW_JOBS_PER_WORKER; i++) {
        (void)CHECK_EQ(crew_join(jobs[i], LONG_MS, NULL), CREW_OK);
    }
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

/* ---- the account ---- */

static void bytes_beyond_an_address_space_are_refused(void)
{
    const uint64_t too_many = (uint64_t)SIZE_MAX + 1u;
    crew_pool_options options = options_for(0u, 4u);
    crew_charge_handle charge = { 0u };
    crew_pool pool = { 0u };

    /* 0 where an address space is 64 bits wide: refused as well, for being nothing. */
    (void)CHECK_EQ(crew_charge(too_many, &charge), CREW_BAD_VALUE);
    options.extra_bytes = (uint64_t)(SIZE_MAX / 4u) + 1u;
    (void)CHECK_EQ(crew_pool_open(&options, &pool), CREW_BAD_VALUE);
    (void)CHECK_EQ(pool.bits, 0);
    check_nothing_left();
}

static void refused_set_leaves_the_account_as_it_was(void)
{
    crew_account account = CREW_ACCOUNT_INIT;
    const crew_pool_options options = options_for(CREW_MAX_ROLES, 2u);
    crew_charge_handle charge;
    crew_pool pool;
    crew_lease lease;
    uint64_t most;

    REQUIRE_EQ(crew_account_usage(&account), CREW_OK);
    if (account.budget_bytes == UINT64_MAX) {
        return;
    }
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    most = account.budget_bytes - CREW_MAX_ROLES * MEMBER_BYTES;
    REQUIRE_EQ(crew_charge(most + 1u, &charge), CREW_OK);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_REFUSED_OUT_OF_RESERVATION);
    (void)CHECK_EQ(held_bytes(), most + 1u);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    /* To the byte. */
    REQUIRE_EQ(crew_charge(most, &charge), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(held_bytes(), account.budget_bytes);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    check_nothing_left();
}

/* ---- many threads ---- */

/* A job on every member of every set that the port has threads for. Returns how many sets. */
static uint32_t lease_all_and_kill(crew_pool pool, crew_job *jobs)
{
    crew_lease lease;
    uint32_t count = 0;
    uint32_t role;

    while (crew_acquire(pool, 0u, &lease, NULL) == CREW_OK) {
        for (role = 0; role < CREW_MAX_ROLES; role++) {
            (void)CHECK_EQ(crew_run(lease, role, "dies", job_dies, NULL, &jobs[count]), CREW_OK);
            count++;
        }
        (void)CHECK_EQ(crew_release(lease), CREW_OK);
    }
    return count / CREW_MAX_ROLES;
}

static void check_all_died(const crew_job *jobs)
{
    uint32_t died = 0;
    uint32_t i;

    for (i = 0; i < PORT_SIM_THREADS; i++) {
        crew_result result = CREW_RESULT_INIT;

        (void)CHECK_EQ(crew_join(jobs[i], LONG_MS, &result), CREW_OK);
        died += result.outcome == CREW_JOB_DIED;
    }
    (void)CHECK_EQ(died, PORT_SIM_THREADS);
}

static void all_threads_die_and_nothing_is_lost(void)
{
    const uint32_t sets = PORT_SIM_THREADS / CREW_MAX_ROLES;
    const crew_pool_options options = options_for(CREW_MAX_ROLES, sets);
    crew_job jobs[PORT_SIM_THREADS];
    crew_pool pool;
    crew_lease lease;
    uint32_t round;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    for (round = 1; round <= ROUNDS; round++) {
        REQUIRE_EQ(lease_all_and_kill(pool, jobs), sets);
        (void)CHECK_EQ(held_bytes(), PORT_SIM_THREADS * MEMBER_BYTES);
        check_all_died(jobs);
        REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
        (void)CHECK_EQ(usage_of(pool).created, 1);
        (void)CHECK_EQ(usage_of(pool).retirements, round * sets);
        (void)CHECK_EQ(held_bytes(), CREW_MAX_ROLES * MEMBER_BYTES);
        (void)CHECK_EQ(port_sim_threads(), CREW_MAX_ROLES);
        (void)CHECK_EQ(crew_release(lease), CREW_OK);
        (void)CHECK_EQ(crew_pool_trim(pool, 0u), CREW_OK);
        check_nothing_left();
    }
    close_pool(pool);
}

typedef struct waiter {
    crew_pool pool;
    int32_t status;
} waiter;

static int32_t job_waits(void *argument)
{
    waiter *own = (waiter *)argument;
    crew_lease lease;

    own->status = crew_acquire(own->pool, WAIT_MS, &lease, NULL);
    return 0;
}

/* One more than there are seats. */
static void waiters_fill_their_seats(void)
{
    static waiter waiters[CREW_MAX_WAITERS + 1u];
    const crew_pool_options scarce_options = options_for(0u, 1u);
    const crew_pool_options options = options_for(1u, CREW_MAX_WAITERS + 1u);
    crew_job jobs[CREW_MAX_WAITERS + 1u];
    crew_pool scarce;
    crew_pool pool;
    crew_lease out;
    crew_lease lease;
    uint32_t too_many = 0;
    uint32_t in_vain = 0;
    uint32_t i;

    REQUIRE_EQ(crew_pool_open(&scarce_options, &scarce), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(scarce, 0u, &out, NULL), CREW_OK);
    for (i = 0; i <= CREW_MAX_WAITERS; i++) {
        waiters[i].pool = scarce;
        waiters[i].status = CREW_OK;
        REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
        REQUIRE_EQ(crew_run(lease, 0u, "waits", job_waits, &waiters[i], &jobs[i]), CREW_OK);
        (void)CHECK_EQ(crew_release(lease), CREW_OK);
    }
    for (i = 0; i <= CREW_MAX_WAITERS; i++) {
        (void)CHECK_EQ(crew_join(jobs[i], LONG_MS, NULL), CREW_OK);
        too_many += waiters[i].status == CREW_REFUSED_TOO_MANY_WAITERS;
        in_vain += waiters[i].status == CREW_REFUSED_AT_CAPACITY;
    }
    (void)CHECK_EQ(too_many, 1);
    (void)CHECK_EQ(in_vain, CREW_MAX_WAITERS);
    (void)CHECK_EQ(usage_of(scarce).waiting, 0);
    (void)CHECK_EQ(crew_release(out), CREW_OK);
    close_pool(pool);
    close_pool(scarce);
    check_nothing_left();
}

int crew_sim_tables(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(charges_fill_their_table);
    RUN(pools_fill_their_table);
    RUN(sets_fill_their_table);
    RUN(workers_fill_their_table);
    RUN(untaken_results_fill_their_cells);
    RUN(bytes_beyond_an_address_space_are_refused);
    RUN(refused_set_leaves_the_account_as_it_was);
    RUN(all_threads_die_and_nothing_is_lost);
    RUN(waiters_fill_their_seats);
    return check_end();
}
