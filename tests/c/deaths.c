/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Threads that end inside a job or while they wait for one. However a thread ends: its bytes come
 * back, its set is retired once and said so once at major severity, joiners are told, and a lease
 * on the dead set changes nothing.
 */
#include "check_fork.h"
#include "fixture.h"
#include "proc_status.h"
#include "wrap.h"

static crew_pool pool;
/* Some tools have a thread of their own. */
static int threads_before;

static int32_t job_exits(void *argument)
{
    (void)argument;
    pthread_exit(NULL);
    return 1;
}

/* Ends its thread when its gate opens. */
static int32_t job_exits_at_gate(void *argument)
{
    (void)job_gate(argument);
    pthread_exit(NULL);
    return 1;
}

static int32_t job_spins_asynchronous(void *argument)
{
    gate *at = (gate *)argument;
    volatile uint32_t turns = 0u;
    int type;

    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    (void)sem_post(&at->begun);
    while (turns < 4000000000u) {
        turns++;
    }
    return 1;
}

static int32_t job_turns_cancellation_off(void *argument)
{
    int ignored;

    (void)argument;
    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &ignored);
    return pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
}

/* The next job of that worker: it must find state and type as a new thread has them. */
static int32_t job_reads_cancellation(void *argument)
{
    int state;
    int type;
    int ignored;

    (void)argument;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    (void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    (void)pthread_setcancelstate(state, &ignored);
    return state == PTHREAD_CANCEL_ENABLE && type == PTHREAD_CANCEL_DEFERRED ? 1 : 0;
}

static int begin(uint32_t capacity)
{
    crew_pool_options options = pair_options("mortal", capacity);

    threads_before = threads_alive();
    return CHECK_EQ(boot(wrap_port(), 0u), CREW_OK) &&
           CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK);
}

static int cancel(crew_lease lease, uint32_t role)
{
    size_t thread = 0u;

    return CHECK_EQ(crew_lease_thread(lease, role, &thread), CREW_OK) &&
           CHECK_EQ(pthread_cancel((pthread_t)thread), 0);
}

/*
 * The set is gone: nothing created, nothing held, no thread, one announcement. The next caller on a
 * cold path joins dead threads; the trim here is one.
 */
static void set_is_gone(uint32_t retirements)
{
    CHECK_EVENTUALLY(crew_pool_trim(pool, 8u) == CREW_OK && usage_of(pool).created == 0u &&
                     held_bytes() == 0u && wrap_threads() == 0);
    (void)CHECK_EQ(usage_of(pool).created, 0);
    (void)CHECK_EQ(usage_of(pool).busy, 0);
    (void)CHECK_EQ(usage_of(pool).idle, 0);
    (void)CHECK_EQ(usage_of(pool).retirements, retirements);
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(wrap_threads(), 0);
    CHECK_EVENTUALLY(threads_alive() == threads_before);
    (void)CHECK_EQ(wrap_logged(CREW_SEVERITY_MAJOR, "mortal"), retirements);
}

/*
 * A release that races the end of the set's threads: it may still find the lease, or no longer.
 * Both are right.
 */
static void check_released_early(crew_lease lease)
{
    int32_t status = crew_release(lease);

    (void)CHECK(status == CREW_OK || status == CREW_RETIRED);
}

/* A new set takes the dead one's slot and works. */
static void pool_serves_on(void)
{
    static int32_t value = 31;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
    (void)CHECK_EQ(result.value, 31);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(wrap_threads(), 0);
}

static void return_is_no_death(void)
{
    if (begin(1u)) {
        pool_serves_on();
    }
    (void)CHECK_EQ(wrap_logged(CREW_SEVERITY_MAJOR, ""), 0);
    CHECK_EVENTUALLY(threads_alive() == threads_before);
}

