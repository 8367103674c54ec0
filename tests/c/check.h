/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the C tests report with: one line per test, and a last line with the sums. Needs nothing of
 * an operating system, so that a suite that uses only this runs on any target; compiles as C99 and
 * as C++.
 *
 * A test is a void function without arguments. CHECK and CHECK_EQ note a failure and go on; REQUIRE
 * leaves the test. They are for the thread that runs the test: a job stores what it saw and the
 * test looks at it.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct check_state {
    void (*print)(void *context, const char *line);
    void *context;
    int passed;
    int failed;
    int failures_here;
    char first[400];
} check_state;

static void check_to_stdout(void *context, const char *line)
{
    (void)context;
    (void)puts(line);
    (void)fflush(stdout);
}

static check_state check = { check_to_stdout, NULL, 0, 0, 0, "" };

static inline int check_true(int ok, const char *what, const char *file, int line)
{
    if (!ok && check.failures_here++ == 0) {
        (void)snprintf(check.first, sizeof(check.first), "%s:%d: %s", file, line, what);
    }
    return ok;
}

static inline int check_equal(int64_t actual, int64_t expected, const char *what, const char *file,
                              int line)
{
    if (actual != expected && check.failures_here++ == 0) {
        (void)snprintf(check.first, sizeof(check.first), "%s:%d: %s is %lld, expected %lld", file,
                       line, what, (long long)actual, (long long)expected);
    }
    return actual == expected;
}

static inline int check_text(const char *actual, const char *part, const char *file, int line)
{
    if (strstr(actual, part) == NULL && check.failures_here++ == 0) {
        (void)snprintf(check.first, sizeof(check.first),
                       "%s:%d: \"%.150s\" does not contain \"%.100s\"", file, line, actual, part);
        return 0;
    }
    return 1;
}

#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_EQ(actual, expected) \
    check_equal((int64_t)(actual), (int64_t)(expected), #actual, __FILE__, __LINE__)
#define CHECK_CONTAINS(actual, part) check_text(actual, part, __FILE__, __LINE__)
#define REQUIRE(condition) \
    do { \
        if (!CHECK(condition)) { \
            return; \
        } \
    } while (0)
#define REQUIRE_EQ(actual, expected) \
    do { \
        if (!CHECK_EQ(actual, expected)) { \
            return; \
        } \
    } while (0)

/* Prints the line of a test that has run in this process. 1 = it passed. */
static inline int check_line(const char *name)
{
    char text[512];

    if (check.failures_here == 0) {
        (void)snprintf(text, sizeof(text), "ok %s", name);
    } else if (check.failures_here == 1) {
        (void)snprintf(text, sizeof(text), "FAILED %s: %s", name, check.first);
    } else {
        (void)snprintf(text, sizeof(text), "FAILED %s: %s (and %d more)", name, check.first,
                       check.failures_here - 1);
    }
    check.print(check.context, text);
    return check.failures_here == 0;
}

static inline void check_count(int ok)
{
    if (ok) {
        check.passed++;
    } else {
        check.failed++;
    }
}

static inline void check_run(const char *name, void (*test)(void))
{
    check.failures_here = 0;
    test();
    check_count(check_line(name));
}

#define RUN(test) check_run(#test, test)

/* A suite begins: `print` gets its lines. It counts from nothing, since a suite may run again. */
static inline void check_begin(void (*print)(void *context, const char *line), void *context)
{
    check.print = print;
    check.context = context;
    check.passed = 0;
    check.failed = 0;
}

/* The last line. Returns the exit status of the program. */
static inline int check_sum(void)
{
    char text[80];

    (void)snprintf(text, sizeof(text), "%d passed, %d failed", check.passed, check.failed);
    check.print(check.context, text);
    return check.failed == 0 && check.passed > 0 ? 0 : 1;
}

/* A suite ends, with its sums as the last line. Returns how many of its tests failed. */
static inline int check_end(void)
{
    (void)check_sum();
    return check.failed;
}

#endif
