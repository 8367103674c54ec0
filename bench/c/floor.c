/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "drivers.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How the partner is woken this time. */
enum { SEMAPHORES, BOUNDED_SEMAPHORES, FUTEXES };

#define BOUND_S 60

/* A member of the connection, on a thread of its own that exists. */
typedef struct fixed_member {
    size_t role;
    sem_t begin;
    sem_t end;
} fixed_member;

static fixed_member members[BENCH_ROLES];
static sem_t there;
static sem_t back;
static uint32_t there_word;
static uint32_t back_word;
static sem_t begin;
static int kind;
static uint32_t rounds;

static void bounded_wait(sem_t *semaphore)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += BOUND_S;
    if (sem_clockwait(semaphore, CLOCK_MONOTONIC, &until) != 0) {
        bench_die("the partner of the floor is gone", errno);
    }
}

static void futex_post(uint32_t *word)
{
    __atomic_store_n(word, 1u, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static void futex_take(uint32_t *word)
{
    while (__atomic_exchange_n(word, 0u, __ATOMIC_ACQUIRE) == 0u) {
        (void)syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0u, NULL, NULL, 0);
    }
}

static void answer_one(void)
{
    switch (kind) {
    case SEMAPHORES:
        (void)sem_wait(&there);
        (void)bench_job(NULL);
        (void)sem_post(&back);
        break;
    case BOUNDED_SEMAPHORES:
        bounded_wait(&there);
        (void)bench_job(NULL);
        (void)sem_post(&back);
        break;
    default:
        futex_take(&there_word);
        (void)bench_job(NULL);
        futex_post(&back_word);
        break;
    }
}

static void *partner(void *ignored)
{
    uint32_t i;

    while (sem_wait(&begin) == 0) {
        for (i = 0; i < rounds; i++) {
            answer_one();
        }
    }
    return ignored;
}

static void *member_thread(void *argument)
{
    fixed_member *own = argument;

    while (sem_wait(&own->begin) == 0) {
        (void)bench_relay_job(bench_relay_argument(own->role));
        (void)sem_post(&own->end);
    }
    return NULL;
}

/* A thread that lives until the process ends. */
static void make(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    const int error = pthread_create(&thread, NULL, start, argument);

    if (error != 0) {
        bench_die("no thread for the floor", error);
    }
}

void bench_floor_open(void)
{
    size_t role;

    (void)sem_init(&there, 0, 0);
    (void)sem_init(&back, 0, 0);
    (void)sem_init(&begin, 0, 0);
    make(partner, NULL);
    for (role = 0; role < BENCH_ROLES; role++) {
        members[role].role = role;
        (void)sem_init(&members[role].begin, 0, 0);
        (void)sem_init(&members[role].end, 0, 0);
        make(member_thread, &members[role]);
    }
}

void bench_floor_connection(uint32_t count, uint64_t *cycle_ns)
{
    uint32_t i;
    size_t role;

    for (i = 0; i < count; i++) {
        const uint64_t start = bench_now_ns();

        bench_relay_begin();
        for (role = 0; role < BENCH_ROLES; role++) {
            (void)sem_post(&members[role].begin);
        }
        for (role = 0; role < BENCH_ROLES; role++) {
            (void)sem_wait(&members[role].end);
        }
        cycle_ns[i] = bench_now_ns() - start;
        bench_relay_check();
    }
}

static void ask(int how, uint32_t count)
{
    uint32_t i;

    kind = how;
    rounds = count;
    (void)sem_post(&begin);
    for (i = 0; i < count; i++) {
        switch (how) {
        case SEMAPHORES:
            (void)sem_post(&there);
            (void)sem_wait(&back);
            break;
        case BOUNDED_SEMAPHORES:
            (void)sem_post(&there);
            bounded_wait(&back);
            break;
        default:
            futex_post(&there_word);
            futex_take(&back_word);
            break;
        }
    }
}

void bench_floor_semaphores(uint32_t count)
{
    ask(SEMAPHORES, count);
}

void bench_floor_bounded_semaphores(uint32_t count)
{
    ask(BOUNDED_SEMAPHORES, count);
}

void bench_floor_futexes(uint32_t count)
{
    ask(FUTEXES, count);
}
