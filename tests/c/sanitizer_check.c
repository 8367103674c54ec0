/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Makes the errors that this build's sanitizers exist to find, each in a child, and looks for their
 * reports.
 */
#include "check.h"
#include "check_fork.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#error "compile this with -fsanitize=address,undefined or -fsanitize=thread"
#endif

#include "crew_port_posix.h"

#include <limits.h>

/* The child's standard error, read to its end. */
static void report_of(void (*wrong)(void), char *text, size_t size)
{
    int ends[2];
    size_t used = 0u;
    ssize_t got = 1;
    pid_t child;

    text[0] = '\0';
    if (!CHECK(pipe(ends) == 0)) {
        return;
    }
    child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)alarm(60u);
        wrong();
        _exit(0);
    }
    (void)close(ends[1]);
    while (used < size - 1u && got > 0) {
        got = read(ends[0], text + used, size - 1u - used);
        used += got > 0 ? (size_t)got : 0u;
    }
    text[used] = '\0';
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
}

static char report[4000];

#ifdef __SANITIZE_ADDRESS__
static volatile int sink;

static void write_beyond_the_block(void)
{
    /* Volatile twice: the compiler neither sees it coming nor drops a store that is never read. */
    volatile char *volatile block = (volatile char *)malloc(100u);

    if (block != NULL) {
        block[100] = 1;
    }
    free((void *)(uintptr_t)block);
}

static void overflow(void)
{
    volatile int most = INT_MAX;

    sink = most + 1;
}

static void address_sanitizer_is_in(void)
{
    report_of(write_beyond_the_block, report, sizeof(report));
    (void)CHECK_CONTAINS(report, "heap-buffer-overflow");
}

static void undefined_behaviour_sanitizer_is_in(void)
{
    report_of(overflow, report, sizeof(report));
    (void)CHECK_CONTAINS(report, "signed integer overflow");
}
#endif

#ifdef __SANITIZE_THREAD__
static int shared;

static int32_t count_up(void *argument)
{
    int i;

    (void)argument;
    for (i = 0; i < 1000; i++) {
        shared++;
    }
    return 0;
}

/*
 * Touches what the job touches before it has joined the job. `threads` tests that a join makes it
 * right.
 */
static void race_with_a_job(void)
{
    static const crew_role role = { "racer", 65536u, 10u };
    crew_boot_options boot = CREW_BOOT_OPTIONS_INIT;
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    boot.port = crew_port_posix();
    options.name = "race";
    options.roles = &role;
    options.role_count = 1u;
    options.capacity = 1u;
    if (crew_boot(&boot) == CREW_OK && crew_pool_open(&options, &pool) == CREW_OK &&
        crew_acquire(pool, 0u, &lease, NULL) == CREW_OK &&
        crew_run(lease, 0u, "race", count_up, NULL, &job) == CREW_OK) {
        (void)count_up(NULL);
        (void)crew_join(job, 10000u, NULL);
    }
}

static void thread_sanitizer_is_in(void)
{
    report_of(race_with_a_job, report, sizeof(report));
    (void)CHECK_CONTAINS(report, "data race");
}
#endif

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
    RUN(address_sanitizer_is_in);
    RUN(undefined_behaviour_sanitizer_is_in);
#endif
#ifdef __SANITIZE_THREAD__
    RUN(thread_sanitizer_is_in);
#endif
    return check_sum();
}
