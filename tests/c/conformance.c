/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "conformance.h"
#include "figures.h"

#define MIB 1048576u
#define STACK_BYTES 65536u
/* A wait that ends only when something is broken. */
#define LONG_MS 100000u
/* A wait that is meant to end by its bound. */
#define SHORT_MS 30u
/*
 * How far the clock may lag behind: its steps are 4 ms (Linux, coarse), or a tick of 10 ms (RTEMS).
 */
#define CLOCK_STEP_MS 10u
#define BUDGET_MIB 64u

/* Crew boots with this port. NULL: with the one that the library was built with. */
static const crew_port *booted_with;
/*
 * The tests' own waits use this port's events and clock; its thread_overhead_bytes is what a thread
 * costs.
 */
static const crew_port *means;

/* ---- what the tests are made of ---- */

/*
 * A job that says when it has begun and ends when it is told to. Four of them, because events are
 * never given back.
 */
typedef struct gate {
    crew_event begun;
    crew_event open;
    int32_t value;
} gate;

static gate gates[4];
static crew_event pause_event;

static int32_t job_gate(void *argument)
{
    gate *at = (gate *)argument;

    means->event_post(means->context, &at->begun);
    return means->event_wait(means->context, &at->open, LONG_MS) == 1 ? at->value : -1;
}

static int32_t job_value(void *argument)
{
    return *(const int32_t *)argument;
}

static int gate_begun(gate *at)
{
    return means->event_wait(means->context, &at->begun, LONG_MS) == 1;
}

static void gate_open(gate *at)
{
    means->event_post(means->context, &at->open);
}

/* Lets other threads run for a millisecond, on a cooperative port too. */
static void breathe(void)
{
    (void)means->event_wait(means->context, &pause_event, 1u);
}

static const crew_role two_roles[2] = { { "reader", STACK_BYTES, 20u },
                                        { "writer", STACK_BYTES, 10u } };

static uint64_t thread_bytes(void)
{
    return (uint64_t)STACK_BYTES + means->thread_overhead_bytes;
}

static crew_pool_options options_for(const char *name, uint32_t capacity)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = name;
    options.roles = two_roles;
    options.role_count = 2u;
    options.capacity = capacity;
    return options;
}

static int opened(const crew_pool_options *options, crew_pool *pool)
{
    return CHECK_EQ(crew_pool_open(options, pool), CREW_OK);
}

static void close_pool(crew_pool pool)
{
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static int acquired(crew_pool pool, crew_lease *lease)
{
    return CHECK_EQ(crew_acquire(pool, 0u, lease, NULL), CREW_OK);
}

/* ---- tests ---- */

static void boots_once(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    int32_t first;

    options.budget_mib = BUDGET_MIB;
    options.port = booted_with;
    first = crew_boot(&options);
    (void)CHECK(first == CREW_OK || first == CREW_ALREADY_BOOTED);
    (void)CHECK_EQ(crew_boot(&options), CREW_ALREADY_BOOTED);
}

static void makes_events(void)
{
    size_t i;

    for (i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
        (void)CHECK_EQ(means->event_create(means->context, &gates[i].begun), 0);
        (void)CHECK_EQ(means->event_create(means->context, &gates[i].open), 0);
    }
    (void)CHECK_EQ(means->event_create(means->context, &pause_event), 0);
}

static void event_is_a_binary_semaphore(void)
{
    crew_event *event = &gates[0].open;
    uint64_t before = means->clock_ms(means->context);

    (void)CHECK_EQ(means->event_wait(means->context, event, 0u), 0);
    (void)CHECK_EQ(means->event_wait(means->context, event, SHORT_MS), 0);
    (void)CHECK(means->clock_ms(means->context) - before >= SHORT_MS - CLOCK_STEP_MS);
    means->event_post(means->context, event);
    (void)CHECK_EQ(means->event_wait(means->context, event, 0u), 1);
    (void)CHECK_EQ(means->event_wait(means->context, event, 0u), 0);
    means->event_post(means->context, event);
    (void)CHECK_EQ(means->event_wait(means->context, event, LONG_MS), 1);
}

static void lends_runs_joins_and_returns(void)
{
    static int32_t values[2] = { 7, -2147483647 };
    crew_account before = account_now();
    crew_pool_options options = options_for("life", 2u);
    crew_pool pool;
    crew_lease lease;
    crew_job jobs[2];
    crew_usage usage;
    uint32_t role;

    REQUIRE(opened(&options, &pool));
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.capacity, 2);
    (void)CHECK_EQ(usage.created, 0);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
    REQUIRE(acquired(pool, &lease));
    for (role = 0; role < 2u; role++) {
        (void)CHECK_EQ(crew_run(lease, role, "value", job_value, &values[role], &jobs[role]),
                       CREW_OK);
    }
    for (role = 0; role < 2u; role++) {
        crew_result result = CREW_RESULT_INIT;

        (void)CHECK_EQ(crew_join(jobs[role], LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
        (void)CHECK_EQ(result.value, values[role]);
    }
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.busy, 1);
    (void)CHECK_EQ(usage.idle, 0);
    (void)CHECK_EQ(held_bytes(), before.held_bytes + 2u * thread_bytes());
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.created, 1);
    (void)CHECK_EQ(usage.busy, 0);
    (void)CHECK_EQ(usage.idle, 1);
    (void)CHECK_EQ(usage.waiting, 0);
    (void)CHECK_EQ(usage.created_high_water, 1);
    (void)CHECK_EQ(usage.busy_high_water, 1);
    (void)CHECK_EQ(usage.threads_created, 2);
    (void)CHECK_EQ(usage.retirements, 0);
    (void)CHECK_EQ(usage.leases, 1);
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
    (void)CHECK(account_now().high_water_bytes >= before.held_bytes + 2u * thread_bytes());
}

