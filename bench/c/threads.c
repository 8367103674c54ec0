/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "drivers.h"

#include <pthread.h>

static void *job_thread(void *ignored)
{
    (void)bench_job(ignored);
    return NULL;
}

static void *relay_thread(void *argument)
{
    (void)bench_relay_job(argument);
    return NULL;
}

static pthread_t make(size_t role, void *(*start)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error == 0) {
        error = pthread_attr_setstacksize(&attributes, bench_stack_bytes(role));
    }
    if (error == 0) {
        error = pthread_create(&thread, &attributes, start, argument);
    }
    (void)pthread_attr_destroy(&attributes);
    if (error != 0) {
        bench_die("no thread", error);
    }
    return thread;
}

void bench_pthread_round_trip(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        (void)pthread_join(make(0, job_thread, NULL), NULL);
    }
}

void bench_pthread_connection(uint32_t count, uint64_t *cycle_ns)
{
    pthread_t threads[BENCH_ROLES];
    uint32_t i;
    size_t role;

    for (i = 0; i < count; i++) {
        const uint64_t start = bench_now_ns();

        bench_relay_begin();
        for (role = 0; role < BENCH_ROLES; role++) {
            threads[role] = make(role, relay_thread, bench_relay_argument(role));
        }
        for (role = 0; role < BENCH_ROLES; role++) {
            (void)pthread_join(threads[role], NULL);
        }
        cycle_ns[i] = bench_now_ns() - start;
        bench_relay_check();
    }
}
