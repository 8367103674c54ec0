/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For pthread_setname_np, pthread_tryjoin_np and sem_clockwait. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "crew_port_posix.h"
#include "posix_clock.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __rtems__
#include "crew_rtems.h"
#endif
#ifdef __VXWORKS__
#include "crew_vxworks.h"
#endif

/* CREW_PORT_WITHOUT_FUTEX: for tools that do not understand futexes, and to test the other kind on
   Linux. */
#if defined(__linux__) && !defined(CREW_PORT_WITHOUT_FUTEX)
#include "event_futex.h"
#elif defined(__rtems__)
#include "event_rtems.h"
#elif defined(__VXWORKS__)
#include "event_vxworks.h"
#else
#include "event_sem.h"
#endif

#ifdef __linux__
#include "log_linux.h"
#else
#include "log_posix.h"
#endif

/* Threads in C cost their stack and nothing more that grows with their number (measured on RTEMS:
   drift 0 B over 1,000 threads created and joined; on VxWorks the 1 MiB of a Rust thread is std's;
   a host is not charged). */
#define THREAD_OVERHEAD_BYTES 0u

static pthread_once_t port_once = PTHREAD_ONCE_INIT;
static const crew_port *port_ready;
static crew_caller job_caller;
/* The highest priority of SCHED_FIFO that roles are spread up to. -1: not known yet; 0: none. */
static int fifo_most = -1;

/* For an idle worker's own wait (crew_worker_main), which may be cancelled; the waits of the core's
   port may not. */
static const crew_port worker_port = {
    .size = sizeof(crew_port),
    .event_wait = event_wait_cancellable,
};

static const char *severity_word(int32_t severity)
{
    switch (severity) {
    case CREW_SEVERITY_MAJOR:
        return "crew: major: ";
    case CREW_SEVERITY_MINOR:
        return "crew: minor: ";
    default:
        return "crew: info: ";
    }
}

/* Lines that standard error did not take at once, and that no later line has told of yet. */
static uint32_t lines_lost;

#define LOST_BYTES 11u /* a count in decimal, and its NUL */

static const char *decimal(uint32_t number, char text[LOST_BYTES])
{
    char *digit = text + LOST_BYTES - 1u;

    *digit = '\0';
    do {
        *--digit = (char)('0' + number % 10u);
        number /= 10u;
    } while (number > 0u);
    return digit;
}

/* No lock that a thread which ends could leave behind, no stdio buffer on a worker's small stack,
   and no wait: a line that standard error does not take at once is lost, and the next one that it
   takes says how many were. */
static void log_line(void *context, int32_t severity, const char *text)
{
    const uint32_t lost = __atomic_exchange_n(&lines_lost, 0u, __ATOMIC_RELAXED);
    char count[LOST_BYTES];
    const char *pieces[6];
    struct iovec parts[6];
    size_t whole = 0;
    ssize_t written;
    int used = 0;
    int i;
    int state;
    int ignored;

    (void)context;
    if (lost > 0u) {
        pieces[used++] = "crew: minor: lines lost before this one: ";
        pieces[used++] = decimal(lost, count);
        pieces[used++] = "\n";
    }
    pieces[used++] = severity_word(severity);
    pieces[used++] = text;
    pieces[used++] = "\n";
    for (i = 0; i < used; i++) {
        parts[i].iov_base = (void *)(uintptr_t)pieces[i];
        parts[i].iov_len = strlen(pieces[i]);
        whole += parts[i].iov_len;
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    written = log_write(parts, used);
    (void)pthread_setcancelstate(state, &ignored);
    if (written < 0 || (size_t)written < whole) {
        (void)__atomic_fetch_add(&lines_lost, lost + 1u, __ATOMIC_RELAXED);
    }
}

static void *thread_main(void *argument)
{
    crew_worker_main((uint32_t)(uintptr_t)argument, &worker_port,
                     __atomic_load_n(&job_caller, __ATOMIC_ACQUIRE));
    return NULL;
}

static size_t stack_size(uint32_t asked)
{
    long page = sysconf(_SC_PAGESIZE);
    size_t unit = page > 0 ? (size_t)page : 4096u;
    size_t least = (size_t)PTHREAD_STACK_MIN;
    size_t bytes = asked > least ? (size_t)asked : least;

    return (bytes + unit - 1u) / unit * unit;
}

static int fifo_priority(uint32_t priority, int most)
{
#ifdef __VXWORKS__
    (void)most;
    return crew_vxworks_priority(priority);
#else
    int least = sched_get_priority_min(SCHED_FIFO);

    return least + (int)priority * (most - least) / CREW_PRIORITY_MAX;
#endif
}

/* Signals are the application's business. A fault's own signal must still reach a handler, or its
   report is lost. */
static void worker_signals(sigset_t *blocked)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    size_t i;

    (void)sigfillset(blocked);
    for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        (void)sigdelset(blocked, faults[i]);
    }
}

