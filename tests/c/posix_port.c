/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the POSIX port promises beyond what every port does: how its threads look, and what happens
 * without a key.
 */
#include "check_fork.h"
#include "crew_port_posix.h"
#include "fixture.h"
#include "wrap.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

/*
 * Stands in front of the C library's: a system that has no memory for a thread's first specific
 * value.
 */
static int no_specific;

#ifdef __cplusplus
extern "C" int pthread_setspecific(pthread_key_t key, const void *value) throw();
#endif

int pthread_setspecific(pthread_key_t key, const void *value)
#ifdef __cplusplus
    throw()
#endif
{
    int (*next)(pthread_key_t, const void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_setspecific");

    if (wrap_read(&no_specific)) {
        return ENOMEM;
    }
    memcpy(&next, &symbol, sizeof(next));
    return next(key, value);
}

typedef struct looks {
    char name[32];
    size_t stack_bytes;
    int policy;
    int priority;
    int blocks_term;
    int blocks_segv;
} looks;

static int32_t job_looks(void *argument)
{
    looks *seen = (looks *)argument;
    struct sched_param param;
    pthread_attr_t attr;
    sigset_t blocked;

    (void)pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        (void)pthread_attr_getstacksize(&attr, &seen->stack_bytes);
        (void)pthread_attr_destroy(&attr);
    }
    (void)pthread_getschedparam(pthread_self(), &seen->policy, &param);
    seen->priority = param.sched_priority;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    seen->blocks_term = sigismember(&blocked, SIGTERM);
    seen->blocks_segv = sigismember(&blocked, SIGSEGV);
    return 0;
}

static looks look_at(const crew_role *role)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    looks seen;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    memset(&seen, 0, sizeof(seen));
    options.name = "pool";
    options.flags = CREW_POOL_ROLE_NAMES;
    options.roles = role;
    options.role_count = 1u;
    options.capacity = 1u;
    (void)CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_run(lease, 0u, "looks", job_looks, &seen, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    return seen;
}

static void threads_look_as_asked(void)
{
    static const crew_role longest = { "fifteen-letters", 100001u, 50u };
    static const crew_role smallest = { "s", CREW_STACK_MIN, 0u };
    static const crew_role highest = { "h", STACK_BYTES, CREW_PRIORITY_MAX };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    sigset_t before;
    sigset_t after;
    looks seen;

    REQUIRE_EQ(boot(wrap_port(), 0u), CREW_OK);
    (void)sigemptyset(&before);
    (void)sigaddset(&before, SIGUSR1);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    seen = look_at(&longest);
    (void)CHECK(strcmp(seen.name, "fifteen-letters") == 0);
    (void)CHECK_EQ(seen.stack_bytes % page, 0);
    (void)CHECK(seen.stack_bytes >= 100001u && seen.stack_bytes < 100001u + page);
    (void)CHECK_EQ(seen.blocks_term, 1);
    (void)CHECK_EQ(seen.blocks_segv, 0);
    if (seen.policy == SCHED_FIFO) {
        (void)CHECK_EQ(look_at(&smallest).priority, sched_get_priority_min(SCHED_FIFO));
        (void)CHECK_EQ(look_at(&highest).priority, sched_get_priority_max(SCHED_FIFO));
        (void)CHECK(seen.priority > 40 && seen.priority < 60);
    } else {
        (void)CHECK_EQ(seen.policy, SCHED_OTHER);
    }
    (void)CHECK(look_at(&smallest).stack_bytes >= (size_t)PTHREAD_STACK_MIN);
    /* The creator's own mask is as it was. */
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    (void)CHECK_EQ(sigismember(&after, SIGUSR1), 1);
    (void)CHECK_EQ(sigismember(&after, SIGTERM), 0);
}

static void on_signal(int number)
{
    (void)number;
}

static void *interrupt_main(void *argument)
{
    pthread_t waiter = *(pthread_t *)argument;
    int i;

    for (i = 0; i < 20; i++) {
        (void)pthread_kill(waiter, SIGUSR1);
        pause_ms(2u);
    }
    return NULL;
}

