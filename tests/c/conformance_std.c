/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The suite on the std port, which an archive built with the feature `std` has in it: its threads
 * are made by Rust, and its loop is the one in src/shim. The suite's own events are those of the
 * POSIX port, whose figure for a thread on a host is the std port's too: 0 bytes beyond the stack.
 */
#include "conformance.h"
#include "crew_port_posix.h"
#include "host_main.h"

int main(void)
{
    host_guard();
    return crew_conformance_built_in(crew_port_posix(), host_print, NULL) == 0 ? 0 : 1;
}
