/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The suite on the std port of an archive built for VxWorks. The suite's own events are the host's;
 * what a thread costs beyond its stack is the std port's figure for VxWorks: 1 MiB.
 */
#include "conformance.h"
#include "crew_port_posix.h"
#include "host_main.h"

int main(void)
{
    crew_port of_tests = *crew_port_posix();

    host_guard();
    of_tests.thread_overhead_bytes = 1048576u;
    return crew_conformance_built_in(&of_tests, host_print, NULL) == 0 ? 0 : 1;
}