static void interrupted_wait_keeps_its_bound(void)
{
    const crew_port *port = crew_port_posix();
    struct sigaction action;
    crew_event event = { 0u, 0u, NULL };
    pthread_t self = pthread_self();
    pthread_t thread;
    uint64_t waited;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    (void)sigaction(SIGUSR1, &action, NULL);
    REQUIRE_EQ(port->event_create(port->context, &event), 0);
    REQUIRE_EQ(pthread_create(&thread, NULL, interrupt_main, &self), 0);
    waited = port->clock_ms(port->context);
    (void)CHECK_EQ(port->event_wait(port->context, &event, 100u), 0);
    waited = port->clock_ms(port->context) - waited;
    (void)CHECK(waited >= 99u && waited < LONG_MS);
    (void)pthread_join(thread, NULL);
}

#ifndef CREW_PORT_WITHOUT_FUTEX
/* How often the calling thread has gone to sleep so far. */
static long sleeps(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/*
 * Giver and worker on one CPU at one real-time priority: each lets the other go first instead of
 * sleeping.
 */
static void hand_over_at_one_priority_needs_no_sleep(void)
{
    enum { ROUNDS = 200 };
    static const crew_role role = { "partner", STACK_BYTES, 20u };
    static int32_t value = 1;
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    struct sched_param param;
    cpu_set_t one;
    crew_pool pool;
    crew_lease lease;
    crew_job job;
    long before;
    int i;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    REQUIRE_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    memset(&param, 0, sizeof(param));
    /* As the port maps it. */
    param.sched_priority = 1 + 20 * (sched_get_priority_max(SCHED_FIFO) - 1) / CREW_PRIORITY_MAX;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) != 0) {
        (void)puts("skipped: this process may not use SCHED_FIFO");
        return;
    }
    REQUIRE_EQ(boot(wrap_port(), 0u), CREW_OK);
    options.name = "pool";
    options.roles = &role;
    options.role_count = 1u;
    options.capacity = 1u;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    before = sleeps();
    for (i = 0; i < ROUNDS; i++) {
        REQUIRE_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
        REQUIRE_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    }
    (void)CHECK(sleeps() - before < ROUNDS / 4);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}
#endif

/*
 * Stands in front of the C library's: what a kernel answers whose limit for real-time priorities
 * ends at `fifo_permitted`. 0: it permits whatever the process may.
 */
static int fifo_permitted;

#ifdef __cplusplus
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                              void *argument) throw();
#endif

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                   void *argument)
#ifdef __cplusplus
    throw()
#endif
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    struct sched_param param;
    int policy = SCHED_OTHER;

    memcpy(&next, &symbol, sizeof(next));
    if (attr == NULL || wrap_read(&fifo_permitted) == 0) {
        return next(thread, attr, start, argument);
    }
    (void)pthread_attr_getschedpolicy(attr, &policy);
    (void)pthread_attr_getschedparam(attr, &param);
    if (policy == SCHED_FIFO && param.sched_priority > wrap_read(&fifo_permitted)) {
        return EPERM;
    }
    return next(thread, attr, start, argument);
}

/* The part of the range that is permitted is what all roles are spread over, in their order. */
static void roles_keep_their_order_under_a_limit(void)
{
    static const crew_role roles[3] = { { "low", STACK_BYTES, 10u },
                                        { "middle", STACK_BYTES, 50u },
                                        { "high", STACK_BYTES, 80u } };
    looks low;
    looks middle;
    looks high;

    wrap_set(&fifo_permitted, 30);
    REQUIRE_EQ(boot(wrap_port(), 0u), CREW_OK);
    low = look_at(&roles[0]);
    middle = look_at(&roles[1]);
    high = look_at(&roles[2]);
    if (low.policy != SCHED_FIFO) {
        (void)puts("skipped: this process may not use SCHED_FIFO");
        return;
    }
    (void)CHECK_EQ(middle.policy, SCHED_FIFO);
    (void)CHECK_EQ(high.policy, SCHED_FIFO);
    (void)CHECK(low.priority < middle.priority && middle.priority < high.priority);
    (void)CHECK(high.priority <= 30);
}

/* Makes `end` the process's standard error: a pipe or a socket that takes no byte any more. */
static void full_standard_error(int end)
{
    static const char filler[4096] = "";
    const int flags = fcntl(end, F_GETFL);
    size_t piece;

    (void)fcntl(end, F_SETFL, flags | O_NONBLOCK);
    for (piece = sizeof(filler); piece > 0u; piece /= 2u) {
        while (write(end, filler, piece) > 0) {
        }
    }
    (void)fcntl(end, F_SETFL, flags);
    (void)dup2(end, STDERR_FILENO);
}