/* Join implies idle, and sequential borrows use one set: 8 borrows, 2 workers ever. */
static void sequential_borrows_use_one_set(void)
{
    static int32_t value = 3;
    crew_pool_options options = options_for("reuse", 4u);
    crew_pool pool;
    uint32_t i;

    REQUIRE(opened(&options, &pool));
    for (i = 0; i < 8u; i++) {
        crew_lease lease;
        crew_job job;

        REQUIRE(acquired(pool, &lease));
        (void)CHECK_EQ(crew_run(lease, i % 2u, "value", job_value, &value, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
        (void)CHECK_EQ(crew_release(lease), CREW_OK);
    }
    (void)CHECK_EQ(usage_of(pool).threads_created, 2);
    (void)CHECK_EQ(usage_of(pool).created_high_water, 1);
    (void)CHECK_EQ(usage_of(pool).leases, 8);
    close_pool(pool);
}

static void set_is_not_idle_while_a_job_runs(void)
{
    crew_pool_options options = options_for("running", 1u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_lease none = { 0u };
    crew_job job;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    gates[0].value = 11;
    REQUIRE_EQ(crew_run(lease, 0u, "gate", job_gate, &gates[0], &job), CREW_OK);
    (void)CHECK(gate_begun(&gates[0]));
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).busy, 1);
    (void)CHECK_EQ(usage_of(pool).idle, 0);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, &refusal), CREW_REFUSED_AT_CAPACITY);
    (void)CHECK_EQ(refusal.kind, CREW_REFUSED_AT_CAPACITY);
    (void)CHECK_EQ(refusal.capacity, 1);
    (void)CHECK_EQ(none.bits, 0);
    gate_open(&gates[0]);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.value, 11);
    REQUIRE(acquired(pool, &lease));
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void refusal_at_capacity_changes_nothing(void)
{
    crew_pool_options options = options_for("full", 1u);
    crew_pool pool;
    crew_lease lease;
    crew_lease none = { 0u };
    crew_usage before;
    crew_usage after;
    uint64_t held;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    before = usage_of(pool);
    held = held_bytes();
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, NULL), CREW_REFUSED_AT_CAPACITY);
    after = usage_of(pool);
    (void)CHECK_EQ(after.refused[CREW_REFUSED_AT_CAPACITY],
                   before.refused[CREW_REFUSED_AT_CAPACITY] + 1u);
    (void)CHECK_EQ(after.created, before.created);
    (void)CHECK_EQ(after.busy, before.busy);
    (void)CHECK_EQ(after.threads_created, before.threads_created);
    (void)CHECK_EQ(held_bytes(), held);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void detached_job_returns_its_set(void)
{
    crew_pool_options options = options_for("detached", 1u);
    crew_pool pool;
    crew_lease lease;
    crew_job job;
    uint32_t round;

    REQUIRE(opened(&options, &pool));
    for (round = 0; round < 2u; round++) {
        /* At once detached, and detached later. */
        REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
        (void)CHECK_EQ(crew_run(lease, 1u, "gate", job_gate, &gates[0], round == 0u ? NULL : &job),
                       CREW_OK);
        (void)CHECK_EQ(crew_release(lease), CREW_OK);
        if (round == 1u) {
            (void)CHECK_EQ(crew_detach(job), CREW_OK);
        }
        (void)CHECK(gate_begun(&gates[0]));
        gate_open(&gates[0]);
    }
    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).threads_created, 2);
    close_pool(pool);
}

