/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "drivers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* What one mutex guards: the counts of one resource and of one key, nothing else. */
typedef struct guarded {
    pthread_mutex_t mutex;
    uint32_t reserved;
    uint32_t active;
    uint32_t creating;
} guarded;

enum { CAPACITY = 8 };

static guarded *shared;
static sem_t *semaphore;
static int file;

static void open_mutex(void)
{
    pthread_mutexattr_t attributes;
    int error;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        bench_die("no shared memory", errno);
    }
    (void)pthread_mutexattr_init(&attributes);
    error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (error == 0) {
        error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    }
    if (error == 0) {
        error = pthread_mutex_init(&shared->mutex, &attributes);
    }
    (void)pthread_mutexattr_destroy(&attributes);
    if (error != 0) {
        bench_die("no robust mutex", error);
    }
}

void bench_shared_open(void)
{
    char name[64];

    open_mutex();
    (void)snprintf(name, sizeof name, "/crew-bench-%ld", (long)getpid());
    semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, CAPACITY);
    if (semaphore == SEM_FAILED) {
        bench_die("no named semaphore", errno);
    }
    (void)sem_unlink(name);
    file = memfd_create("crew-bench", 0u);
    if (file < 0) {
        bench_die("no file to lock", errno);
    }
}

static void lock(void)
{
    int error = pthread_mutex_lock(&shared->mutex);

    if (error == EOWNERDEAD) {
        error = pthread_mutex_consistent(&shared->mutex);
    }
    if (error != 0) {
        bench_die("the mutex", error);
    }
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&shared->mutex);
}

void bench_mutex_reserve(void)
{
    lock();
    if (shared->reserved + shared->active >= CAPACITY) {
        bench_die("more leases than the bench has", CAPACITY);
    }
    shared->reserved++;
    unlock();
}

void bench_mutex_accept(void)
{
    lock();
    shared->reserved--;
    shared->active++;
    unlock();
}

void bench_mutex_complete(void)
{
    lock();
    shared->active--;
    unlock();
}

void bench_mutex_leases(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        bench_mutex_reserve();
        bench_mutex_accept();
        bench_mutex_complete();
    }
}

void bench_mutex_claims(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        lock();
        if (shared->creating >= CAPACITY) {
            bench_die("more claims than the bench has", CAPACITY);
        }
        shared->creating++;
        unlock();
        lock();
        shared->creating--;
        unlock();
    }
}

void bench_semaphore_take(void)
{
    (void)sem_wait(semaphore);
}

void bench_semaphore_give(void)
{
    (void)sem_post(semaphore);
}

void bench_semaphore_leases(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        (void)sem_wait(semaphore);
        (void)sem_post(semaphore);
    }
}

void bench_flock_take(void)
{
    (void)flock(file, LOCK_EX);
}

void bench_flock_give(void)
{
    (void)flock(file, LOCK_UN);
}

void bench_flock_leases(uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        (void)flock(file, LOCK_EX);
        (void)flock(file, LOCK_UN);
    }
}