/* Reads from `end` until nothing is left, and answers whether `text` was in it. */
static int read_has(int end, const char *text)
{
    static char all[1 << 20];
    size_t have = 0;
    size_t at;
    ssize_t got;

    (void)fcntl(end, F_SETFL, O_NONBLOCK);
    while (have < sizeof(all) - 1u && (got = read(end, all + have, sizeof(all) - 1u - have)) > 0) {
        have += (size_t)got;
    }
    all[have] = '\0';
    for (at = 0; at < have && all[at] == '\0'; at++) {
    }
    return strstr(all + at, text) != NULL;
}

static int32_t job_ends_its_thread(void *argument)
{
    (void)argument;
    pthread_exit(NULL);
    return 0;
}

/* A member's death is said to a standard error that nothing reads. No call waits for that, and the
   next line that is read tells how many were lost. */
static void no_call_waits_for_a_reader_of(int reader, int writer)
{
    const crew_port *port = crew_port_posix();
    crew_pool_options options = pair_options("unread", 1u);
    crew_result result = CREW_RESULT_INIT;
    const int own = dup(STDERR_FILENO);
    crew_pool pool;
    crew_lease lease;
    crew_job job;
    int32_t joined;
    int32_t closed;

    REQUIRE_EQ(boot(port, 0u), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    full_standard_error(writer);
    (void)crew_run(lease, 0u, "ends", job_ends_its_thread, NULL, &job);
    joined = crew_join(job, LONG_MS, &result);
    (void)crew_release(lease);
    closed = crew_pool_close(pool, LONG_MS);
    (void)read_has(reader, "");
    port->log(port->context, CREW_SEVERITY_INFO, "read again");
    (void)dup2(own, STDERR_FILENO);
    (void)CHECK_EQ(joined, CREW_OK);
    (void)CHECK_EQ(result.outcome, CREW_JOB_DIED);
    (void)CHECK_EQ(closed, CREW_OK);
    (void)CHECK(read_has(reader, "lines lost before this one: 1\ncrew: info: read again\n"));
}

static void no_call_waits_for_a_pipes_reader(void)
{
    int ends[2];

    REQUIRE_EQ(pipe(ends), 0);
    no_call_waits_for_a_reader_of(ends[0], ends[1]);
}

static void no_call_waits_for_a_sockets_reader(void)
{
    int ends[2];

    REQUIRE_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    no_call_waits_for_a_reader_of(ends[0], ends[1]);
}

static void no_port_without_a_key(void)
{
    pthread_key_t key;
    int i;

    for (i = 0; i < 100000 && pthread_key_create(&key, NULL) == 0; i++) {
    }
    (void)CHECK_EQ(crew_worker_hook_init(), EAGAIN);
    (void)CHECK(crew_port_posix() == NULL);
}

/* A worker whose end could not be noticed ends before it does anything. */
static void worker_that_cannot_be_accounted_for_does_not_run(void)
{
    static int32_t value = 1;
    crew_pool_options options = pair_options("unhooked", 1u);
    crew_pool pool;
    crew_lease lease;
    int32_t status;

    REQUIRE_EQ(boot(wrap_port(), 0u), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    wrap_set(&no_specific, 1);
    status = crew_acquire(pool, 0u, &lease, NULL);
    (void)CHECK(status == CREW_OK || status == CREW_REFUSED_SPAWN_FAILED);
    CHECK_EVENTUALLY(crew_pool_trim(pool, 1u) == CREW_OK && held_bytes() == 0u);
    (void)CHECK_EQ(usage_of(pool).created, 0);
    (void)CHECK_EQ(wrap_threads(), 0);
    if (status == CREW_OK) {
        (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, NULL), CREW_NOT_RUN);
        (void)CHECK_EQ(crew_release(lease), CREW_RETIRED);
    }
    wrap_set(&no_specific, 0);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

int main(void)
{
    RUN_FORKED(threads_look_as_asked);
    RUN_FORKED(interrupted_wait_keeps_its_bound);
#ifndef CREW_PORT_WITHOUT_FUTEX
    RUN_FORKED(hand_over_at_one_priority_needs_no_sleep);
#endif
    RUN_FORKED(roles_keep_their_order_under_a_limit);
    RUN_FORKED(no_call_waits_for_a_pipes_reader);
    RUN_FORKED(no_call_waits_for_a_sockets_reader);
    RUN_FORKED(no_port_without_a_key);
    RUN_FORKED(worker_that_cannot_be_accounted_for_does_not_run);
    return check_sum();
}
