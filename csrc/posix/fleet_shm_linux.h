/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lanes, waits and descriptors on Linux. Included by fleet_shm.c only. */
#ifndef CREW_FLEET_SHM_LINUX_H
#define CREW_FLEET_SHM_LINUX_H

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

/* The watcher looks after itself at least so often. */
#define WATCH_LOOK_MS 60000u
#define WATCH_STACK_BYTES 65536u

static int file_grow(int file, size_t bytes)
{
    return fallocate(file, 0, 0, (off_t)bytes);
}

static int32_t target_begin(shared *at)
{
    (void)at;
    return CREW_OK;
}

static void target_end(shared *at)
{
    (void)at;
}

/* ---- lanes ---- */

/* The lock's type after the command; -1: the system refused. */
static int lane_lock(const shared *at, uint32_t node, int command, short type)
{
    struct flock lock;

    (void)memset(&lock, 0, sizeof(lock));
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t)node;
    lock.l_len = 1;
    return fcntl(at->file, command, &lock) == 0 ? lock.l_type : -1;
}

static int32_t lane_take(const shared *at, uint32_t node)
{
    return lane_lock(at, node, F_OFD_SETLK, F_WRLCK) >= 0;
}

/* It cannot fail: the file is open and the lock is ours. */
static void lane_give(const shared *at, uint32_t node)
{
    (void)lane_lock(at, node, F_OFD_SETLK, F_UNLCK);
}

static int32_t lane_look(const shared *at, uint32_t node)
{
    switch (lane_lock(at, node, F_OFD_GETLK, F_WRLCK)) {
    case F_UNLCK:
        return CREW_HOLD_FREE;
    case -1:
        return CREW_HOLD_UNKNOWN;
    default:
        return CREW_HOLD_HELD;
    }
}

/* ---- clock and waits ---- */

/* The clock of the Rust library's shared tables: 4 ms steps are fine for ages. */
static uint32_t clock_ms(void *context)
{
    struct timespec now;

    (void)context;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint32_t)((uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u);
}

/* Not private: the word is shared between processes. */
static void word_wait(shared *at, uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
    struct timespec timeout;

    (void)at;
    timeout.tv_sec = (time_t)(timeout_ms / 1000u);
    timeout.tv_nsec = (long)(timeout_ms % 1000u) * 1000000L;
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

static void word_wake(shared *at, uint32_t *word)
{
    (void)at;
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- the descriptor: a thread that waits for the table's word and writes to it ---- */

static void watch_tell(const watcher *by)
{
    const uint64_t one = 1u;
    /* Full: it is readable. */
    ssize_t written = write(by->event, &one, sizeof(one));

    (void)written;
}

static void *watch(void *argument)
{
    shared *at = (shared *)argument;
    watcher *by = &at->watcher;
    int32_t status;

    do {
        uint32_t now;

        status = crew_fleet_wait_any(at->fleet, by->since, WATCH_LOOK_MS, &now);
        if (status == CREW_OK) {
            /* First the next watch, then the event: a change in between belongs to this event. */
            status = crew_fleet_watch(at->fleet, &by->since);
            watch_tell(by);
        }
    } while (status == CREW_OK || status == CREW_TIMED_OUT);
    return NULL;
}

static int watch_thread(shared *at)
{
    pthread_attr_t attr;
    sigset_t all;
    sigset_t own;
    size_t least = (size_t)PTHREAD_STACK_MIN;
    int error = pthread_attr_init(&attr);

    if (error != 0) {
        return error;
    }
    (void)pthread_attr_setstacksize(&attr, least > WATCH_STACK_BYTES ? least : WATCH_STACK_BYTES);
    /* Signals are the application's business. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &own);
    error = pthread_create(&at->watcher.thread, &attr, watch, at);
    (void)pthread_sigmask(SIG_SETMASK, &own, NULL);
    (void)pthread_attr_destroy(&attr);
    if (error == 0) {
        (void)pthread_setname_np(at->watcher.thread, "crewFleetWatch");
    }
    return error;
}

static int32_t watch_begin(shared *at)
{
    watcher *by = &at->watcher;
    int32_t status;
    int error;

    by->event = eventfd(0u, EFD_CLOEXEC | EFD_NONBLOCK);
    if (by->event < 0) {
        return CREW_FLEET_SYSTEM;
    }
    /* The first look is here, so that no change after this call is missed. */
    status = crew_fleet_watch(at->fleet, &by->since);
    error = status == CREW_OK ? watch_thread(at) : 0;
    if (status != CREW_OK || error != 0) {
        (void)close(by->event);
        errno = error;
        return status != CREW_OK ? status : CREW_FLEET_SYSTEM;
    }
    by->running = 1;
    return CREW_OK;
}

static void watch_clear(const shared *at)
{
    uint64_t count;
    ssize_t taken = read(at->watcher.event, &count, sizeof(count));

    (void)taken;
}

/* Needs: crew_fleet_leave was called, so the thread ends within a few instructions. */
static void watch_end(shared *at)
{
    (void)pthread_join(at->watcher.thread, NULL);
    (void)close(at->watcher.event);
    at->watcher.running = 0;
}

#endif
