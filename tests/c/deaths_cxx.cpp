/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * C++ jobs under crew_call_cxx: an exception is a failed job and no death; a thread that ends runs
 * its destructors.
 */
#include "check_fork.h"
#include "crew_call_cxx.h"
#include "fixture.h"
#include "wrap.h"

#include <stdexcept>

namespace {

crew_pool pool;

struct Counted {
    explicit Counted(int *counter) : destroyed(counter) {}
    ~Counted() { __atomic_add_fetch(destroyed, 1, __ATOMIC_SEQ_CST); }
    Counted(const Counted &) = delete;
    Counted &operator=(const Counted &) = delete;
    int *destroyed;
};

int32_t job_throws_int(void *)
{
    throw 42;
}

int32_t job_throws_exception(void *argument)
{
    Counted on_stack(static_cast<int *>(argument));
    throw std::runtime_error("on purpose");
}

void pass_through_catch_all()
{
    try {
        pthread_exit(nullptr);
    } catch (const std::exception &) {
    }
}

int32_t job_exits(void *argument)
{
    Counted first(static_cast<int *>(argument));
    Counted second(static_cast<int *>(argument));
    pass_through_catch_all();
    return 1;
}

struct GateWithCount {
    gate at;
    int destroyed;
};

int32_t job_waits_to_be_cancelled(void *argument)
{
    GateWithCount *with = static_cast<GateWithCount *>(argument);
    Counted on_stack(&with->destroyed);
    return job_gate(&with->at);
}

bool begin()
{
    crew_pool_options options = pair_options("cxx", 1u);

    crew_port_posix_use_caller(crew_call_cxx);
    return CHECK_EQ(boot(wrap_port(), 0u), CREW_OK) &&
           CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK);
}

void finish(uint32_t retirements)
{
    CHECK_EQ(usage_of(pool).retirements, retirements);
    CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    CHECK_EQ(held_bytes(), 0);
    CHECK_EQ(wrap_threads(), 0);
    // A death's line is the last thing that the thread does, after the join of its job.
    CHECK_EQ(wrap_logged(CREW_SEVERITY_MAJOR, "cxx"), retirements);
}

void job_that_throws_has_failed()
{
    static int destroyed;
    static int32_t value = 12;
    crew_lease lease;

    if (!begin()) {
        return;
    }
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, nullptr), CREW_OK);
    for (int i = 0; i < 20; i++) {
        crew_result result = CREW_RESULT_INIT;
        crew_job job;

        REQUIRE_EQ(crew_run(lease, 0u, "throws", i % 2 == 0 ? job_throws_int : job_throws_exception,
                            &destroyed, &job),
                   CREW_OK);
        CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        CHECK_EQ(result.outcome, CREW_JOB_FAILED);
        CHECK_EQ(result.value, 0);
        REQUIRE_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
        CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        CHECK_EQ(result.outcome, CREW_JOB_RETURNED);
        CHECK_EQ(result.value, 12);
    }
    CHECK_EQ(destroyed, 10);
    CHECK_EQ(crew_release(lease), CREW_OK);
    CHECK_EQ(usage_of(pool).threads_created, 2);
    CHECK_EQ(usage_of(pool).idle, 1);
    finish(0u);
}

void detached_job_that_throws_is_told()
{
    crew_lease lease;
    int told;

    if (!begin()) {
        return;
    }
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, nullptr), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "thrown-job", job_throws_int, nullptr, nullptr), CREW_OK);
    CHECK_EQ(crew_release(lease), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, nullptr), CREW_OK);
    CHECK_EQ(crew_release(lease), CREW_OK);
    /* The set first, then the log. */
    EVENTUALLY(wrap_logged(CREW_SEVERITY_MAJOR, "thrown-job") +
                       wrap_logged(CREW_SEVERITY_MINOR, "thrown-job") ==
                   1,
               told);
    CHECK_EQ(told, 1);
    CHECK_EQ(usage_of(pool).threads_created, 2);
    CHECK_EQ(usage_of(pool).retirements, 0);
}

void exit_in_a_job_runs_destructors()
{
    static int destroyed;
    crew_result result = CREW_RESULT_INIT;
    crew_lease lease;
    crew_job job;

    if (!begin()) {
        return;
    }
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, nullptr), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 0u, "exits", job_exits, &destroyed, &job), CREW_OK);
    CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    CHECK_EQ(result.outcome, CREW_JOB_DIED);
    CHECK_EQ(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), 2);
    finish(1u);
    CHECK_EQ(crew_release(lease), CREW_RETIRED);
}

void cancel_in_a_job_runs_destructors()
{
    static GateWithCount with;
    crew_result result = CREW_RESULT_INIT;
    size_t thread = 0u;
    crew_lease lease;
    crew_job job;

    gate_init(&with.at, 0);
    if (!begin()) {
        return;
    }
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, nullptr), CREW_OK);
    REQUIRE_EQ(crew_run(lease, 1u, "waits", job_waits_to_be_cancelled, &with, &job), CREW_OK);
    CHECK(gate_pass(&with.at.begun));
    REQUIRE_EQ(crew_lease_thread(lease, 1u, &thread), CREW_OK);
    CHECK_EQ(pthread_cancel(static_cast<pthread_t>(thread)), 0);
    CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    CHECK_EQ(result.outcome, CREW_JOB_DIED);
    CHECK_EQ(__atomic_load_n(&with.destroyed, __ATOMIC_SEQ_CST), 1);
    finish(1u);
    CHECK_EQ(crew_release(lease), CREW_RETIRED);
}

} // namespace

int main()
{
    RUN_FORKED(job_that_throws_has_failed);
    RUN_FORKED(detached_job_that_throws_is_told);
    RUN_FORKED(exit_in_a_job_runs_destructors);
    RUN_FORKED(cancel_in_a_job_runs_destructors);
    return check_sum();
}