static void exit_in_a_job_kills_its_set(void)
{
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    REQUIRE(begin(1u));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(held_bytes(), PAIR_BYTES);
    REQUIRE_EQ(crew_run(lease, 0u, "exits", job_exits, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)CHECK_EQ(crew_join(job, 0u, NULL), CREW_STALE);
    set_is_gone(1u);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    set_is_gone(1u);
    pool_serves_on();
}

/* Cancels the worker of a role inside a job that has begun. */
static void cancel_kills_its_set(uint32_t role, const char *label, crew_function function)
{
    gate at;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    REQUIRE(begin(1u));
    gate_init(&at, 1);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, role, label, function, &at, &job), CREW_OK);
    (void)CHECK(gate_pass(&at.begun));
    (void)CHECK(cancel(lease, role));
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    set_is_gone(1u);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    set_is_gone(1u);
    pool_serves_on();
}

static void cancel_in_a_job_kills_its_set(void)
{
    cancel_kills_its_set(1u, "gate", job_gate);
}

static void asynchronous_cancel_in_a_job_kills_its_set(void)
{
    cancel_kills_its_set(0u, "spins", job_spins_asynchronous);
}

static void cancel_of_a_parked_worker_kills_its_leased_set(void)
{
    static int32_t value = 1;
    crew_lease lease;
    crew_job job = { 0u };

    REQUIRE(begin(1u));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK(cancel(lease, 1u));
    set_is_gone(1u);
    /* The slot is back while the lease still exists; the lease can do nothing. */
    (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_NOT_RUN);
    (void)CHECK_EQ(crew_run(lease, 1u, "value", job_value, &value, &job), CREW_NOT_RUN);
    (void)CHECK_EQ(job.bits, 0);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    set_is_gone(1u);
    pool_serves_on();
}

static void cancel_of_a_parked_worker_kills_its_idle_set(void)
{
    size_t thread = 0u;
    crew_lease lease;

    REQUIRE(begin(1u));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, &thread), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).idle, 1);
    (void)CHECK_EQ(pthread_cancel((pthread_t)thread), 0);
    set_is_gone(1u);
    pool_serves_on();
}

/*
 * A slot that comes back under a live lease serves the next borrower, and the old lease cannot
 * reach it.
 */