/* The new thread inherits its creator's mask, so that no signal can arrive before it is blocked. */
static int create_blocked(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                          uint32_t worker)
{
    sigset_t blocked;
    sigset_t own;
    int error;

    worker_signals(&blocked);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &own);
    error = pthread_create(thread, attr, start, (void *)(uintptr_t)worker);
    (void)pthread_sigmask(SIG_SETMASK, &own, NULL);
    return error;
}

static int create_as(pthread_t *thread, pthread_attr_t *attr, void *(*start)(void *),
                     uint32_t worker, int policy, int priority)
{
    struct sched_param param;
    int error;

    memset(&param, 0, sizeof(param));
    param.sched_priority = priority;
    error = pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
    if (error == 0) {
        error = pthread_attr_setschedpolicy(attr, policy);
    }
    if (error == 0) {
        error = pthread_attr_setschedparam(attr, &param);
    }
    return error == 0 ? create_blocked(thread, attr, start, worker) : error;
}

static void fifo_give_up(void)
{
    if (__atomic_exchange_n(&fifo_most, 0, __ATOMIC_RELAXED) != 0) {
        log_line(NULL, CREW_SEVERITY_MINOR,
                 "thread priorities have no effect: this process may not use SCHED_FIFO; "
                 "grant CAP_SYS_NICE or an rtprio limit of 99 to it");
    }
}

#if defined(__rtems__) || defined(__VXWORKS__)

/* All of the range is every thread's there. */
static int fifo_range(pthread_attr_t *attr, int *most)
{
    (void)attr;
    *most = sched_get_priority_max(SCHED_FIFO);
    return 0;
}

#else

static void *thread_of_a_trial(void *argument)
{
    return argument;
}

/* 0: the process may make a thread of this priority. EPERM: it may not. Else there is no answer. */
static int fifo_try(pthread_attr_t *attr, int priority)
{
    pthread_t thread;
    const int error = create_as(&thread, attr, thread_of_a_trial, 0u, SCHED_FIFO, priority);

    if (error == 0) {
        (void)pthread_join(thread, NULL);
    }
    return error;
}

/* The highest permitted priority, 0: none. Tried from above, by halves. */
static int fifo_search(pthread_attr_t *attr, int *most)
{
    const int least = sched_get_priority_min(SCHED_FIFO);
    int permitted = least - 1;
    int refused = sched_get_priority_max(SCHED_FIFO) + 1;
    int next = refused - 1;

    while (refused - permitted > 1) {
        const int error = fifo_try(attr, next);

        if (error == 0) {
            permitted = next;
        } else if (error == EPERM) {
            refused = next;
        } else {
            return error;
        }
        next = permitted + (refused - permitted) / 2;
    }
    *most = permitted >= least ? permitted : 0;
    return 0;
}

/*
 * The highest priority of SCHED_FIFO that roles are spread up to, 0: none. What is permitted may
 * end in the middle of the range (RLIMIT_RTPRIO). If roles above that were made without SCHED_FIFO,
 * each role below would go before them. Found by trying, once, with the first thread: what a
 * process is permitted is not only its limit.
 */
