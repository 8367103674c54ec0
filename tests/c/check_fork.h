/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A test in a process of its own, for calls that succeed once per process (crew_boot, crew_seal).
 * The child prints the test's line; if it died or ran out of time, the parent does.
 */
#ifndef CHECK_FORK_H
#define CHECK_FORK_H

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Every wait in a test is bounded; this bound is for the bugs. Generous, because tools slow a test
 * down twentyfold.
 */
#define CHECK_FORK_SECONDS 120u

static inline int check_wait(pid_t child, const char *name)
{
    char text[160];
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            status = -1;
            break;
        }
    }
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 1)) {
        return WEXITSTATUS(status) == 0;
    }
    if (WIFSIGNALED(status)) {
        (void)snprintf(text, sizeof(text), "FAILED %s: ended by signal %d%s", name,
                       WTERMSIG(status), WTERMSIG(status) == SIGALRM ? " (out of time)" : "");
    } else {
        (void)snprintf(text, sizeof(text), "FAILED %s: ended with exit status %d", name,
                       WEXITSTATUS(status));
    }
    check.print(check.context, text);
    return 0;
}

static inline void check_run_forked(const char *name, void (*test)(void))
{
    pid_t child;

    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        check.failures_here = 0;
        (void)alarm(CHECK_FORK_SECONDS);
        test();
        exit(check_line(name) ? 0 : 1);
    }
    if (child < 0) {
        check.failures_here = 0;
        (void)CHECK(child >= 0);
        check_count(check_line(name));
        return;
    }
    check_count(check_wait(child, name));
}

#define RUN_FORKED(test) check_run_forked(#test, test)

#endif
