/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Events on a Linux futex: the event itself is all there is, so creating one cannot fail and
 * nothing has to be given back. Included by the POSIX port and, on Linux, by the EPICS port.
 *
 * word: 0 = nothing posted, 1 = posted, 2 = nothing posted and a waiter sleeps. Posts coalesce, and
 * only a post that finds a sleeper makes a system call. object: how many of the next waits go to
 * sleep without a yield first.
 */
#ifndef CREW_EVENT_FUTEX_H
#define CREW_EVENT_FUTEX_H

#include "crew.h"
#include "posix_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* After a yield in vain. Found by trying (bench): at 3 a job's round trip keeps its whole gain, and
 * three threads that talk to each other, where most yields are in vain, lose nothing. */
#define WAITS_WITHOUT_YIELD 3u

static int32_t event_create(void *context, crew_event *event)
{
    (void)context;
    __atomic_store_n(&event->word, 0u, __ATOMIC_RELAXED);
    event->object = NULL;
    return 0;
}

static int event_take(crew_event *event)
{
    uint32_t posted = 1u;

    return __atomic_compare_exchange_n(&event->word, &posted, 0u, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* The call that takes this build's struct timespec: 32-bit systems have one for each width of
   time_t. */
static long futex_number(void)
{
#ifdef SYS_futex_time64
    return sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex;
#else
    return SYS_futex;
#endif
}

/* Sleeps while the word is 2, until a time on CLOCK_MONOTONIC. 0, or the error number. */
static int event_sleep(crew_event *event, const struct timespec *until)
{
    const long slept = syscall(futex_number(), &event->word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
                               2u, until, NULL, FUTEX_BITSET_MATCH_ANY);

    return slept == 0 ? 0 : errno;
}

/* The raw system call is no cancellation point. Asynchronous cancellation around it, and only it,
   makes it one. */
static inline int event_sleep_cancellable(crew_event *event, const struct timespec *until)
{
    int error;
    int type;
    int ignored;

    (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    error = event_sleep(event, until);
    (void)pthread_setcanceltype(type, &ignored);
    return error;
}

static int thread_is_fifo(void)
{
    struct sched_param parameters;
    int policy;

    return pthread_getschedparam(pthread_self(), &policy, &parameters) == 0 && policy == SCHED_FIFO;
}

/* Before it sleeps, a thread lets those that are ready on its CPU at its own priority go first. If
 * its partner is one of them, it posts to a thread that is awake, and neither has to sleep or to be
 * woken. One call, which returns at once if no other thread is ready: no thread waits for another.
 * Only under SCHED_FIFO: elsewhere a yield can cost a whole time slice. Returns true when there was
 * a post. */
static int event_yield(crew_event *event)
{
    const uintptr_t waits = (uintptr_t)__atomic_load_n(&event->object, __ATOMIC_RELAXED);

    if (waits > 0u) {
        __atomic_store_n(&event->object, (void *)(waits - 1u), __ATOMIC_RELAXED);
        return 0;
    }
    if (!thread_is_fifo()) {
        return 0;
    }
    (void)sched_yield();
    if (event_take(event)) {
        return 1;
    }
    __atomic_store_n(&event->object, (void *)(uintptr_t)WAITS_WITHOUT_YIELD, __ATOMIC_RELAXED);
    return 0;
}

/* The end of the wait is fixed at its start, so that a sleep which begins again keeps the bound. */
static int32_t event_wait_with(crew_event *event, uint32_t timeout_ms,
                               int (*sleep_until)(crew_event *, const struct timespec *))
{
    struct timespec until;
    int error;

    if (event_take(event) || (timeout_ms > 0u && event_yield(event))) {
        return 1;
    }
    until = clock_after(CLOCK_MONOTONIC, timeout_ms);
    do {
        uint32_t empty = 0u;

        /* Says so before it sleeps; a post in between leaves the word at 1, and the sleep ends at
           once. */
        (void)__atomic_compare_exchange_n(&event->word, &empty, 2u, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
        error = sleep_until(event, &until);
        if (event_take(event)) {
            return 1;
        }
        /* Sleeps again when it was woken for nothing, interrupted, or posted and another waiter
           took it. */
    } while (error == 0 || error == EINTR || error == EAGAIN);
    return 0;
}

static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    (void)context;
    return event_wait_with(event, timeout_ms, event_sleep);
}

static inline int32_t event_wait_cancellable(void *context, crew_event *event, uint32_t timeout_ms)
{
    (void)context;
    return event_wait_with(event, timeout_ms, event_sleep_cancellable);
}

static void event_post(void *context, crew_event *event)
{
    (void)context;
    if (__atomic_exchange_n(&event->word, 1u, __ATOMIC_RELEASE) == 2u) {
        (void)syscall(SYS_futex, &event->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    }
}

#endif
