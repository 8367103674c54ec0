/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The jobs, and the book-keeping that follows each of them to its one end. */
#include "stress.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SERIALS UINT64_C(0xffffffffff)
/* Serial numbers below this fit into a label. */
#define SERIAL_MODULUS 1000000000u

/* By client and slot, so that a label leads to its token. */
token tokens[CLIENTS_MOST][TOKENS];
static __thread token *detaching;
char exit_mark;

static uint32_t get(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void add(uint32_t *word)
{
    (void)__atomic_add_fetch(word, 1u, __ATOMIC_ACQ_REL);
}

static uint64_t echo_of(uint64_t id)
{
    return id * UINT64_C(0x9e3779b97f4a7c15) + 1u;
}

int32_t token_value(const token *job)
{
    return (int32_t)(uint32_t)(echo_of(job->id) >> 16);
}

/* ---- the jobs ---- */

static token *begin(void *argument)
{
    token *job = (token *)argument;

    add(&job->begun);
    return job;
}

static int32_t end(token *job)
{
    const int32_t value = token_value(job);

    job->echo = echo_of(job->id);
    /* the last access: the token of a detached job may have a new life from here on */
    add(&job->ended);
    return value;
}

static int32_t job_quick(void *argument)
{
    return end(begin(argument));
}

static void note_unwound(void *argument)
{
    add(&((token *)argument)->unwound);
    count(N_UNWOUND);
}

/*
 * A sleep that is a cancellation point. The thread sanitizer puts a nanosleep of its own in the C
 * library's place, and does not notice when it is left by cancellation: it takes none of that
 * thread's atomics for ordering from then on, and reports what the exit hook hands over. So there
 * the sleep is the system's, with a cancellation point after it.
 */
static void nap(const struct timespec *time)
{
#ifdef __SANITIZE_THREAD__
    (void)syscall(SYS_nanosleep, time, NULL);
    pthread_testcancel();
#else
    (void)nanosleep(time, NULL);
#endif
}

static int32_t job_waits(void *argument)
{
    token *job = begin(argument);
    struct timespec time = { 0, 0 };

    time.tv_nsec = (long)roll(thread_dice(), 3000000u);
    pthread_cleanup_push(note_unwound, job);
    nap(&time);
    pthread_cleanup_pop(0);
    return end(job);
}

static int32_t job_exits(void *argument)
{
    (void)begin(argument);
    count(N_EXITS_BEGUN);
    pthread_exit(&exit_mark);
    return 0;
}

/*
 * A worker that is itself a client of another pool. It may be cancelled, so it calls Crew with care
 * (crew.h).
 */
static int32_t job_calls(void *argument)
{
    token *job = begin(argument);
    life *its;
    int state;
    int ignored;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    its = life_take(SLOTS - 1u);
    if (its != NULL) {
        crew_usage usage = CREW_USAGE_INIT;
        const int32_t status = crew_pool_usage(its->pool, &usage);

        count(N_USAGE);
        MUST(status == CREW_OK || status == CREW_STALE, status);
        life_leave(its);
    }
    (void)pthread_setcancelstate(state, &ignored);
    return end(job);
}

const crew_function job_functions[KINDS] = { job_quick, job_waits, job_throws, job_exits,
                                             job_calls };

/* ---- a token's life ---- */

token *token_begin(uint32_t client, uint32_t slot, uint32_t kind)
{
    token *job = &tokens[client][slot];
    const uint64_t serial = (job->id & SERIALS) + 1u;

    memset(job, 0, sizeof(*job));
    job->id = (uint64_t)client << 56 | (uint64_t)slot << 48 | serial;
    job->kind = kind;
    return job;
}

void token_label(const token *job, char label[CREW_LABEL_BYTES])
{
    (void)snprintf(label, CREW_LABEL_BYTES, "t%u.%u.%u", (unsigned)(job->id >> 56),
                   (unsigned)(job->id >> 48 & 0xffu),
                   (unsigned)((job->id & SERIALS) % SERIAL_MODULUS));
}

void token_joined(token *job, const crew_result *result)
{
    MUST(result->outcome >= CREW_JOB_RETURNED && result->outcome <= CREW_JOB_NOT_RUN,
         result->outcome);
    if (result->outcome == CREW_JOB_RETURNED) {
        MUST(result->value == token_value(job), result->value);
        MUST(job->echo == echo_of(job->id), job->kind);
    }
    MUST(get(&job->detached) == 0u, job->kind);
    MUST(__atomic_exchange_n(&job->settled, 1u + (uint32_t)result->outcome, __ATOMIC_ACQ_REL) == 0u,
         job->kind);
}

void token_refused(token *job, int32_t status, int detached)
{
    const uint32_t lines = detached && status == CREW_NOT_RUN ? 1u : 0u;

    count(N_NOT_TAKEN);
    MUST(get(&job->begun) == 0u, status);
    MUST(get(&job->logged) == lines, status);
    MUST(lines == 0u || job->logged_outcome == CREW_JOB_NOT_RUN, status);
}

/* A job of this kind with this outcome must have done this, and nothing else. */
static void check_outcome(const token *job, int32_t outcome)
{
    static const int outcomes[4] = { N_RETURNED, N_FAILED, N_DIED, N_NOT_RUN };
    const uint32_t begun = get(&job->begun);
    const uint32_t ended = get(&job->ended);

    count(outcomes[outcome & 3]);
    switch (outcome) {
    case CREW_JOB_RETURNED:
        MUST(begun == 1u && ended == 1u, job->kind);
        MUST(job->kind != THROWS && job->kind != EXITS, job->kind);
        break;
    case CREW_JOB_FAILED:
        MUST(begun == 1u && ended == 0u && job->kind == THROWS, job->kind);
        break;
    case CREW_JOB_DIED:
        MUST(begun == 1u && ended == 0u, job->kind);
        MUST(job->kind == EXITS || get(&job->unwound) == 1u, job->kind);
        break;
    default:
        MUST(begun == 0u && ended == 0u, job->kind);
        break;
    }
}

int token_is_over(token *job)
{
    const uint32_t settled = get(&job->settled);

    if (settled != 0u) {
        check_outcome(job, (int32_t)settled - 1);
        MUST(get(&job->logged) == 0u, job->kind);
        return 1;
    }
    if (get(&job->detached) == 0u) {
        return 0;
    }
    if (get(&job->logged) != 0u) {
        check_outcome(job, job->logged_outcome);
        MUST(get(&job->logged) == 1u, job->kind);
        return 1;
    }
    if (get(&job->ended) != 0u) {
        check_outcome(job, CREW_JOB_RETURNED);
        return 1;
    }
    return 0;
}

void token_still_over(const token *job)
{
    MUST(get(&job->begun) <= 1u && get(&job->ended) <= get(&job->begun) && get(&job->logged) <= 1u,
         job->kind);
    MUST(get(&job->settled) == 0u || get(&job->detached) == 0u, job->kind);
    MUST(get(&job->settled) == 0u || get(&job->logged) == 0u, job->kind);
    MUST(get(&job->logged) == 0u || get(&job->ended) == 0u, job->kind);
}

void token_detaching(token *job)
{
    detaching = job;
}

/* ---- what the log says ---- */

static token *token_of(const char *label)
{
    unsigned client;
    unsigned slot;
    unsigned serial;
    token *job;

    if (label[0] == '(') {
        return detaching;
    }
    if (sscanf(label, "t%u.%u.%u", &client, &slot, &serial) != 3 || client >= CLIENTS_MOST ||
        slot >= TOKENS) {
        return NULL;
    }
    job = &tokens[client][slot];
    return (job->id & SERIALS) % SERIAL_MODULUS == serial ? job : NULL;
}

void token_logged(const char *label, int32_t outcome)
{
    token *job = token_of(label);

    MUST(job != NULL, outcome); /* else a job was told of twice: its token has a new life */
    if (job != NULL) {
        job->logged_outcome = outcome;
        add(&job->logged);
    }
}
