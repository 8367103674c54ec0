/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A port whose k-th call fails, for every k that a set needs. Each failure is a refusal of its own
 * kind with its own numbers, and leaves the created count, the account, the slots and the threads
 * as they were.
 */
#include "check_fork.h"
#include "fixture.h"
#include "wrap.h"

#define ROLES 3u
#define SET_BYTES (ROLES * STACK_BYTES)
#define BUDGET_MIB 8u

static crew_pool pool;
static crew_lease first;
static const crew_role roles[ROLES] = { { "a", STACK_BYTES, 5u },
                                        { "b", STACK_BYTES, 5u },
                                        { "c", STACK_BYTES, 5u } };

/* A pool with one set out on a lease: a failed growth must leave this set as it is. */
static int begin(void)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = "fragile";
    options.roles = roles;
    options.role_count = ROLES;
    options.capacity = 3u;
    return CHECK_EQ(boot(wrap_port(), BUDGET_MIB), CREW_OK) &&
           CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK) &&
           CHECK_EQ(crew_acquire(pool, 0u, &first, NULL), CREW_OK);
}

typedef struct figures {
    uint32_t created;
    uint32_t busy;
    uint32_t idle;
    uint64_t held;
    int threads;
} figures;

static figures take(void)
{
    figures now;
    crew_usage usage = usage_of(pool);

    now.created = usage.created;
    now.busy = usage.busy;
    now.idle = usage.idle;
    now.held = held_bytes();
    now.threads = wrap_threads();
    return now;
}

static void check_same(figures before)
{
    figures now = take();

    (void)CHECK_EQ(now.created, before.created);
    (void)CHECK_EQ(now.busy, before.busy);
    (void)CHECK_EQ(now.idle, before.idle);
    (void)CHECK_EQ(now.held, before.held);
    (void)CHECK_EQ(now.threads, before.threads);
}

/* The next acquire is refused in this way and for this reason; nothing is different afterwards. */
static crew_refusal refused(int32_t kind, uint32_t timeout_ms)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;
    figures before = take();
    uint32_t counted = usage_of(pool).refused[kind];
    crew_lease none = { 0u };

    (void)CHECK_EQ(crew_acquire(pool, timeout_ms, &none, &refusal), kind);
    (void)CHECK_EQ(refusal.kind, kind);
    (void)CHECK_EQ(none.bits, 0);
    (void)CHECK_EQ(usage_of(pool).refused[kind], counted + 1u);
    (void)CHECK_EQ(usage_of(pool).retirements, 0);
    check_same(before);
    return refusal;
}

