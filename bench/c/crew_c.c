/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "drivers.h"

#include "crew.h"
#include "crewPortEpics.h"
#include "crew_port_posix.h"

#include <stdio.h>

#define LONG_MS 60000u

static void must(int32_t status, const char *what)
{
    if (status != CREW_OK) {
        (void)fprintf(stderr, "bench: crew: %s\n", crew_status_text(status));
        bench_die(what, status);
    }
}

static crew_pool pool_of(uint64_t bits)
{
    crew_pool pool;

    pool.bits = bits;
    return pool;
}

static crew_lease lease_of(uint64_t bits)
{
    crew_lease lease;

    lease.bits = bits;
    return lease;
}

void bench_crew_boot(int32_t on_epics)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;

    if (on_epics) {
        must(crewPortEpicsBoot(NULL), "boot");
    } else {
        options.port = crew_port_posix();
        must(crew_boot(&options), "boot");
    }
}

uint64_t bench_crew_open(uint32_t roles, uint32_t capacity, uint32_t priority, int32_t smallest)
{
    static const char *const names[BENCH_ROLES] = { "conn", "reader", "writer" };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_role roster[BENCH_ROLES];
    crew_pool pool;
    uint32_t i;

    for (i = 0; i < roles; i++) {
        roster[i].name = names[i];
        roster[i].stack_bytes = smallest ? 16384u : bench_stack_bytes(i);
        roster[i].priority = priority;
    }
    options.name = "bench";
    options.roles = roster;
    options.role_count = roles;
    options.capacity = capacity;
    options.prestart = capacity;
    options.keep = capacity;
    must(crew_pool_open(&options, &pool), "open");
    return pool.bits;
}

void bench_crew_close(uint64_t pool)
{
    must(crew_pool_close(pool_of(pool), LONG_MS), "close");
}

uint64_t bench_crew_take(uint64_t pool)
{
    crew_lease lease;

    must(crew_acquire(pool_of(pool), 0, &lease, NULL), "acquire");
    return lease.bits;
}

void bench_crew_give(uint64_t lease)
{
    must(crew_release(lease_of(lease)), "release");
}

void bench_crew_lease(uint64_t pool, uint32_t count)
{
    crew_lease lease;
    uint32_t i;

    for (i = 0; i < count; i++) {
        must(crew_acquire(pool_of(pool), 0, &lease, NULL), "acquire");
        must(crew_release(lease), "release");
    }
}

void bench_crew_round_trip(uint64_t lease, uint32_t count)
{
    crew_job job;
    uint32_t i;

    for (i = 0; i < count; i++) {
        must(crew_run(lease_of(lease), 0, "bench", bench_job, NULL, &job), "run");
        must(crew_join(job, LONG_MS, NULL), "join");
    }
}

void bench_crew_connection(uint64_t pool, uint32_t count, uint64_t *cycle_ns)
{
    crew_lease lease;
    crew_job jobs[BENCH_ROLES];
    uint32_t i;
    uint32_t role;

    for (i = 0; i < count; i++) {
        const uint64_t start = bench_now_ns();

        bench_relay_begin();
        must(crew_acquire(pool_of(pool), 0, &lease, NULL), "acquire");
        for (role = 0; role < BENCH_ROLES; role++) {
            must(crew_run(lease, role, "relay", bench_relay_job, bench_relay_argument(role),
                          &jobs[role]),
                 "run");
        }
        for (role = 0; role < BENCH_ROLES; role++) {
            must(crew_join(jobs[role], LONG_MS, NULL), "join");
        }
        must(crew_release(lease), "release");
        cycle_ns[i] = bench_now_ns() - start;
        bench_relay_check();
    }
}

void bench_crew_refused(uint64_t pool, uint32_t count)
{
    crew_refusal why = CREW_REFUSAL_INIT;
    crew_lease lease;
    uint32_t i;

    for (i = 0; i < count; i++) {
        if (crew_acquire(pool_of(pool), 0, &lease, &why) != CREW_REFUSED_AT_CAPACITY) {
            bench_die("not refused for want of a set", why.kind);
        }
    }
}
