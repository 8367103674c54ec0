/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The image with the std port: what every port must pass, and what connections leave behind on
   threads that Rust made. */
#include "app.h"
#include "check.h"
#include "check_suites.h"
#include "conformance.h"
#include "crew_port_posix.h"

#include <stdbool.h>

/* rtems/std/src/lib.rs */
uint32_t std_connection(void);
bool std_panic_is_caught(void);

#define BUDGET_MIB 64u
#define THREADS 3u

static void boots_with_the_std_port(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;

    options.budget_mib = BUDGET_MIB;
    (void)CHECK_EQ(crew_boot(&options), CREW_OK);
}

static void panic_is_caught(void)
{
    (void)CHECK(std_panic_is_caught());
}

static unsigned cycle_on_std_threads(void *context)
{
    (void)context;
    return THREADS - std_connection();
}

/* Printed, not judged: how much it is depends on the Rust target, and is what a borrowed set
   saves. */
static void on_std_threads(void)
{
    churn_result seen = { 0, 0u };

    churn_cycles("on Rust threads", cycle_on_std_threads, NULL, &seen);
    (void)CHECK_EQ(seen.wrong, 0);
    (void)CHECK(seen.lost_bytes >= 0);
}

/* What RTEMS starts as its console: see init.c. */
int console(void)
{
    check_suites all = { 0, 0 };

    check.print = check_suites_line;
    check.context = &all;
    RUN(boots_with_the_std_port);
    RUN(panic_is_caught);
    (void)churn_on_a_set(check_suites_line, &all);
    RUN(on_std_threads);
    (void)crew_conformance_built_in(crew_port_posix(), check_suites_line, &all);
    return check_suites_sum(&all);
}
