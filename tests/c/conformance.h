/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One suite for every port: the lifecycle of pools, sets and jobs through crew.h alone. It calls
 * the operating system only through the port, so the same file runs on hosts, under EPICS, on RTEMS
 * and on a cooperative port.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include "crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Boots Crew with `port` (a process that has booted with this port already is accepted), runs the
 * suite, and seals. `print` gets one line per test and a last line with the sums. Returns the
 * number of tests that failed. Once per process.
 */
int crew_conformance(const crew_port *port, crew_sink print, void *context);

/*
 * The same for the port that the library was built with: Crew boots with no port given. `of_tests`
 * is what the suite's own jobs wait, wake and read the time with, on threads of that port: its
 * events, its clock (no coarser than a millisecond), its context, and thread_overhead_bytes, which
 * must be what the built-in port charges. Only the test of the port's own events is left out, since
 * no caller can reach them.
 */
int crew_conformance_built_in(const crew_port *of_tests, crew_sink print, void *context);

#ifdef __cplusplus
}
#endif

#endif
