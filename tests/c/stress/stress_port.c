/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The POSIX port, with a register of its threads: how each of them ended, and which can be
 * cancelled without the danger that it has been joined meanwhile. Fails at random, as the climate
 * says. Reads the log.
 */
#include "stress.h"

#include "crew_port_posix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    size_t thread;
    uint32_t stack_bytes;
} threads[CREW_MAX_WORKERS];
static uint32_t alive;
static uint64_t stack_bytes;
static const crew_port *inner;

static int32_t thread_create(void *context, const crew_thread_spec *spec, size_t *thread)
{
    int32_t error;

    (void)context;
    if (once_in(thread_dice(), now.fail_thread)) {
        count(N_THREAD_FAILED);
        return EAGAIN;
    }
    (void)pthread_mutex_lock(&lock);
    error = alive < CREW_MAX_WORKERS ? inner->thread_create(inner->context, spec, thread) : ENOMEM;
    MUST(error == 0, error);
    if (error == 0) {
        threads[alive].thread = *thread;
        threads[alive].stack_bytes = spec->stack_bytes;
        alive++;
        stack_bytes += spec->stack_bytes;
        count(N_THREADS);
        /* Fixed threads' charges may pass the budget, threads of sets never. */
        MUST(stack_bytes <= BUDGET_BYTES, stack_bytes);
    }
    (void)pthread_mutex_unlock(&lock);
    return error;
}

static void note_end(const void *value)
{
    if (value == NULL) {
        count(N_ENDED_ORDERLY);
    } else if (value == &exit_mark) {
        count(N_ENDED_BY_EXIT);
    } else {
        MUST(value == PTHREAD_CANCELED, 0);
        count(N_ENDED_BY_CANCEL);
    }
}

static int32_t thread_reap(void *context, size_t thread)
{
    void *value = NULL;
    uint32_t i;
    int32_t gone;

    (void)context;
    (void)pthread_mutex_lock(&lock);
    for (i = 0; i < alive && threads[i].thread != thread; i++) {
        /* looks for it */
    }
    MUST(i < alive, alive); /* else it has been joined before */
    gone = i < alive && pthread_tryjoin_np((pthread_t)thread, &value) == 0;
    if (gone) {
        stack_bytes -= threads[i].stack_bytes;
        threads[i] = threads[--alive];
        note_end(value);
    }
    (void)pthread_mutex_unlock(&lock);
    return gone;
}

uint32_t port_threads(void)
{
    uint32_t number;

    (void)pthread_mutex_lock(&lock);
    number = alive;
    (void)pthread_mutex_unlock(&lock);
    return number;
}

uint64_t port_stack_bytes(void)
{
    uint64_t bytes;

    (void)pthread_mutex_lock(&lock);
    bytes = stack_bytes;
    (void)pthread_mutex_unlock(&lock);
    return bytes;
}

void port_cancel(size_t thread)
{
    uint32_t i;

    (void)pthread_mutex_lock(&lock);
    for (i = 0; i < alive; i++) {
        if (threads[i].thread == thread) {
            MUST(pthread_cancel((pthread_t)thread) == 0, thread);
            count(N_CANCELS);
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

void port_cancel_any(dice *own)
{
    (void)pthread_mutex_lock(&lock);
    if (alive > 0u) {
        MUST(pthread_cancel((pthread_t)threads[roll(own, alive)].thread) == 0, alive);
        count(N_CANCELS);
    }
    (void)pthread_mutex_unlock(&lock);
}

static int32_t thread_suspended(void *context, size_t thread)
{
    (void)context;
    (void)thread;
    if (once_in(thread_dice(), now.suspended)) {
        count(N_SUSPENDED);
        return 1;
    }
    return 0;
}

static int32_t event_create(void *context, crew_event *event)
{
    (void)context;
    if (once_in(thread_dice(), now.fail_event)) {
        count(N_EVENT_FAILED);
        return ENOSPC;
    }
    return inner->event_create(inner->context, event);
}

static int32_t memory_has(void *context, size_t bytes, const char **basis)
{
    (void)context;
    (void)bytes;
    if (once_in(thread_dice(), now.no_memory)) {
        count(N_NO_MEMORY);
        *basis = "has less than that free in the test's imagination";
        return 0;
    }
    return -1;
}

static size_t stack_used(void *context, size_t thread)
{
    (void)context;
    return 1024u + thread % 1024u;
}

/*
 * "job LABEL: WHAT" and "pool NAME set N: WHY; the set is retired"; what else there is does not
 * count.
 */
static void log_line(void *context, int32_t severity, const char *text)
{
    char name[CREW_NAME_BYTES];

    (void)context;
    (void)severity;
    if (strncmp(text, "job ", 4u) == 0) {
        token_logged(text + 4, strstr(text, ": failed") != NULL ? CREW_JOB_FAILED
                               : strstr(text, ": died") != NULL ? CREW_JOB_DIED
                                                                : CREW_JOB_NOT_RUN);
    } else if (strstr(text, "the set is retired") != NULL && sscanf(text, "pool %15s", name) == 1) {
        count(N_RETIRED);
        life_retired(name);
    }
}

const crew_port *stress_port(void)
{
    static crew_port port;

    inner = crew_port_posix();
    if (inner == NULL) {
        return NULL;
    }
    port = *inner;
    port.thread_create = thread_create;
    port.thread_reap = thread_reap;
    port.thread_suspended = thread_suspended;
    port.event_create = event_create;
    port.memory_has = memory_has;
    port.stack_used = stack_used;
    port.log = log_line;
    return &port;
}
