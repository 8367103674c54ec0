/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "port_sim.h"
#include "sim_context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define BEGIN_MS 1000u

typedef enum sim_state {
    SIM_FREE,
    SIM_READY,
    SIM_WAITING,
    SIM_ENDED
} sim_state;

typedef struct sim_thread {
    sim_state state;
    uint32_t worker;
    /* SIM_WAITING: for what, and until when. */
    const crew_event *event;
    uint64_t until_ms;
} sim_thread;

/* The creation, counted from now, that fails. */
typedef struct sim_fault {
    uint32_t countdown;
    int32_t error;
} sim_fault;

/* Number 0 is the thread that was there before. */
static sim_thread threads[1 + PORT_SIM_THREADS] = { { .state = SIM_READY } };
static sim_thread *current = &threads[0];
static uint64_t now_ms = BEGIN_MS;
static sim_fault thread_fault;
static sim_fault event_fault;

/* ---- which thread runs ---- */

static size_t number_of(const sim_thread *thread)
{
    return (size_t)(thread - threads);
}

static int can_run(const sim_thread *thread)
{
    return thread->state == SIM_READY ||
           (thread->state == SIM_WAITING &&
            (thread->event->word != 0u || thread->until_ms <= now_ms));
}

/* The next one after the current, round and round; the current itself comes last. */
static sim_thread *next_to_run(void)
{
    const size_t own = number_of(current);
    size_t i;

    for (i = 1; i <= 1u + PORT_SIM_THREADS; i++) {
        sim_thread *thread = &threads[(own + i) % (1u + PORT_SIM_THREADS)];

        if (can_run(thread)) {
            return thread;
        }
    }
    return NULL;
}

static void clock_to_the_end_of_the_shortest_wait(void)
{
    uint64_t soonest = UINT64_MAX;
    size_t i;

    for (i = 0; i <= PORT_SIM_THREADS; i++) {
        if (threads[i].state == SIM_WAITING && threads[i].until_ms < soonest) {
            soonest = threads[i].until_ms;
        }
    }
    now_ms = soonest;
}

/* Comes back when the current thread can run again; for one that has ended, never. */
static void let_others_run(void)
{
    sim_thread *from = current;
    sim_thread *to = next_to_run();

    if (to == NULL) {
        clock_to_the_end_of_the_shortest_wait();
        to = next_to_run();
    }
    if (to != from) {
        current = to;
        sim_context_switch(number_of(from), number_of(to));
    }
}

/* ---- events and the clock ---- */

static int due(sim_fault *fault)
{
    return fault->countdown > 0u && --fault->countdown == 0u;
}

static int32_t event_create(void *context, crew_event *event)
{
    (void)context;
    if (due(&event_fault)) {
        return event_fault.error;
    }
    event->word = 0u;
    return 0;
}

/* The word: 0 = nothing posted, 1 = posted. */
static int32_t event_wait(void *context, crew_event *event, uint32_t timeout_ms)
{
    int32_t posted;

    (void)context;
    if (event->word == 0u && timeout_ms > 0u) {
        current->state = SIM_WAITING;
        current->event = event;
        current->until_ms = now_ms + timeout_ms;
        let_others_run();
        current->state = SIM_READY;
    }
    posted = (int32_t)event->word;
    event->word = 0u;
    return posted;
}

static void event_post(void *context, crew_event *event)
{
    (void)context;
    event->word = 1u;
}

static uint64_t clock_ms(void *context)
{
    (void)context;
    return now_ms;
}

/* ---- threads ---- */

/*
 * The exit hook comes last, with the stack still in use: it is free when the thread has been
 * joined.
 */
static void end_thread(void)
{
    crew_worker_exited(current->worker);
    current->state = SIM_ENDED;
    let_others_run();
    abort();
}

static void thread_main(void)
{
    const uint32_t worker = current->worker;
    crew_work work;
    int32_t next;

    while ((next = crew_worker_next(worker, &work)) != CREW_WORK_STOP) {
        if (next == CREW_WORK_RUN) {
            crew_worker_done(worker, CREW_JOB_RETURNED, work.function(work.argument));
        } else {
            (void)event_wait(NULL, work.event, work.wait_ms);
        }
    }
    end_thread();
}

static sim_thread *free_thread(void)
{
    size_t i;

    for (i = 1; i <= PORT_SIM_THREADS; i++) {
        if (threads[i].state == SIM_FREE) {
            return &threads[i];
        }
    }
    return NULL;
}

static int32_t thread_create(void *context, const crew_thread_spec *spec, size_t *thread)
{
    sim_thread *made = free_thread();
    int32_t error;

    (void)context;
    if (due(&thread_fault)) {
        return thread_fault.error;
    }
    if (spec->stack_bytes > PORT_SIM_STACK_BYTES) {
        return EINVAL;
    }
    if (made == NULL) {
        return EAGAIN;
    }
    error = sim_context_make(number_of(made), thread_main);
    if (error != 0) {
        return error;
    }
    made->worker = spec->worker;
    made->state = SIM_READY;
    *thread = number_of(made);
    return 0;
}

static int32_t thread_reap(void *context, size_t thread)
{
    (void)context;
    if (threads[thread].state != SIM_ENDED) {
        return 0;
    }
    threads[thread].state = SIM_FREE;
    return 1;
}

static int32_t memory_has(void *context, size_t bytes, const char **basis)
{
    (void)context;
    (void)bytes;
    (void)basis;
    return -1;
}

static void log_line(void *context, int32_t severity, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "crew (severity %d): %s\n", (int)severity, text);
}

/* ---- for the tests ---- */

const crew_port *port_sim(void)
{
    static const crew_port port = {
        .size = sizeof(crew_port),
        .target = CREW_TARGET_HOST,
        .thread_overhead_bytes = PORT_SIM_OVERHEAD_BYTES,
        .thread_create = thread_create,
        .thread_reap = thread_reap,
        .event_create = event_create,
        .event_wait = event_wait,
        .event_post = event_post,
        .clock_ms = clock_ms,
        .memory_has = memory_has,
        .log = log_line,
    };

    return &port;
}

void port_sim_fail_thread(uint32_t nth, int32_t error)
{
    thread_fault.countdown = nth;
    thread_fault.error = error;
}

void port_sim_fail_event(uint32_t nth, int32_t error)
{
    event_fault.countdown = nth;
    event_fault.error = error;
}

uint32_t port_sim_threads(void)
{
    uint32_t count = 0;
    size_t i;

    for (i = 1; i <= PORT_SIM_THREADS; i++) {
        count += threads[i].state != SIM_FREE;
    }
    return count;
}

uint32_t port_sim_worker(size_t thread)
{
    return threads[thread].worker;
}

void port_sim_exit(void)
{
    end_thread();
}