/* A job of another pool that releases a lease as soon as a waiter waits for it. */
typedef struct releaser {
    crew_pool pool;
    crew_lease lease;
    int32_t status;
} releaser;

static int32_t job_release_when_awaited(void *argument)
{
    releaser *self = (releaser *)argument;
    crew_usage usage = CREW_USAGE_INIT;
    uint32_t i;

    for (i = 0; i < LONG_MS; i++) {
        if (crew_pool_usage(self->pool, &usage) == CREW_OK && usage.waiting == 1u) {
            break;
        }
        breathe();
    }
    self->status = crew_release(self->lease);
    return (int32_t)usage.waiting;
}

static void waiting_acquire_gets_the_set_released_meanwhile(void)
{
    crew_pool_options options = options_for("wanted", 1u);
    crew_pool_options other_options = options_for("other", 1u);
    crew_result result = CREW_RESULT_INIT;
    crew_pool other;
    crew_lease other_lease;
    crew_lease lease;
    crew_job job;
    releaser self;

    memset(&self, 0, sizeof(self));
    REQUIRE(opened(&options, &self.pool));
    REQUIRE(opened(&other_options, &other));
    REQUIRE(acquired(self.pool, &self.lease));
    REQUIRE(acquired(other, &other_lease));
    REQUIRE_EQ(crew_run(other_lease, 0u, "releaser", job_release_when_awaited, &self, &job),
               CREW_OK);
    (void)CHECK_EQ(crew_acquire(self.pool, LONG_MS, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.value, 1);
    (void)CHECK_EQ(self.status, CREW_OK);
    (void)CHECK_EQ(usage_of(self.pool).threads_created, 2);
    (void)CHECK_EQ(usage_of(self.pool).waiting, 0);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_release(other_lease), CREW_OK);
    close_pool(other);
    close_pool(self.pool);
}

