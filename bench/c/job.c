/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "drivers.h"

#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A member of the connection. The one whose semaphore was posted has the byte. */
typedef struct relay_member {
    size_t role;
    sem_t turn;
} relay_member;

static relay_member members[BENCH_ROLES];
static unsigned char byte;

static uint64_t jobs_run;
static int place_wanted;
static bench_place place_seen;

void bench_die(const char *what, long detail)
{
    (void)fprintf(stderr, "bench: %s (%ld)\n", what, detail);
    exit(1);
}

uint64_t bench_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_place_of_caller(bench_place *place)
{
    struct sched_param parameters;
    cpu_set_t cpus;

    memset(&parameters, 0, sizeof parameters);
    (void)sched_getparam(0, &parameters);
    (void)sched_getaffinity(0, sizeof cpus, &cpus);
    place->policy = sched_getscheduler(0);
    place->priority = parameters.sched_priority;
    place->cpus = CPU_COUNT(&cpus);
}

int32_t bench_job(void *ignored)
{
    (void)ignored;
    /* The job's giver waits for its end, so no other thread reads or writes these meanwhile. */
    if (__atomic_load_n(&place_wanted, __ATOMIC_RELAXED)) {
        bench_place_of_caller(&place_seen);
        __atomic_store_n(&place_wanted, 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&jobs_run, __atomic_load_n(&jobs_run, __ATOMIC_RELAXED) + 1u,
                     __ATOMIC_RELAXED);
    return 0;
}

uint64_t bench_jobs_run(void)
{
    return __atomic_load_n(&jobs_run, __ATOMIC_RELAXED);
}

void bench_place_ask(void)
{
    __atomic_store_n(&place_wanted, 1, __ATOMIC_RELAXED);
}

void bench_place_of_job(bench_place *place)
{
    *place = place_seen;
}

void bench_relay_begin(void)
{
    static int made;

    if (!made) {
        size_t role;

        for (role = 0; role < BENCH_ROLES; role++) {
            members[role].role = role;
            (void)sem_init(&members[role].turn, 0, 0);
        }
        made = 1;
    }
    byte = 1u;
}

void *bench_relay_argument(size_t role)
{
    return &members[role];
}

int32_t bench_relay_job(void *argument)
{
    relay_member *own = argument;

    if (own->role != 0u) {
        (void)sem_wait(&own->turn);
    }
    byte = (unsigned char)(byte * 3u);
    (void)sem_post(&members[(own->role + 1u) % BENCH_ROLES].turn);
    if (own->role == 0u) {
        (void)sem_wait(&own->turn);
    }
    return byte;
}

void bench_relay_check(void)
{
    if (byte != 27u) {
        bench_die("the byte did not go through all three members", byte);
    }
}

uint32_t bench_stack_bytes(size_t role)
{
    return role == 0u ? 2048u * 1024u : 512u * 1024u;
}
