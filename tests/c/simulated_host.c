/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The suites of the simulated port, on a host. */
#include "check_suites.h"
#include "host_main.h"
#include "simulated.h"

int main(void)
{
    check_suites all = { 0, 0 };

    host_guard();
    (void)crew_simulated(0u, check_suites_line, &all);
    (void)crew_sim_tables(check_suites_line, &all);
    (void)crew_fleet_static(check_suites_line, &all);
    return check_suites_sum(&all);
}
