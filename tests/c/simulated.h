/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Three suites that need the simulated port, on any machine. Each prints as crew_conformance does,
 * returns the number of tests that failed, and runs once per process.
 */
#ifndef SIMULATED_H
#define SIMULATED_H

#include "crew.h"

/*
 * Time and failures. Comes first, since it boots Crew. budget_mib: as in crew_boot_options; 8 or
 * more, or 0.
 */
int crew_simulated(uint32_t budget_mib, crew_sink print, void *context);

/* Every table full, and everything back afterwards. After crew_simulated, before crew_seal. */
int crew_sim_tables(crew_sink print, void *context);

/* Fleet leases in static memory. After crew_simulated, before crew_seal. */
int crew_fleet_static(crew_sink print, void *context);

#endif
