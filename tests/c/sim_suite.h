/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the suites on the simulated port share: sets as large as a set can be, its clock, a job that
 * ends its thread, and that a suite leaves nothing behind.
 */
#ifndef SIM_SUITE_H
#define SIM_SUITE_H

#include "figures.h"
#include "port_sim.h"

/* A wait that ends only when something is broken. */
#define LONG_MS 20000u

#define SIM_STACK_BYTES 4096u
#define SIM_ROLE { "member", SIM_STACK_BYTES, 10u }

/* As many roles as a set can have, all the same. A pool that wants fewer says so in its options. */
static const crew_role sim_roles[CREW_MAX_ROLES] = {
    SIM_ROLE, SIM_ROLE, SIM_ROLE, SIM_ROLE, SIM_ROLE, SIM_ROLE, SIM_ROLE, SIM_ROLE
};

static inline uint64_t now_ms(void)
{
    return port_sim()->clock_ms(NULL);
}

static inline void close_pool(crew_pool pool)
{
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static inline void check_nothing_left(void)
{
    (void)CHECK_EQ(held_bytes(), 0);
    (void)CHECK_EQ(port_sim_threads(), 0);
}

static inline int32_t job_dies(void *argument)
{
    (void)argument;
    port_sim_exit();
    return 0;
}

#endif
