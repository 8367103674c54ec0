/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A port around the POSIX port that counts, listens and, when told to, fails. A test boots with
 * `wrap_port`; the settings may be changed at any time from the test's thread.
 */
#ifndef WRAP_H
#define WRAP_H

#include "crew_port_posix.h"

#include <pthread.h>
#include <string.h>

#define WRAP_LOG_LINES 256

typedef struct wrap {
    const crew_port *inner;
    /* Counted since the start. */
    int threads_made;
    int threads_reaped;
    int events_made;
    int memory_asked;
    /* The call, counted from now, that fails: 1 = the next. 0 = none. */
    int fail_thread_in;
    int fail_event_in;
    int fail_memory_in;
    /* 1 = so do all calls of its kind after it. */
    int from_there_on;
    int faults;
    int error;
    /* What memory_has answers: -1 cannot tell, 0 no, 1 yes. */
    int memory_answer;
    /* The lines that Crew logged. */
    pthread_mutex_t lock;
    int lines;
    int32_t severity[WRAP_LOG_LINES];
    char line[WRAP_LOG_LINES][256];
} wrap_state;

static wrap_state wrap;

static inline int wrap_read(const int *counter)
{
    return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

static inline void wrap_set(int *counter, int value)
{
    __atomic_store_n(counter, value, __ATOMIC_SEQ_CST);
}

static inline void wrap_add(int *counter)
{
    (void)__atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

/* Threads that exist: made and not yet joined. */
static inline int wrap_threads(void)
{
    return wrap_read(&wrap.threads_made) - wrap_read(&wrap.threads_reaped);
}

/* 1 = this is a call that is to fail. */
static inline int wrap_due(int *countdown)
{
    if (wrap_read(countdown) <= 0 || __atomic_sub_fetch(countdown, 1, __ATOMIC_SEQ_CST) != 0) {
        return 0;
    }
    wrap_add(&wrap.faults);
    if (wrap_read(&wrap.from_there_on)) {
        wrap_set(countdown, 1);
    }
    return 1;
}

static int32_t wrap_thread_create(void *context, const crew_thread_spec *spec, size_t *thread)
{
    int32_t error;

    (void)context;
    if (wrap_due(&wrap.fail_thread_in)) {
        return wrap_read(&wrap.error);
    }
    error = wrap.inner->thread_create(wrap.inner->context, spec, thread);
    if (error == 0) {
        wrap_add(&wrap.threads_made);
    }
    return error;
}

static int32_t wrap_thread_reap(void *context, size_t thread)
{
    int32_t gone = wrap.inner->thread_reap(wrap.inner->context, thread);

    (void)context;
    if (gone == 1) {
        wrap_add(&wrap.threads_reaped);
    }
    return gone;
}

static int32_t wrap_event_create(void *context, crew_event *event)
{
    (void)context;
    if (wrap_due(&wrap.fail_event_in)) {
        return wrap_read(&wrap.error);
    }
    wrap_add(&wrap.events_made);
    return wrap.inner->event_create(wrap.inner->context, event);
}

static int32_t wrap_memory_has(void *context, size_t bytes, const char **basis)
{
    int answer = wrap_read(&wrap.memory_answer);

    (void)context;
    (void)bytes;
    wrap_add(&wrap.memory_asked);
    if (wrap_due(&wrap.fail_memory_in)) {
        answer = 0;
    }
    if (answer >= 0) {
        *basis = "has less than that free in the test's imagination";
    }
    return answer;
}

static void wrap_log(void *context, int32_t severity, const char *text)
{
    (void)context;
    (void)pthread_mutex_lock(&wrap.lock);
    if (wrap.lines < WRAP_LOG_LINES) {
        wrap.severity[wrap.lines] = severity;
        (void)strncpy(wrap.line[wrap.lines], text, sizeof(wrap.line[0]) - 1u);
        wrap.lines++;
    }
    (void)pthread_mutex_unlock(&wrap.lock);
}

/* How many lines of this severity contain `part`. */
static inline int wrap_logged(int32_t severity, const char *part)
{
    int found = 0;
    int i;

    (void)pthread_mutex_lock(&wrap.lock);
    for (i = 0; i < wrap.lines; i++) {
        found += wrap.severity[i] == severity && strstr(wrap.line[i], part) != NULL;
    }
    (void)pthread_mutex_unlock(&wrap.lock);
    return found;
}

/* Call once, before crew_boot. */
static inline const crew_port *wrap_port(void)
{
    static crew_port port;

    memset(&wrap, 0, sizeof(wrap));
    (void)pthread_mutex_init(&wrap.lock, NULL);
    wrap.inner = crew_port_posix();
    wrap.memory_answer = -1;
    port = *wrap.inner;
    port.context = NULL;
    port.thread_create = wrap_thread_create;
    port.thread_reap = wrap_thread_reap;
    port.event_create = wrap_event_create;
    port.memory_has = wrap_memory_has;
    port.log = wrap_log;
    return &port;
}

#endif
