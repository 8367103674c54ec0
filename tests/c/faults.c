/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Injected faults on real threads: the port's n-th creation of a thread or an event, or its n-th
 * answer about memory, is a no, for n = 1, 2, ... until a run meets none; once only, and from there
 * on. After each call everything that is counted twice agrees (audit.h). Each run is a process of
 * its own, because an event is made once in its life.
 */
#include "audit.h"
#include "check_fork.h"
#include "fixture.h"
#include "wrap.h"

#define ROLES 2u
/* No run makes so many calls of one kind that can fail. */
#define CALLS_MAX 300
/* Fewer than this many faults: the loops have become empty. */
#define FAULTS_MIN 100

enum { MET_NONE = 0, FAILED = 1, MET_SOME = 3 };

static const crew_role roles[ROLES] = { { "a", STACK_BYTES, 5u }, { "b", STACK_BYTES, 5u } };
static int32_t seven = 7;
static int injected;

static crew_pool_options options(void)
{
    crew_pool_options wanted = CREW_POOL_OPTIONS_INIT;

    wanted.name = "faults";
    wanted.roles = roles;
    wanted.role_count = ROLES;
    wanted.capacity = 3u;
    wanted.prestart = 1u;
    return wanted;
}

static void use(crew_lease lease)
{
    crew_result result = CREW_RESULT_INIT;
    crew_job job;
    uint32_t role;

    for (role = 0; role < ROLES; role++) {
        REQUIRE_EQ(crew_run(lease, role, "seven", job_value, &seven, &job), CREW_OK);
        REQUIRE_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
        (void)CHECK_EQ(result.value, 7);
    }
}

/* Boots, opens, grows, trims, grows again, as far as the faults let it. 1 = the pool is open. */
static int with_faults(const crew_port *port, crew_pool *pool)
{
    const crew_pool_options wanted = options();
    crew_lease leases[3];
    int held = 0;
    int i;

    if (boot(port, 0u) != CREW_OK) {
        return 0;
    }
    if (crew_pool_open(&wanted, pool) != CREW_OK) {
        CHECK_AUDIT(wrap_threads());
        return 0;
    }
    CHECK_AUDIT(wrap_threads());
    for (i = 0; i < 3; i++) {
        if (crew_acquire(*pool, 0u, &leases[held], NULL) == CREW_OK) {
            use(leases[held]);
            held++;
        }
        CHECK_AUDIT(wrap_threads());
    }
    while (held > 1) {
        (void)CHECK_EQ(crew_release(leases[--held]), CREW_OK);
    }
    (void)CHECK_EQ(crew_pool_trim(*pool, 0u), CREW_OK);
    CHECK_AUDIT(wrap_threads());
    (void)crew_acquire(*pool, 0u, &leases[held], NULL);
    CHECK_AUDIT(wrap_threads());
    return 1; /* what is leased stays leased: the close takes it */
}

/* The port is well: the pool serves and closes, and nothing is left. */
static void heals(const crew_port *port, crew_pool pool, int is_open)
{
    const crew_pool_options wanted = options();
    crew_account account = CREW_ACCOUNT_INIT;
    crew_lease lease;

    wrap_set(&wrap.fail_thread_in, 0);
    wrap_set(&wrap.fail_event_in, 0);
    wrap_set(&wrap.fail_memory_in, 0);
    if (crew_account_usage(&account) != CREW_OK) {
        REQUIRE_EQ(boot(port, 0u), CREW_OK);
    }
    if (!is_open) {
        REQUIRE_EQ(crew_pool_open(&wanted, &pool), CREW_OK);
    }
    REQUIRE_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK);
    use(lease);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    CHECK_AUDIT(wrap_threads());
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(wrap_threads(), 0);
    CHECK_AUDIT(0);
}

/* One run, in a process of its own. */
static int run(int *countdown, int nth, int from_there_on)
{
    const crew_port *port;
    crew_pool pool = { 0u };
    int status = 0;
    pid_t child;

    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        char name[64];

        (void)alarm(CHECK_FORK_SECONDS);
        check.failures_here = 0;
        port = wrap_port();
        wrap.error = ENOMEM;
        wrap_set(&wrap.from_there_on, from_there_on);
        wrap_set(countdown, nth);
        heals(port, pool, with_faults(port, &pool));
        (void)snprintf(name, sizeof(name), "call %d%s", nth,
                       from_there_on ? " and all after it" : "");
        if (check.failures_here > 0) {
            (void)check_line(name);
            _exit(FAILED);
        }
        _exit(wrap_read(&wrap.faults) > 0 ? MET_SOME : MET_NONE);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static void sweep(int *countdown)
{
    int from_there_on;
    int met;
    int nth;

    for (from_there_on = 0; from_there_on <= 1; from_there_on++) {
        met = MET_SOME;
        for (nth = 1; nth <= CALLS_MAX && met == MET_SOME; nth++) {
            met = run(countdown, nth, from_there_on);
            injected += met == MET_SOME;
        }
        (void)CHECK_EQ(met, MET_NONE);
        (void)CHECK(nth > 2);
    }
}

static void nth_thread(void)
{
    sweep(&wrap.fail_thread_in);
}

static void nth_event(void)
{
    sweep(&wrap.fail_event_in);
}

static void nth_answer_about_memory(void)
{
    sweep(&wrap.fail_memory_in);
}

static void the_loops_were_not_empty(void)
{
    (void)printf("%d faults injected\n", injected);
    (void)CHECK(injected >= FAULTS_MIN);
}

int main(void)
{
    RUN(nth_thread);
    RUN(nth_event);
    RUN(nth_answer_about_memory);
    RUN(the_loops_were_not_empty);
    return check_sum();
}