static void slot_returns_under_a_live_lease(void)
{
    static int32_t value = 5;
    crew_lease dead;
    crew_lease lease;
    crew_job job;

    REQUIRE(begin(1u));
    REQUIRE_EQ(crew_acquire(pool, 0u, &dead, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(dead, 0u, "exits", job_exits, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).created, 1);
    (void)CHECK_EQ(usage_of(pool).busy, 1);
    (void)CHECK_EQ(held_bytes(), PAIR_BYTES);
    (void)CHECK_EQ(crew_run(dead, 0u, "value", job_value, &value, NULL), CREW_NOT_RUN);
    (void)CHECK_EQ(crew_release(dead), CREW_RETIRED);
    (void)CHECK_EQ(usage_of(pool).busy, 1);
    (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(usage_of(pool).idle, 1);
    (void)CHECK_EQ(usage_of(pool).retirements, 1);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(wrap_threads(), 0);
}

/*
 * The sibling finishes its job first; its result is kept, and the set goes when the sibling has
 * gone.
 */
static void sibling_finishes_its_job(void)
{
    gate at;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job dying;
    crew_job living;

    REQUIRE(begin(1u));
    gate_init(&at, 77);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 1u, "gate", job_gate, &at, &living), CREW_OK);
    (void)CHECK(gate_pass(&at.begun));
    REQUIRE_EQ(crew_run(lease, 0u, "exits", job_exits, NULL, &dying), CREW_OK);
    (void)CHECK_EQ(crew_join(dying, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)CHECK_EQ(usage_of(pool).created, 1);
    (void)CHECK_EQ(usage_of(pool).idle, 0);
    (void)CHECK_EQ(crew_join(living, 10u, NULL), CREW_TIMED_OUT);
    (void)sem_post(&at.open);
    (void)CHECK_EQ(crew_join(living, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
    (void)CHECK_EQ(result.value, 77);
    set_is_gone(1u);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    pool_serves_on();
}

static void both_members_die_and_it_is_said_once(void)
{
    gate first;
    gate second;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job jobs[2];
    int i;

    REQUIRE(begin(2u));
    gate_init(&first, 0);
    gate_init(&second, 0);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "dies", job_exits_at_gate, &first, &jobs[0]), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 1u, "dies", job_exits_at_gate, &second, &jobs[1]), CREW_OK);
    (void)CHECK(gate_pass(&first.begun));
    (void)CHECK(gate_pass(&second.begun));
    (void)sem_post(&first.open);
    (void)sem_post(&second.open);
    for (i = 0; i < 2; i++) {
        (void)CHECK_EQ(crew_join(jobs[i], LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    }
    check_released_early(lease);
    set_is_gone(1u);
    pool_serves_on();
}

/*
 * A worker's wait that, once woken, stays where it is: the job has been given, and the worker has
 * not looked.
 */
static sem_t waits;
static sem_t woken;
static sem_t never;

static int32_t wait_and_stay(void *context, crew_event *event, uint32_t timeout_ms)
{
    int32_t posted;

    (void)sem_post(&waits);
    posted = wrap.inner->event_wait(context, event, timeout_ms);
    (void)sem_post(&woken);
    (void)gate_pass(&never);
    return posted;
}

static void *stay_main(void *argument)
{
    static crew_port own;

    own.event_wait = wait_and_stay;
    crew_worker_main((uint32_t)(uintptr_t)argument, &own, NULL);
    return NULL;
}

static int32_t stay_create(void *context, const crew_thread_spec *spec, size_t *thread)
{
    pthread_t made;
    int error = pthread_create(&made, NULL, stay_main, (void *)(uintptr_t)spec->worker);

    (void)context;
    if (error == 0) {
        wrap_add(&wrap.threads_made);
        *thread = (size_t)made;
    }
    return error;
}

static void job_given_and_not_begun_is_not_run(void)
{
    static crew_role role = { "stays", STACK_BYTES, 10u };
    static crew_port port;
    static int32_t value = 3;
    crew_pool_options options = pair_options("mortal", 1u);
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    threads_before = threads_alive();
    (void)sem_init(&waits, 0, 0u);
    (void)sem_init(&woken, 0, 0u);
    (void)sem_init(&never, 0, 0u);
    port = *wrap_port();
    port.thread_create = stay_create;
    options.roles = &role;
    options.role_count = 1u;
    REQUIRE_EQ(boot(&port, 0u), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK(gate_pass(&waits));
    REQUIRE_EQ(crew_run(lease, 0u, "given", job_value, &value, &job), CREW_OK);
    (void)CHECK(gate_pass(&woken));
    (void)CHECK_EQ(crew_join(job, 0u, &result), CREW_TIMED_OUT);
    (void)CHECK(cancel(lease, 0u));
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_NOT_RUN);
    (void)CHECK_EQ(result.value, 0);
    set_is_gone(1u);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

/*
 * The same without a script: cancelled, and given a job at once. Whichever comes first, the job is
 * settled.
 */
static void job_given_to_a_dying_worker_is_settled(void)
{
    enum { ROUNDS = 40 };
    int settled = 0;
    int i;

    REQUIRE(begin(2u));
    for (i = 0; i < ROUNDS; i++) {
        gate at;
        crew_result result = CREW_RESULT_INIT;
        crew_lease lease;
        crew_job job;
        int32_t status;

        gate_init(&at, 0);
        REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
        (void)CHECK(cancel(lease, 0u));
        status = crew_run(lease, 0u, "given", job_gate, &at, &job);
        if (status == CREW_OK) {
            (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
            settled += result.outcome == CREW_JOB_NOT_RUN || result.outcome == CREW_JOB_DIED;
        } else {
            settled += status == CREW_NOT_RUN;
        }
        CHECK_EVENTUALLY(crew_pool_trim(pool, 8u) == CREW_OK && usage_of(pool).created == 0u);
        (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    }
    (void)CHECK_EQ(settled, ROUNDS);
    set_is_gone(ROUNDS);
    pool_serves_on();
}

/* No caller joins a detached job, so the log tells its end, under its label. */
static void detached_job_that_dies_is_told(void)
{
    crew_lease lease;

    REQUIRE(begin(1u));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "doomed-job", job_exits, NULL, NULL), CREW_OK);
    CHECK_EVENTUALLY(crew_pool_trim(pool, 8u) == CREW_OK && usage_of(pool).created == 0u);
    (void)CHECK_EQ(wrap_logged(CREW_SEVERITY_MAJOR, "doomed-job") +
                       wrap_logged(CREW_SEVERITY_MINOR, "doomed-job"),
                   1);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    (void)CHECK_EQ(usage_of(pool).retirements, 1);
}

static void many_deaths_leave_nothing(void)
{
    enum { ROUNDS = 60 };
    int i;

    REQUIRE(begin(2u));
    for (i = 0; i < ROUNDS; i++) {
        crew_result result = CREW_RESULT_INIT;
        crew_lease lease;
        crew_job job;

        REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
        (void)CHECK_EQ(crew_run(lease, (uint32_t)i % 2u, "exits", job_exits, NULL, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
        check_released_early(lease);
    }
    set_is_gone(ROUNDS);
    (void)CHECK_EQ(wrap_read(&wrap.threads_made), 2 * ROUNDS);
    pool_serves_on();
}

static void cancel_mode_of_a_job_ends_with_it(void)
{
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    REQUIRE(begin(1u));
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "off", job_turns_cancellation_off, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
    REQUIRE_EQ(crew_run(lease, 0u, "read", job_reads_cancellation, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.value, 1);
    /* And the parked worker can be cancelled as before. */
    (void)CHECK(cancel(lease, 0u));
    set_is_gone(1u);
    (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
}

static void death_while_closing_is_clean(void)
{
    gate at;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    REQUIRE(begin(1u));
    gate_init(&at, 0);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "dies", job_exits_at_gate, &at, &job), CREW_OK);
    (void)CHECK(gate_pass(&at.begun));
    (void)CHECK_EQ(crew_pool_close(pool, 0u), CREW_TIMED_OUT);
    (void)sem_post(&at.open);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(wrap_threads(), 0);
    CHECK_EVENTUALLY(threads_alive() == threads_before);
}

/* A log that takes its time with a death: until it is let go. */
static sem_t log_goes_on;
static int log_gave_up;

static void log_that_lingers(void *context, int32_t severity, const char *text)
{
    struct timespec until;

    (void)context;
    (void)text;
    if (severity == CREW_SEVERITY_MAJOR) {
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 30;
        if (sem_timedwait(&log_goes_on, &until) != 0) {
            wrap_set(&log_gave_up, 1);
        }
    }
}

/* The joiner has the result while the log still has the line. */
static void no_job_waits_for_the_line_of_a_death(void)
{
    static crew_port port;
    crew_pool_options options = pair_options("mortal", 1u);
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    port = *wrap_port();
    port.log = log_that_lingers;
    REQUIRE_EQ(sem_init(&log_goes_on, 0, 0u), 0);
    REQUIRE_EQ(boot(&port, 0u), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "dies", job_exits, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)CHECK_EQ(wrap_read(&log_gave_up), 0);
    (void)sem_post(&log_goes_on);
    (void)crew_release(lease); /* CREW_OK or, if the set is gone already, CREW_RETIRED */
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(wrap_threads(), 0);
}

int main(void)
{
    RUN_FORKED(return_is_no_death);
    RUN_FORKED(exit_in_a_job_kills_its_set);
    RUN_FORKED(cancel_in_a_job_kills_its_set);
    RUN_FORKED(asynchronous_cancel_in_a_job_kills_its_set);
    RUN_FORKED(cancel_of_a_parked_worker_kills_its_leased_set);
    RUN_FORKED(cancel_of_a_parked_worker_kills_its_idle_set);
    RUN_FORKED(slot_returns_under_a_live_lease);
    RUN_FORKED(sibling_finishes_its_job);
    RUN_FORKED(both_members_die_and_it_is_said_once);
    RUN_FORKED(job_given_and_not_begun_is_not_run);
    RUN_FORKED(job_given_to_a_dying_worker_is_settled);
    RUN_FORKED(detached_job_that_dies_is_told);
    RUN_FORKED(many_deaths_leave_nothing);
    RUN_FORKED(cancel_mode_of_a_job_ends_with_it);
    RUN_FORKED(death_while_closing_is_clean);
    RUN_FORKED(no_job_waits_for_the_line_of_a_death);
    return check_sum();
}
