/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * For a program of several suites: their lines, and one last line with the sums of all. Compiles as
 * C99 and as C++.
 */
#ifndef CHECK_SUITES_H
#define CHECK_SUITES_H

#include <stdio.h>
#include <string.h>

typedef struct check_suites {
    int passed;
    int failed;
} check_suites;

/*
 * A suite's `print`, with a check_suites as its context: counts the lines of tests and leaves out
 * the suite's own sums.
 */
static inline void check_suites_line(void *context, const char *line)
{
    check_suites *all = (check_suites *)context;
    const int ok = strncmp(line, "ok ", 3u) == 0;

    if (ok || strncmp(line, "FAILED ", 7u) == 0) {
        all->passed += ok;
        all->failed += !ok;
        (void)puts(line);
        (void)fflush(stdout);
    }
}

/* The last line. Returns the exit status of the program. */
static inline int check_suites_sum(const check_suites *all)
{
    (void)printf("%d passed, %d failed\n", all->passed, all->failed);
    (void)fflush(stdout);
    return all->failed == 0 && all->passed > 0 ? 0 : 1;
}

#endif