static void waiting_acquire_is_refused_when_its_time_is_over(void)
{
    crew_pool_options options = options_for("late", 1u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_lease none = { 0u };
    uint64_t before;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    before = means->clock_ms(means->context);
    (void)CHECK_EQ(crew_acquire(pool, SHORT_MS, &none, &refusal), CREW_REFUSED_AT_CAPACITY);
    (void)CHECK(means->clock_ms(means->context) - before >= SHORT_MS - CLOCK_STEP_MS);
    (void)CHECK_EQ(refusal.capacity, 1);
    (void)CHECK_EQ(usage_of(pool).waiting, 0);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void join_has_a_bound(void)
{
    crew_pool_options options = options_for("slow", 1u);
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    gates[1].value = 5;
    REQUIRE_EQ(crew_run(lease, 0u, "gate", job_gate, &gates[1], &job), CREW_OK);
    result.value = 1234;
    (void)CHECK_EQ(crew_join(job, 0u, &result), CREW_TIMED_OUT);
    (void)CHECK_EQ(crew_join(job, SHORT_MS, &result), CREW_TIMED_OUT);
    (void)CHECK_EQ(result.value, 1234);
    (void)CHECK(gate_begun(&gates[1]));
    gate_open(&gates[1]);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.value, 5);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void result_outlives_the_lease(void)
{
    static int32_t value = 99;
    crew_pool_options options = options_for("outlives", 1u);
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    REQUIRE_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
    (void)CHECK_EQ(result.value, 99);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void worker_keeps_two_unclaimed_results(void)
{
    static int32_t value = 1;
    crew_pool_options options = options_for("cells", 1u);
    crew_pool pool;
    crew_lease lease;
    crew_job jobs[3] = { { 0u }, { 0u }, { 0u } };
    uint32_t i;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    for (i = 0; i < 2u; i++) {
        int32_t status = CREW_BUSY;
        uint32_t tries;

        for (tries = 0; tries < LONG_MS && status == CREW_BUSY; tries++) {
            status = crew_run(lease, 0u, "value", job_value, &value, &jobs[i]);
            breathe();
        }
        (void)CHECK_EQ(status, CREW_OK);
    }
    breathe();
    for (i = 0; i < LONG_MS; i++) {
        int32_t status = crew_run(lease, 0u, "value", job_value, &value, &jobs[2]);

        if (status != CREW_BUSY) {
            (void)CHECK_EQ(status, CREW_NO_JOB_CELL);
            break;
        }
        breathe();
    }
    (void)CHECK_EQ(jobs[2].bits, 0);
    (void)CHECK_EQ(crew_join(jobs[0], LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, &jobs[2]), CREW_OK);
    (void)CHECK_EQ(crew_join(jobs[1], LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_join(jobs[2], LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void trim_gives_idle_sets_back(void)
{
    crew_account before = account_now();
    crew_pool_options options = options_for("trim", 3u);
    crew_pool pool;
    crew_lease leases[3];
    uint32_t i;

    options.keep = 1u;
    REQUIRE(opened(&options, &pool));
    for (i = 0; i < 3u; i++) {
        REQUIRE(acquired(pool, &leases[i]));
    }
    for (i = 0; i < 3u; i++) {
        (void)CHECK_EQ(crew_release(leases[i]), CREW_OK);
    }
    (void)CHECK_EQ(usage_of(pool).idle, 3);
    (void)CHECK_EQ(held_bytes(), before.held_bytes + 6u * thread_bytes());
    /* A stopped thread needs a moment to end; the bytes come back once it has been joined. */
    for (i = 0; i < LONG_MS; i++) {
        (void)CHECK_EQ(crew_pool_trim(pool, 1u), CREW_OK);
        if (usage_of(pool).created == 1u &&
            held_bytes() == before.held_bytes + 2u * thread_bytes()) {
            break;
        }
        breathe();
    }
    (void)CHECK_EQ(usage_of(pool).created, 1);
    (void)CHECK_EQ(usage_of(pool).idle, 1);
    (void)CHECK_EQ(usage_of(pool).created_high_water, 3);
    (void)CHECK_EQ(usage_of(pool).retirements, 0);
    (void)CHECK_EQ(held_bytes(), before.held_bytes + 2u * thread_bytes());
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static void prestart_makes_sets_at_open(void)
{
    crew_account before = account_now();
    crew_pool_options options = options_for("early", 3u);
    crew_pool pool;
    crew_lease lease;
    crew_usage usage;

    options.prestart = 2u;
    options.extra_bytes = 1000u;
    REQUIRE(opened(&options, &pool));
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.created, 2);
    (void)CHECK_EQ(usage.idle, 2);
    (void)CHECK_EQ(usage.threads_created, 4);
    (void)CHECK_EQ(usage.leases, 0);
    (void)CHECK_EQ(held_bytes(), before.held_bytes + 2u * (2u * thread_bytes() + 1000u));
    REQUIRE(acquired(pool, &lease));
    (void)CHECK_EQ(usage_of(pool).threads_created, 4);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static void peer_limit_counts_each_key(void)
{
    crew_pool_options options = options_for("peers", 3u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_lease first;
    crew_lease second;
    crew_lease none = { 0u };

    options.per_peer = 1u;
    REQUIRE(opened(&options, &pool));
    REQUIRE_EQ(crew_acquire_peer(pool, 0xC0A80001u, 0u, &first, NULL), CREW_OK);
    (void)CHECK_EQ(crew_acquire_peer(pool, 0xC0A80001u, 0u, &none, &refusal),
                   CREW_REFUSED_PEER_LIMIT);
    (void)CHECK_EQ(refusal.kind, CREW_REFUSED_PEER_LIMIT);
    (void)CHECK_EQ(refusal.capacity, 1);
    (void)CHECK_EQ(none.bits, 0);
    REQUIRE_EQ(crew_acquire_peer(pool, UINT64_C(0xFFFFFFFF00000001), 0u, &second, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    REQUIRE_EQ(crew_acquire_peer(pool, 0xC0A80001u, 0u, &first, NULL), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).refused[CREW_REFUSED_PEER_LIMIT], 1);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    close_pool(pool);
}

static void pool_without_roles_admits_by_bytes(void)
{
    static int32_t value;
    crew_account before = account_now();
    crew_pool_options options = options_for("admit", 2u);
    crew_pool pool;
    crew_lease first;
    crew_lease second;
    crew_lease none = { 0u };
    crew_job job = { 0u };

    options.roles = NULL;
    options.role_count = 0u;
    options.extra_bytes = MIB;
    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &first));
    REQUIRE(acquired(pool, &second));
    (void)CHECK_EQ(held_bytes(), before.held_bytes + 2u * MIB);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, NULL), CREW_REFUSED_AT_CAPACITY);
    (void)CHECK_EQ(crew_run(first, 0u, "none", job_value, &value, &job), CREW_BAD_ROLE);
    (void)CHECK_EQ(usage_of(pool).threads_created, 0);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    REQUIRE(acquired(pool, &first));
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

/*
 * A pool whose sets are half of what the budget has left. 0 = this process has no budget to test
 * with.
 */
static int half_budget(const char *name, crew_pool_options *options)
{
    crew_account account = account_now();

    *options = options_for(name, 8u);
    if (account.budget_bytes == UINT64_MAX) {
        return 0;
    }
    options->extra_bytes = (account.budget_bytes - account.held_bytes) / 2u - 2u * thread_bytes();
    return 1;
}

static void budget_refuses_before_the_capacity(void)
{
    crew_pool_options options;
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_account before = account_now();
    crew_account after;
    crew_pool pool;
    crew_lease first;
    crew_lease second;
    crew_lease none = { 0u };
    uint64_t set_bytes;

    if (!half_budget("budget", &options) || !opened(&options, &pool)) {
        return;
    }
    set_bytes = options.extra_bytes + 2u * thread_bytes();
    REQUIRE(acquired(pool, &first));
    REQUIRE(acquired(pool, &second));
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, &refusal), CREW_REFUSED_OUT_OF_RESERVATION);
    (void)CHECK_EQ(refusal.kind, CREW_REFUSED_OUT_OF_RESERVATION);
    (void)CHECK_EQ(refusal.bytes_requested, set_bytes);
    (void)CHECK_EQ(refusal.bytes_held, before.held_bytes + 2u * set_bytes);
    (void)CHECK_EQ(refusal.bytes_budget, before.budget_bytes);
    after = account_now();
    (void)CHECK_EQ(after.held_bytes, before.held_bytes + 2u * set_bytes);
    (void)CHECK_EQ(after.refusals, before.refusals + 1u);
    (void)CHECK_EQ(usage_of(pool).created, 2);
    (void)CHECK_EQ(usage_of(pool).threads_created, 4);
    /* A set that came back is used again and asks for nothing. */
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    REQUIRE(acquired(pool, &second));
    (void)CHECK_EQ(usage_of(pool).threads_created, 4);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static void growth_takes_other_pools_idle_sets_first(void)
{
    crew_pool_options options;
    crew_account before = account_now();
    crew_pool greedy;
    crew_pool needy;
    crew_lease first;
    crew_lease second;

    if (!half_budget("greedy", &options) || !opened(&options, &greedy)) {
        return;
    }
    options.name = "needy";
    REQUIRE(opened(&options, &needy));
    REQUIRE(acquired(greedy, &first));
    REQUIRE(acquired(greedy, &second));
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    (void)CHECK_EQ(usage_of(greedy).idle, 1);
    (void)CHECK_EQ(crew_acquire(needy, LONG_MS, &second, NULL), CREW_OK);
    (void)CHECK_EQ(usage_of(greedy).created, 1);
    (void)CHECK_EQ(usage_of(greedy).busy, 1);
    (void)CHECK_EQ(usage_of(greedy).retirements, 0);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    close_pool(needy);
    close_pool(greedy);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static void charge_lives_until_it_is_given_back(void)
{
    crew_account before = account_now();
    crew_account during;
    crew_account after;
    crew_charge_handle charge;

    REQUIRE_EQ(crew_charge(3u * MIB, &charge), CREW_OK);
    during = account_now();
    (void)CHECK_EQ(during.held_bytes, before.held_bytes + 3u * MIB);
    (void)CHECK_EQ(during.fixed_bytes, before.fixed_bytes + 3u * MIB);
    (void)CHECK_EQ(during.charges, before.charges + 1u);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_STALE);
    after = account_now();
    (void)CHECK_EQ(after.held_bytes, before.held_bytes);
    (void)CHECK_EQ(after.fixed_bytes, before.fixed_bytes);
    (void)CHECK_EQ(after.charges, before.charges);
}

static void fixed_charge_may_pass_the_budget(void)
{
    crew_account before = account_now();
    crew_pool_options options = options_for("squeezed", 1u);
    crew_charge_handle charge;
    crew_pool pool;
    crew_lease lease = { 0u };

    if (before.budget_bytes == UINT64_MAX || !opened(&options, &pool)) {
        return;
    }
    REQUIRE_EQ(crew_charge(before.budget_bytes, &charge), CREW_OK);
    (void)CHECK_EQ(held_bytes(), before.held_bytes + before.budget_bytes);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_REFUSED_OUT_OF_RESERVATION);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    REQUIRE(acquired(pool, &lease));
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

static void close_waits_for_a_running_job_but_not_for_ever(void)
{
    crew_account before = account_now();
    crew_pool_options options = options_for("closing", 2u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_result result = CREW_RESULT_INIT;
    crew_usage usage = CREW_USAGE_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_lease none = { 0u };
    crew_job job;
    crew_job unwanted = { 0u };
    int32_t status;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    gates[2].value = 21;
    REQUIRE_EQ(crew_run(lease, 0u, "gate", job_gate, &gates[2], &job), CREW_OK);
    (void)CHECK(gate_begun(&gates[2]));
    (void)CHECK_EQ(crew_pool_close(pool, 0u), CREW_TIMED_OUT);
    (void)CHECK_EQ(crew_pool_close(pool, SHORT_MS), CREW_TIMED_OUT);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, &refusal), CREW_REFUSED_SHUTTING_DOWN);
    (void)CHECK_EQ(refusal.kind, CREW_REFUSED_SHUTTING_DOWN);
    status = crew_run(lease, 1u, "late", job_gate, &gates[3], &unwanted);
    (void)CHECK_EQ(status, CREW_NOT_RUN);
    gate_open(&gates[2]);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
    (void)CHECK_EQ(result.value, 21);
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
    status = crew_release(lease);
    (void)CHECK(status == CREW_RETIRED || status == CREW_STALE);
    (void)CHECK_EQ(crew_pool_usage(pool, &usage), CREW_STALE);
    (void)CHECK_EQ(crew_pool_close(pool, 0u), CREW_STALE);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, NULL), CREW_STALE);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static void ended_handles_are_stale(void)
{
    static int32_t value = 4;
    crew_pool_options options = options_for("stale", 1u);
    crew_pool pool;
    crew_lease lease;
    crew_lease again;
    crew_job job;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    REQUIRE_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_STALE);
    (void)CHECK_EQ(crew_detach(job), CREW_STALE);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_STALE);
    REQUIRE(acquired(pool, &again));
    /* The old handle does not reach the set's next borrower. */
    (void)CHECK_EQ(crew_release(lease), CREW_STALE);
    (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_STALE);
    (void)CHECK_EQ(usage_of(pool).busy, 1);
    (void)CHECK_EQ(crew_release(again), CREW_OK);
    close_pool(pool);
}

static void usage_counts_in_the_middle_of_things(void)
{
    crew_pool_options options = options_for("figures", 4u);
    crew_pool pool;
    crew_lease leases[3];
    crew_usage usage;
    uint32_t i;

    REQUIRE(opened(&options, &pool));
    for (i = 0; i < 3u; i++) {
        REQUIRE(acquired(pool, &leases[i]));
    }
    (void)CHECK_EQ(crew_release(leases[1]), CREW_OK);
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.capacity, 4);
    (void)CHECK_EQ(usage.created, 3);
    (void)CHECK_EQ(usage.busy, 2);
    (void)CHECK_EQ(usage.idle, 1);
    (void)CHECK_EQ(usage.created_high_water, 3);
    (void)CHECK_EQ(usage.busy_high_water, 3);
    (void)CHECK_EQ(usage.threads_created, 6);
    (void)CHECK_EQ(usage.leases, 3);
    (void)CHECK_EQ(usage.suspended, 0);
    (void)CHECK_EQ(usage.overdue, 0);
    (void)CHECK_EQ(crew_release(leases[0]), CREW_OK);
    (void)CHECK_EQ(crew_release(leases[2]), CREW_OK);
    close_pool(pool);
}

static void lease_names_its_threads(void)
{
    crew_pool_options options = options_for("threads", 1u);
    crew_pool pool;
    crew_lease lease;
    size_t first = 0u;
    size_t second = 0u;
    size_t none = 0u;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &first), CREW_OK);
    (void)CHECK_EQ(crew_lease_thread(lease, 1u, &second), CREW_OK);
    (void)CHECK(first != second);
    (void)CHECK_EQ(crew_lease_thread(lease, 2u, &none), CREW_BAD_ROLE);
    (void)CHECK_EQ(none, 0);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &none), CREW_STALE);
    close_pool(pool);
}

