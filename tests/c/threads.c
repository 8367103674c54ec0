/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Several threads share two pools for a bounded number of operations; afterwards the sums agree.
 * Jobs and their submitters touch plain memory in turn, with nothing but crew_run and crew_join
 * between them, so that a race detector sees whether those two order it.
 */
#include "check.h"
#include "crew_port_posix.h"
#include "fixture.h"

#include <unistd.h>

#define CLIENTS 4
#ifndef ROUNDS
#define ROUNDS 400
#endif

typedef struct client {
    pthread_t thread;
    int number;
    /* Plain memory on purpose. */
    int32_t counter[2];
    uint32_t jobs;
    uint32_t granted[2];
    uint32_t refused[2];
    uint32_t wrong;
} client;

static crew_pool pools[2];
static client clients[CLIENTS];

static int32_t job_count(void *argument)
{
    int32_t *counter = (int32_t *)argument;

    return ++*counter;
}

static void run_round(client *self, crew_lease lease)
{
    crew_job jobs[2];
    crew_result result = CREW_RESULT_INIT;
    uint32_t role;

    for (role = 0; role < 2u; role++) {
        self->wrong +=
            crew_run(lease, role, "count", job_count, &self->counter[role], &jobs[role]) != CREW_OK;
    }
    for (role = 0; role < 2u; role++) {
        self->wrong += crew_join(jobs[role], LONG_MS, &result) != CREW_OK;
        self->wrong += result.outcome != CREW_JOB_RETURNED || result.value != self->counter[role];
        self->jobs++;
    }
    self->wrong += crew_release(lease) != CREW_OK;
}

static void *client_main(void *argument)
{
    client *self = (client *)argument;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        int which = (round + self->number) % 2;
        /* Waiting and not waiting, with and without a peer. */
        uint32_t timeout_ms = round % 3 == 0 ? 0u : LONG_MS;
        crew_lease lease;
        int32_t status = round % 5 == 0
                             ? crew_acquire_peer(pools[which], (uint64_t)self->number + 1u,
                                                 timeout_ms, &lease, NULL)
                             : crew_acquire(pools[which], timeout_ms, &lease, NULL);

        if (status == CREW_OK) {
            self->granted[which]++;
            run_round(self, lease);
        } else {
            self->refused[which]++;
            self->wrong += status != CREW_REFUSED_AT_CAPACITY || timeout_ms != 0u;
        }
    }
    return NULL;
}

static void sums_agree(void)
{
    crew_pool_options options = pair_options("one", 1u);
    uint32_t granted[2] = { 0u, 0u };
    uint32_t refused[2] = { 0u, 0u };
    uint32_t which;
    int i;

    REQUIRE_EQ(boot(crew_port_posix(), 0u), CREW_OK);
    REQUIRE_EQ(crew_pool_open(&options, &pools[0]), CREW_OK);
    options = pair_options("three", 3u);
    REQUIRE_EQ(crew_pool_open(&options, &pools[1]), CREW_OK);
    for (i = 0; i < CLIENTS; i++) {
        clients[i].number = i;
        REQUIRE_EQ(pthread_create(&clients[i].thread, NULL, client_main, &clients[i]), 0);
    }
    for (i = 0; i < CLIENTS; i++) {
        (void)CHECK_EQ(pthread_join(clients[i].thread, NULL), 0);
        (void)CHECK_EQ(clients[i].wrong, 0);
        (void)CHECK_EQ(clients[i].counter[0] + clients[i].counter[1], clients[i].jobs);
        for (which = 0; which < 2u; which++) {
            granted[which] += clients[i].granted[which];
            refused[which] += clients[i].refused[which];
        }
    }
    (void)CHECK_EQ(granted[0] + granted[1] + refused[0] + refused[1], CLIENTS * ROUNDS);
    for (which = 0; which < 2u; which++) {
        crew_usage usage = usage_of(pools[which]);

        (void)CHECK_EQ(usage.leases, granted[which]);
        (void)CHECK_EQ(usage.refused[CREW_REFUSED_AT_CAPACITY], refused[which]);
        (void)CHECK_EQ(usage.busy, 0);
        (void)CHECK_EQ(usage.waiting, 0);
        (void)CHECK_EQ(usage.idle, usage.created);
        (void)CHECK_EQ(usage.retirements, 0);
        (void)CHECK_EQ(usage.threads_created, 2u * usage.created);
        (void)CHECK(usage.created <= usage.capacity);
        (void)CHECK_EQ(crew_pool_close(pools[which], LONG_MS), CREW_OK);
    }
    (void)CHECK_EQ(held_bytes(), 0);
}

/* ---- two threads that give jobs to one worker ---- */

typedef struct giver {
    pthread_t thread;
    crew_lease lease;
    uint32_t given;
    uint32_t wrong;
} giver;

static int32_t job_nothing(void *argument)
{
    (void)argument;
    return 0;
}

static void *giver_main(void *argument)
{
    giver *self = (giver *)argument;
    int round;

    for (round = 0; round < ROUNDS * 500; round++) {
        int32_t status = crew_run(self->lease, 0u, "nothing", job_nothing, NULL, NULL);

        self->given += status == CREW_OK;
        self->wrong += status != CREW_OK && status != CREW_BUSY;
    }
    return NULL;
}

/*
 * A worker that lives takes the job or is busy, also when it becomes free at the moment of asking.
 */
static void living_worker_is_never_said_to_be_gone(void)
{
    crew_pool_options options = pair_options("shared", 1u);
    giver givers[2];
    crew_pool pool;
    crew_lease lease;
    int i;

    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    memset(givers, 0, sizeof(givers));
    for (i = 0; i < 2; i++) {
        givers[i].lease = lease;
        REQUIRE_EQ(pthread_create(&givers[i].thread, NULL, giver_main, &givers[i]), 0);
    }
    for (i = 0; i < 2; i++) {
        (void)CHECK_EQ(pthread_join(givers[i].thread, NULL), 0);
        (void)CHECK_EQ(givers[i].wrong, 0);
    }
    (void)CHECK(givers[0].given + givers[1].given > 0u);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

int main(void)
{
    (void)alarm(300u);
    RUN(sums_agree);
    RUN(living_worker_is_never_said_to_be_gone);
    return check_sum();
}
