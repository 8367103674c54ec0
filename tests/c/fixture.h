/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests on the POSIX port share: pools with small stacks, jobs that wait at a gate, and
 * polling of a condition with a bound.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "figures.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define STACK_BYTES 65536u
#define PAIR_BYTES (2u * STACK_BYTES)
/* A wait that ends only when something is broken. */
#define LONG_MS 100000u

/* Polls `condition` every millisecond; 1 = it came true within LONG_MS. */
#define EVENTUALLY(condition, result) \
    do { \
        uint32_t left_ = LONG_MS; \
        while (!((result) = (condition) ? 1 : 0) && left_-- > 0u) { \
            pause_ms(1u); \
        } \
    } while (0)

#define CHECK_EVENTUALLY(condition) \
    do { \
        int came_true_; \
        EVENTUALLY(condition, came_true_); \
        (void)check_true(came_true_, #condition, __FILE__, __LINE__); \
    } while (0)

static inline void pause_ms(uint32_t ms)
{
    struct timespec time;

    time.tv_sec = (time_t)(ms / 1000u);
    time.tv_nsec = (long)(ms % 1000u) * 1000000L;
    (void)nanosleep(&time, NULL);
}

static const crew_role pair_roles[2] = { { "first", STACK_BYTES, 10u },
                                         { "second", STACK_BYTES, 10u } };

static inline crew_pool_options pair_options(const char *name, uint32_t capacity)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = name;
    options.roles = pair_roles;
    options.role_count = 2u;
    options.capacity = capacity;
    return options;
}

static inline int32_t boot(const crew_port *port, uint32_t budget_mib)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;

    options.port = port;
    options.budget_mib = budget_mib;
    return crew_boot(&options);
}

/*
 * A job that says when it has begun and ends when it is told to. sem_timedwait is a cancellation
 * point.
 */
typedef struct gate {
    sem_t begun;
    sem_t open;
    int32_t value;
} gate;

static inline void gate_init(gate *at, int32_t value)
{
    (void)sem_init(&at->begun, 0, 0u);
    (void)sem_init(&at->open, 0, 0u);
    at->value = value;
}

static inline int gate_pass(sem_t *semaphore)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(LONG_MS / 1000u);
    while (sem_timedwait(semaphore, &until) != 0) {
        if (errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

static inline int32_t job_gate(void *argument)
{
    gate *at = (gate *)argument;

    (void)sem_post(&at->begun);
    return gate_pass(&at->open) ? at->value : -1;
}

/* Returns the number that its argument points at. */
static inline int32_t job_value(void *argument)
{
    return *(const int32_t *)argument;
}

#endif
