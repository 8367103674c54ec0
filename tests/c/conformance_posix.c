/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "conformance.h"
#include "crew_port_posix.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void print_line(void *context, const char *line)
{
    (void)context;
    (void)puts(line);
    (void)fflush(stdout);
}

int main(void)
{
    /* Every wait in the suite is bounded; this bound is for the bugs. */
    (void)alarm(120u);
    return crew_conformance(crew_port_posix(), print_line, NULL) == 0 ? 0 : 1;
}
