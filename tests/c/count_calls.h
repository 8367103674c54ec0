/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How many instructions the calls take that a connection makes: the same loops on every target.
 * Each target brings a stopwatch.h whose `stopwatch_now` counts instructions and wraps. A count
 * includes the loop around the calls. The handles are passed by address, so that each loop reads
 * them from memory, where a server has them.
 */
#ifndef COUNT_CALLS_H
#define COUNT_CALLS_H

#include "check.h"
#include "crew.h"
#include "stopwatch.h"

/* So many that reading the stopwatch is less than a hundredth of an instruction of each. */
#define COUNT_ROUNDS 2000u
/* A wait that ends only when something is broken. */
#define COUNT_WAIT_MS 20000u

/* Each one's part of what `times` times the same took, rounded. */
static inline uint32_t count_each(uint32_t taken, uint32_t times)
{
    return (taken + times / 2u) / times;
}

/* Prints the line that ci/zynq.sh and ci/rtems.sh read. */
static inline void count_print(const char *name, uint32_t each)
{
    (void)printf("count %s %lu\n", name, (unsigned long)each);
}

static inline int32_t job_nothing(void *argument)
{
    (void)argument;
    return 0;
}

/* An acquire and a release, of a set that is there. */
static inline uint32_t count_lease(const crew_pool *pool)
{
    const uint32_t begin = stopwatch_now();
    int32_t refused = 0;
    crew_lease lease;
    uint32_t taken;
    uint32_t i;

    for (i = 0; i < COUNT_ROUNDS; i++) {
        refused |= crew_acquire(*pool, 0u, &lease, NULL);
        refused |= crew_release(lease);
    }
    taken = stopwatch_now() - begin;
    (void)CHECK_EQ(refused, 0);
    return count_each(taken, COUNT_ROUNDS);
}

/* A job from crew_run to its result: two switches. `result`: as in crew_join. */
static inline uint32_t count_job(const crew_lease *lease, crew_result *result)
{
    const uint32_t begin = stopwatch_now();
    int32_t refused = 0;
    crew_job job;
    uint32_t taken;
    uint32_t i;

    for (i = 0; i < COUNT_ROUNDS; i++) {
        refused |= crew_run(*lease, 0u, "nothing", job_nothing, NULL, &job);
        refused |= crew_join(job, COUNT_WAIT_MS, result);
    }
    taken = stopwatch_now() - begin;
    (void)CHECK_EQ(refused, 0);
    return count_each(taken, COUNT_ROUNDS);
}

#endif