/* The refused acquire succeeds once its cause is gone, and in the end everything is given back. */
static void works_again(void)
{
    static int32_t value = 2;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;
    uint32_t role;

    wrap_set(&wrap.fail_thread_in, 0);
    wrap_set(&wrap.fail_event_in, 0);
    wrap_set(&wrap.memory_answer, -1);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    for (role = 0; role < ROLES; role++) {
        REQUIRE_EQ(crew_run(lease, role, "value", job_value, &value, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.value, 2);
    }
    (void)CHECK_EQ(usage_of(pool).created, 2);
    (void)CHECK_EQ(held_bytes(), 2u * SET_BYTES);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(wrap_threads(), 0);
    (void)CHECK_EQ(wrap_logged(CREW_SEVERITY_MAJOR, "fragile"), 0);
}

static void kth_thread_fails(void)
{
    uint32_t k;

    REQUIRE(begin());
    for (k = 0; k < ROLES; k++) {
        crew_refusal refusal;

        wrap.error = ENOMEM;
        wrap_set(&wrap.fail_thread_in, (int)k + 1);
        refusal = refused(CREW_REFUSED_SPAWN_FAILED, 0u);
        (void)CHECK_EQ(refusal.role, k);
        (void)CHECK_EQ(refusal.os_error, ENOMEM);
        (void)CHECK_EQ(crew_refusal_errno(&refusal), ENOMEM);
    }
    works_again();
}

/* The trap: errno alone does not tell a full server from a target out of threads. */
static void thread_failure_with_eagain_is_its_own_kind(void)
{
    crew_refusal refusal;

    REQUIRE(begin());
    wrap.error = EAGAIN;
    wrap_set(&wrap.fail_thread_in, 1);
    refusal = refused(CREW_REFUSED_SPAWN_FAILED, 0u);
    (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
    refusal.kind = CREW_REFUSED_AT_CAPACITY;
    (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
    works_again();
}

/*
 * Only the core knows how many events a set needs: the acquire succeeds at the first k above that
 * number.
 */
static void kth_event_fails(void)
{
    int32_t status = CREW_REFUSED_OBJECTS_EXHAUSTED;
    crew_lease lease;
    int k;

    REQUIRE(begin());
    for (k = 1; k <= 16; k++) {
        crew_refusal refusal = CREW_REFUSAL_INIT;
        figures before = take();

        wrap.error = ENOSPC;
        wrap_set(&wrap.fail_event_in, k);
        status = crew_acquire(pool, 0u, &lease, &refusal);
        if (status == CREW_OK) {
            break;
        }
        (void)CHECK_EQ(status, CREW_REFUSED_OBJECTS_EXHAUSTED);
        (void)CHECK_EQ(refusal.kind, CREW_REFUSED_OBJECTS_EXHAUSTED);
        (void)CHECK(refusal.objects > 0u);
        (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
        check_same(before);
    }
    (void)CHECK(k > 1);
    REQUIRE_EQ(status, CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    works_again();
}

static void memory_says_no(void)
{
    crew_refusal refusal;
    int asked;

    REQUIRE(begin());
    wrap_set(&wrap.memory_answer, 0);
    asked = wrap_read(&wrap.memory_asked);
    refusal = refused(CREW_REFUSED_TARGET_MEMORY, 0u);
    (void)CHECK(wrap_read(&wrap.memory_asked) > asked);
    (void)CHECK(refusal.bytes_requested > 0u);
    (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
    /* Waiting for memory has a bound as well, and the cause is the same. */
    refusal = refused(CREW_REFUSED_TARGET_MEMORY, 30u);
    works_again();
}

static void capacity_and_budget_have_their_own_kinds(void)
{
    crew_refusal refusal;
    crew_lease leases[2];
    crew_charge_handle charge;

    REQUIRE(begin());
    REQUIRE_EQ(crew_charge((uint64_t)BUDGET_MIB * 1048576u - 2u * SET_BYTES + 1u, &charge),
               CREW_OK);
    refusal = refused(CREW_REFUSED_OUT_OF_RESERVATION, 0u);
    (void)CHECK_EQ(refusal.bytes_requested, SET_BYTES);
    (void)CHECK_EQ(refusal.bytes_budget, BUDGET_MIB * 1048576u);
    (void)CHECK_EQ(refusal.bytes_held, BUDGET_MIB * 1048576u - SET_BYTES + 1u);
    (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &leases[0], NULL), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &leases[1], NULL), CREW_OK);
    refusal = refused(CREW_REFUSED_AT_CAPACITY, 0u);
    (void)CHECK_EQ(refusal.capacity, 3);
    (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
    (void)CHECK_EQ(crew_release(leases[0]), CREW_OK);
    (void)CHECK_EQ(crew_release(leases[1]), CREW_OK);
    (void)CHECK_EQ(crew_release(first), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), 0);
}

/* Prestart that cannot be had: the pool does not open, and nothing of it stays. */
static void prestart_that_fails_opens_nothing(void)
{
    crew_pool_options options = pair_options("prestart", 2u);
    crew_pool none = { 0u };
    figures before;
    int k;

    REQUIRE(begin());
    before = take();
    options.prestart = 2u;
    for (k = 1; k <= 4; k++) {
        wrap.error = ENOMEM;
        wrap_set(&wrap.fail_thread_in, k);
        (void)CHECK_EQ(crew_pool_open(&options, &none), CREW_REFUSED_SPAWN_FAILED);
        (void)CHECK_EQ(none.bits, 0);
        check_same(before);
    }
    works_again();
}

static void failing_over_and_over_loses_nothing(void)
{
    int i;

    REQUIRE(begin());
    for (i = 0; i < 200; i++) {
        wrap.error = EAGAIN;
        wrap_set(&wrap.fail_thread_in, i % 3 + 1);
        (void)refused(CREW_REFUSED_SPAWN_FAILED, 0u);
    }
    works_again();
}

int main(void)
{
    RUN_FORKED(kth_thread_fails);
    RUN_FORKED(thread_failure_with_eagain_is_its_own_kind);
    RUN_FORKED(kth_event_fails);
    RUN_FORKED(memory_says_no);
    RUN_FORKED(capacity_and_budget_have_their_own_kinds);
    RUN_FORKED(prestart_that_fails_opens_nothing);
    RUN_FORKED(failing_over_and_over_loses_nothing);
    return check_sum();
}
