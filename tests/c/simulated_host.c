/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The suites of the simulated port, on a host. */
#include "host_main.h"
#include "simulated.h"

int main(void)
{
    int failed;

    host_guard();
    failed = crew_simulated(0u, host_print, NULL);
    failed += crew_sim_tables(host_print, NULL);
    return failed == 0 ? 0 : 1;
}
