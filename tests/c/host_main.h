/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the suite's main programs on a host share. */
#ifndef HOST_MAIN_H
#define HOST_MAIN_H

#include <stdio.h>
#include <unistd.h>

/* Every wait in the suite is bounded; this bound, of two minutes, is for the bugs. */
static inline void host_guard(void)
{
    (void)alarm(120u);
}

static inline void host_print(void *context, const char *line)
{
    (void)context;
    (void)puts(line);
    (void)fflush(stdout);
}

#endif
