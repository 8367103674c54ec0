/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Workers that end by each means that RTEMS has: pthread_exit, pthread_cancel, rtems_task_delete;
 * in a job, while they wait, and at any instant. Each time: the job is told, the set is retired
 * once, every byte comes back, and the next set works.
 */
#include "app.h"
#include "fixture.h"

#include <rtems.h>
#include <string.h>

/* RTEMS takes the ids in turn: enough for it to come back to that of a thread that has ended. */
#define FOREIGN_THREADS 2000u
#define AMBUSHES 100u

static int32_t end_by_cancel(size_t thread)
{
    return pthread_cancel((pthread_t)thread);
}

static int32_t end_by_delete(size_t thread)
{
    return (int32_t)rtems_task_delete((rtems_id)thread);
}

static int32_t job_exits(void *argument)
{
    (void)argument;
    pthread_exit(NULL);
    return 1;
}

/* At a gate, with cancellation acting at once, as for a task that may be deleted. */
static int32_t job_may_be_ended(void *argument)
{
    int ignored;

    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &ignored);
    return job_gate(argument);
}

/* The pool's next set does a job on both its members. */
static void next_set_works(crew_pool pool)
{
    static int32_t value = 5;
    crew_lease lease;
    uint32_t role;

    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    for (role = 0; role < 2u; role++) {
        crew_result result = CREW_RESULT_INIT;
        crew_job job;

        REQUIRE_EQ(crew_run(lease, role, "value", job_value, &value, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
        (void)CHECK_EQ(result.value, value);
    }
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
}

/*
 * A set whose member has just ended under `lease`. Capacity is 1, so that a slot that did not come
 * back is seen.
 */
static void accounted(crew_pool pool, crew_lease lease, const crew_account *before)
{
    static int32_t value;
    crew_job job = { 0u };
    int32_t status;

    (void)CHECK_EQ(usage_of(pool).retirements, 1);
    status = crew_run(lease, 1u, "late", job_value, &value, &job);
    (void)CHECK(status == CREW_NOT_RUN || status == CREW_RETIRED);
    CHECK_EVENTUALLY(usage_of(pool).created == 0u);
    (void)CHECK_EQ(held_bytes(), before->held_bytes);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    next_set_works(pool);
    (void)CHECK_EQ(usage_of(pool).retirements, 1);
    (void)CHECK_EQ(usage_of(pool).threads_created, 4);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), before->held_bytes);
}

static int lent(const char *name, crew_pool *pool, crew_lease *lease)
{
    const crew_pool_options options = pair_options(name, 1u);

    return CHECK_EQ(crew_pool_open(&options, pool), CREW_OK) &&
           CHECK_EQ(crew_acquire(*pool, 0u, lease, NULL), CREW_OK);
}

/* ---- in a job ---- */

static void pthread_exit_in_a_job(void)
{
    const crew_account before = account_now();
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    REQUIRE(lent("exits", &pool, &lease));
    REQUIRE_EQ(crew_run(lease, 0u, "exits", job_exits, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    accounted(pool, lease, &before);
}

static void ended_in_a_job(const char *name, int32_t (*end)(size_t thread))
{
    const crew_account before = account_now();
    crew_result result = CREW_RESULT_INIT;
    size_t thread = 0;
    crew_pool pool;
    crew_lease lease;
    crew_job job;
    gate at;

    gate_init(&at, 1);
    REQUIRE(lent(name, &pool, &lease));
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &thread), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "gate", job_may_be_ended, &at, &job), CREW_OK);
    (void)CHECK(gate_pass(&at.begun));
    (void)CHECK_EQ(end(thread), 0);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    accounted(pool, lease, &before);
}

static void pthread_cancel_in_a_job(void)
{
    ended_in_a_job("cancelled", end_by_cancel);
}

static void rtems_task_delete_in_a_job(void)
{
    ended_in_a_job("deleted", end_by_delete);
}

/* ---- while the worker waits ---- */

static void ended_while_it_waits(const char *name, int32_t (*end)(size_t thread))
{
    const crew_account before = account_now();
    size_t thread = 0;
    crew_pool pool;
    crew_lease lease;

    REQUIRE(lent(name, &pool, &lease));
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &thread), CREW_OK);
    pause_ms(20u); /* the worker is of lower priority: it waits when we are back */
    (void)CHECK_EQ(end(thread), 0);
    CHECK_EVENTUALLY(usage_of(pool).retirements == 1u);
    accounted(pool, lease, &before);
}

static void pthread_cancel_while_it_waits(void)
{
    ended_while_it_waits("cancelled", end_by_cancel);
}

static void rtems_task_delete_while_it_waits(void)
{
    ended_while_it_waits("deleted", end_by_delete);
}

/* Made, and ended before it has run: the request waits until the exit hook is in place. */
static void rtems_task_delete_before_it_has_run(void)
{
    const crew_account before = account_now();
    size_t thread = 0;
    crew_pool pool;
    crew_lease lease;

    REQUIRE(lent("early", &pool, &lease));
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &thread), CREW_OK);
    (void)CHECK_EQ(end_by_delete(thread), 0);
    CHECK_EVENTUALLY(usage_of(pool).retirements == 1u);
    accounted(pool, lease, &before);
}

/* ---- ids ---- */

static void *foreign_main(void *argument)
{
    return argument;
}

/*
 * rtems_task_delete joins, so other threads can get the id: reaping must not take one of them for
 * the worker.
 */
