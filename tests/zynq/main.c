/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The self-test: all suites in one process, since a process boots Crew once; conformance last,
 * since it seals.
 */
#include "check_suites.h"
#include "conformance.h"
#include "counts.h"
#include "port_sim.h"
#include "simulated.h"

/* The budget that the conformance suite boots with. */
#define BUDGET_MIB 64u

int main(void)
{
    check_suites all = { 0, 0 };

    (void)crew_simulated(BUDGET_MIB, check_suites_line, &all);
    (void)crew_sim_tables(check_suites_line, &all);
    (void)crew_fleet_static(check_suites_line, &all);
    (void)counts_take(check_suites_line, &all);
    (void)crew_conformance(port_sim(), check_suites_line, &all);
    if (port_sim_threads() != 0u) {
        check_suites_line(&all, "FAILED main: threads were not joined");
    }
    counts_print();
    return check_suites_sum(&all);
}