static int fifo_range(pthread_attr_t *attr, int *most)
{
    int unknown = -1;
    int error;
    int state;
    int ignored;

    *most = __atomic_load_n(&fifo_most, __ATOMIC_RELAXED);
    if (*most >= 0) {
        return 0;
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    error = fifo_search(attr, most);
    (void)pthread_setcancelstate(state, &ignored);
    if (error != 0) {
        return error;
    }
    if (*most == 0) {
        fifo_give_up();
    } else if (!__atomic_compare_exchange_n(&fifo_most, &unknown, *most, 0, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
        *most = unknown; /* another thread has tried meanwhile: one answer holds for all */
    } else if (*most < sched_get_priority_max(SCHED_FIFO)) {
        log_line(NULL, CREW_SEVERITY_MINOR,
                 "thread priorities are closer together than they could be: this process may use "
                 "only a part of SCHED_FIFO; grant CAP_SYS_NICE or an rtprio limit of 99 to it");
    }
    return 0;
}

#endif

static int create_with(pthread_t *thread, pthread_attr_t *attr, const crew_thread_spec *spec)
{
    int error = pthread_attr_setstacksize(attr, stack_size(spec->stack_bytes));
    int most = 0;

    if (error == 0) {
        error = fifo_range(attr, &most);
    }
    if (error != 0) {
        return error;
    }
    if (most > 0) {
        error = create_as(thread, attr, thread_main, spec->worker, SCHED_FIFO,
                          fifo_priority(spec->priority, most));
        if (error != EPERM) {
            return error;
        }
        fifo_give_up(); /* the permission was taken away since */
    }
    return create_as(thread, attr, thread_main, spec->worker, SCHED_OTHER, 0);
}

#ifndef __VXWORKS__
/* Gives the thread its name, cut to the 15 characters that systems keep. Without one it works as
   well. */
static void thread_name(pthread_t thread, const char *name)
{
    char cut[16];

    (void)memset(cut, 0, sizeof(cut));
    (void)strncpy(cut, name, sizeof(cut) - 1u);
    (void)pthread_setname_np(thread, cut);
}
#endif

#ifdef __linux__
/* The system's word for a stack that is too small. It has at least the system's minimum, so what it
   does not hold is the thread-local storage of the program and its libraries, which lies in it. */
static void say_stack_is_too_small(void)
{
    static int said;

    if (__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0) {
        log_line(NULL, CREW_SEVERITY_MINOR,
                 "no thread was made: its stack does not hold this program's thread-local "
                 "storage; declare a larger stack for its role");
    }
}
#endif

static int32_t thread_create(void *context, const crew_thread_spec *spec, size_t *thread)
{
    pthread_attr_t attr;
    pthread_t made;
    int error = pthread_attr_init(&attr);

    (void)context;
#ifdef __rtems__
    /* thread_reap sees the thread's end without a join. */
    if (error == 0) {
        error = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    }
#endif
    if (error == 0) {
#ifdef __VXWORKS__
        (void)crew_vxworks_name(&attr, spec->name);
#endif
        error = create_with(&made, &attr, spec);
        (void)pthread_attr_destroy(&attr);
    }
    if (error == 0) {
#ifndef __VXWORKS__
        thread_name(made, spec->name);
#endif
        *thread = (size_t)made;
    }
#ifdef __linux__
    if (error == EINVAL) {
        say_stack_is_too_small();
    }
#endif
    return (int32_t)error;
}

static int32_t thread_reap(void *context, size_t thread)
{
    (void)context;
#ifdef __linux__
    /* Any other answer than "not yet" is final: asked again it would be the same, and the worker
       never be counted out. */
    return pthread_tryjoin_np((pthread_t)thread, NULL) == EBUSY ? 0 : 1;
#elif defined(__rtems__)
    return crew_rtems_thread_gone((pthread_t)thread, thread_main);
#else
    {
        struct sched_param own;
        int policy;
        int state;
        int ignored;

        /* The exit hook has begun, so the thread has only its last instructions before it, and the
           join ends by itself; unless a thread of a priority between keeps it from running, hence
           the caller's priority for it. */
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        if (pthread_getschedparam(pthread_self(), &policy, &own) == 0) {
            (void)pthread_setschedparam((pthread_t)thread, policy, &own);
        }
        (void)pthread_join((pthread_t)thread, NULL);
        (void)pthread_setcancelstate(state, &ignored);
        return 1;
    }
#endif
}

/* Ages and time-outs need no better than the coarse clock's 4 ms, and each lease reads this one. */
#ifdef CLOCK_MONOTONIC_COARSE
#define CLOCK_FOR_MS CLOCK_MONOTONIC_COARSE
#else
#define CLOCK_FOR_MS CLOCK_MONOTONIC
#endif

static uint64_t clock_ms(void *context)
{
#ifdef __rtems__
    (void)context;
    return crew_rtems_clock_ms();
#else
    struct timespec now;

    (void)context;
    (void)clock_gettime(CLOCK_FOR_MS, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
#endif
}

static int32_t memory_has(void *context, size_t bytes, const char **basis)
{
    (void)context;
#ifdef __rtems__
    return crew_rtems_memory_has(bytes, basis);
#elif defined(__VXWORKS__)
    return crew_vxworks_memory_has(bytes, basis);
#else
    /* A host gives address space now and decides about memory later: there is no answer to be
       had. */
    (void)bytes;
    (void)basis;
    return -1;
#endif
}

#ifdef __rtems__
static size_t stack_used(void *context, size_t thread)
{
    (void)context;
    return crew_rtems_stack_used((pthread_t)thread);
}
#endif

static const crew_port core_port = {
    .size = sizeof(crew_port),
#ifdef __rtems__
    .target = CREW_TARGET_RTEMS,
#elif defined(__VXWORKS__)
    .target = CREW_TARGET_VXWORKS,
#else
    .target = CREW_TARGET_HOST,
#endif
    .thread_overhead_bytes = THREAD_OVERHEAD_BYTES,
    .thread_create = thread_create,
    .thread_reap = thread_reap,
    .event_create = event_create,
    .event_wait = event_wait,
    .event_post = event_post,
    .clock_ms = clock_ms,
    .memory_has = memory_has,
#ifdef __rtems__
    .stack_used = stack_used,
#endif
    .log = log_line,
};

static void port_make(void)
{
    if (crew_worker_hook_init() == 0) {
        port_ready = &core_port;
    }
}

const crew_port *crew_port_posix(void)
{
    return pthread_once(&port_once, port_make) == 0 ? port_ready : NULL;
}

void crew_port_posix_use_caller(crew_caller caller)
{
    __atomic_store_n(&job_caller, caller, __ATOMIC_RELEASE);
}