static void reaping_leaves_a_thread_of_the_same_id_alone(void)
{
    const crew_account before = account_now();
    uint32_t made = 0;
    size_t thread = 0;
    pthread_t foreign = 0;
    void *value = NULL;
    crew_pool pool;
    crew_lease lease;

    REQUIRE(lent("ids", &pool, &lease));
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &thread), CREW_OK);
    pause_ms(20u);
    (void)CHECK_EQ(end_by_delete(thread), 0);
    while (foreign != (pthread_t)thread && made++ < FOREIGN_THREADS) {
        REQUIRE_EQ(pthread_create(&foreign, NULL, foreign_main, &made), 0);
        if (foreign != (pthread_t)thread) {
            REQUIRE_EQ(pthread_join(foreign, NULL), 0);
        }
    }
    REQUIRE_EQ(foreign, thread);
    pause_ms(20u); /* it has ended, and waits to be joined */
    accounted(pool, lease, &before);
    (void)CHECK_EQ(pthread_join(foreign, &value), 0);
    (void)CHECK(value == &made);
}

/* ---- at any instant ---- */

typedef struct ambush {
    size_t thread;
    int32_t (*end)(size_t thread);
    uint32_t ticks;
    int32_t ended;
} ambush;

/* Runs above worker and dispatcher: the clock tick ends its wait, whatever they do. */
static int32_t job_ambush(void *argument)
{
    ambush *at = (ambush *)argument;

    (void)rtems_task_wake_after(at->ticks);
    at->ended = at->end(at->thread);
    return 0;
}

/* Works for that many turns. An odd number: it may be ended in them; even: only after them. */
static int32_t job_works(void *argument)
{
    const uint32_t wanted = *(const uint32_t *)argument;
    volatile uint32_t turns;
    int ignored;

    if (wanted % 2u != 0u) {
        (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &ignored);
    }
    for (turns = 0u; turns < wanted; turns++) {
    }
    return 7;
}

/*
 * One worker is given one job after the other until it has been ended. Returns how many jobs it
 * did; 0: something is wrong.
 */
static uint32_t until_it_ends(crew_lease lease, uint32_t turns)
{
    uint32_t done = 0;

    for (;;) {
        crew_result result = CREW_RESULT_INIT;
        int32_t status;
        crew_job job;

        status = crew_run(lease, 0u, "works", job_works, &turns, &job);
        if (status != CREW_OK) {
            return status == CREW_NOT_RUN || status == CREW_RETIRED ? done + 1u : 0u;
        }
        status = crew_join(job, LONG_MS, &result);
        if (status != CREW_OK) {
            return 0u;
        }
        if (result.outcome == CREW_JOB_RETURNED) {
            done += result.value == 7;
        } else if (result.outcome != CREW_JOB_DIED && result.outcome != CREW_JOB_NOT_RUN) {
            return 0u;
        }
    }
}

/* The tick may fall anywhere in the core: each death is one retirement, and the books balance. */
static void ended_at_any_instant(const char *name, int32_t (*end)(size_t thread))
{
    static const crew_role role = { "ambush", STACK_BYTES, 90u };
    const crew_account before = account_now();
    const crew_pool_options options = pair_options(name, 1u);
    crew_pool_options ambush_options = CREW_POOL_OPTIONS_INIT;
    uint32_t jobs = 0;
    uint32_t round;
    crew_pool pool;
    crew_pool ambush_pool;
    crew_lease ambush_lease;

    ambush_options.name = "ambush";
    ambush_options.roles = &role;
    ambush_options.role_count = 1u;
    ambush_options.capacity = 1u;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&ambush_options, &ambush_pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(ambush_pool, 0u, &ambush_lease, NULL), CREW_OK);
    for (round = 0; round < AMBUSHES; round++) {
        ambush at = { 0u, NULL, 0u, -1 };
        uint32_t done;
        crew_lease lease;
        crew_job job;

        at.end = end;
        at.ticks = 1u + round % 3u;
        REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
        REQUIRE_EQ(crew_lease_thread(lease, 0u, &at.thread), CREW_OK);
        REQUIRE_EQ(crew_run(ambush_lease, 0u, "ambush", job_ambush, &at, &job), CREW_OK);
        done = until_it_ends(lease, round % 50u);
        REQUIRE(done > 0u);
        jobs += done - 1u;
        REQUIRE_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
        REQUIRE_EQ(at.ended, 0);
        (void)crew_release(lease);
        CHECK_EVENTUALLY(usage_of(pool).created == 0u);
        REQUIRE_EQ(usage_of(pool).retirements, round + 1u);
        REQUIRE_EQ(usage_of(pool).threads_created, 2u * (round + 1u));
        REQUIRE_EQ(held_bytes(), before.held_bytes + STACK_BYTES);
    }
    (void)printf("deaths %s: %u sets ended in or between %lu jobs\n", name, AMBUSHES,
                 (unsigned long)jobs);
    (void)CHECK(jobs > AMBUSHES);
    (void)CHECK_EQ(crew_release(ambush_lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(ambush_pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

static void pthread_cancel_at_any_instant(void)
{
    ended_at_any_instant("cancelled", end_by_cancel);
}

static void rtems_task_delete_at_any_instant(void)
{
    ended_at_any_instant("deleted", end_by_delete);
}

int deaths_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(pthread_exit_in_a_job);
    RUN(pthread_cancel_in_a_job);
    RUN(rtems_task_delete_in_a_job);
    RUN(pthread_cancel_while_it_waits);
    RUN(rtems_task_delete_while_it_waits);
    RUN(rtems_task_delete_before_it_has_run);
    RUN(reaping_leaves_a_thread_of_the_same_id_alone);
    RUN(pthread_cancel_at_any_instant);
    RUN(rtems_task_delete_at_any_instant);
    return check_end();
}