typedef struct report_seen {
    uint32_t lines;
    uint32_t newlines;
    uint32_t named;
} report_seen;

static void see_line(void *context, const char *line)
{
    report_seen *seen = (report_seen *)context;

    seen->lines++;
    seen->newlines += strchr(line, '\n') != NULL;
    seen->named += strstr(line, "reported") != NULL;
}

static void report_names_the_pool(void)
{
    crew_pool_options options = options_for("reported", 1u);
    crew_pool pool;
    crew_lease lease;
    uint32_t level;

    REQUIRE(opened(&options, &pool));
    REQUIRE(acquired(pool, &lease));
    for (level = 0; level < 3u; level++) {
        report_seen seen = { 0u, 0u, 0u };

        (void)CHECK_EQ(crew_report(level, see_line, &seen), CREW_OK);
        (void)CHECK(seen.lines > 0u);
        (void)CHECK_EQ(seen.newlines, 0);
        (void)CHECK(seen.named > 0u);
    }
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    close_pool(pool);
}

/* Last: nothing grows any more afterwards. */
static void seal_ends_growth(void)
{
    static int32_t value = 8;
    crew_account before = account_now();
    crew_pool_options options = options_for("sealed", 3u);
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_pool another = { 0u };
    crew_lease leases[2];
    crew_lease none = { 0u };
    crew_job job;

    options.prestart = 1u;
    options.keep = 2u;
    REQUIRE(opened(&options, &pool));
    REQUIRE_EQ(crew_seal(), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).created, 2);
    (void)CHECK_EQ(crew_seal(), CREW_ALREADY_SEALED);
    REQUIRE(acquired(pool, &leases[0]));
    REQUIRE(acquired(pool, &leases[1]));
    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, &refusal), CREW_REFUSED_SEALED);
    (void)CHECK_EQ(refusal.kind, CREW_REFUSED_SEALED);
    (void)CHECK_EQ(usage_of(pool).threads_created, 4);
    (void)CHECK_EQ(crew_pool_open(&options, &another), CREW_ALREADY_SEALED);
    (void)CHECK_EQ(another.bits, 0);
    (void)CHECK_EQ(crew_run(leases[0], 0u, "value", job_value, &value, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(leases[0]), CREW_OK);
    (void)CHECK_EQ(crew_release(leases[1]), CREW_OK);
    close_pool(pool);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static int run_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(boots_once);
    RUN(makes_events);
    if (booted_with != NULL) {
        RUN(event_is_a_binary_semaphore);
    }
    RUN(lends_runs_joins_and_returns);
    RUN(sequential_borrows_use_one_set);
    RUN(set_is_not_idle_while_a_job_runs);
    RUN(refusal_at_capacity_changes_nothing);
    RUN(detached_job_returns_its_set);
    RUN(waiting_acquire_gets_the_set_released_meanwhile);
    RUN(waiting_acquire_is_refused_when_its_time_is_over);
    RUN(join_has_a_bound);
    RUN(result_outlives_the_lease);
    RUN(worker_keeps_two_unclaimed_results);
    RUN(trim_gives_idle_sets_back);
    RUN(prestart_makes_sets_at_open);
    RUN(peer_limit_counts_each_key);
    RUN(pool_without_roles_admits_by_bytes);
    RUN(budget_refuses_before_the_capacity);
    RUN(growth_takes_other_pools_idle_sets_first);
    RUN(charge_lives_until_it_is_given_back);
    RUN(fixed_charge_may_pass_the_budget);
    RUN(close_waits_for_a_running_job_but_not_for_ever);
    RUN(ended_handles_are_stale);
    RUN(usage_counts_in_the_middle_of_things);
    RUN(lease_names_its_threads);
    RUN(report_names_the_pool);
    RUN(seal_ends_growth);
    return check_end();
}

int crew_conformance(const crew_port *port, crew_sink print, void *context)
{
    booted_with = port;
    means = port;
    return run_suite(print, context);
}

int crew_conformance_built_in(const crew_port *of_tests, crew_sink print, void *context)
{
    booted_with = NULL;
    means = of_tests;
    return run_suite(print, context);
}
