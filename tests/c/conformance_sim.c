/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The suite on the simulated port, which must have joined every thread that it made when the suite
 * is over.
 */
#include "conformance.h"
#include "host_main.h"
#include "port_sim.h"

int main(void)
{
    int failed;

    host_guard();
    failed = crew_conformance(port_sim(), host_print, NULL);
    if (port_sim_threads() != 0u) {
        (void)fprintf(stderr, "%u threads were not joined\n", (unsigned)port_sim_threads());
        failed++;
    }
    return failed == 0 ? 0 : 1;
}
