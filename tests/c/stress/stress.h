/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The stress program's parts and what they share. Threads do everything that crew.h offers, to
 * their own handles and to each other's, while workers are killed and the target refuses at random;
 * every job that is handed in is followed to its one end, and all sums are compared whenever
 * nothing moves.
 */
#ifndef STRESS_H
#define STRESS_H

#include "crew.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A wait that ends only when something is broken. */
#define LONG_MS 300000u
#define CLIENTS_MOST 48u
#define SLOTS 4u /* pools open at one time */
#define BUDGET_MIB 8u
#define BUDGET_BYTES ((uint64_t)BUDGET_MIB << 20)

/* ---- what a round is like ---- */

/* How often things happen: one in so many. 0: never. */
typedef struct climate {
    int calm;      /* nothing is killed and nothing fails, so that a lost set has no excuse */
    int stable;    /* no pool is closed */
    int sealed;    /* crew_seal came before; nothing is closed or trimmed */
    uint32_t kill; /* threads; jobs that end their thread: see any_kind */
    uint32_t fail_thread;
    uint32_t fail_event;
    uint32_t no_memory;
    uint32_t suspended;
} climate;

extern climate now;

/* ---- numbers ---- */

/* xorshift64*; each thread has its own. */
typedef struct dice {
    uint64_t state;
} dice;

uint32_t roll(dice *own, uint32_t sides);
/* 1 once in `odds` calls on average; 0 odds: never. */
int once_in(dice *own, uint32_t odds);
/* The calling thread's own, for those that were not given any. */
dice *thread_dice(void);
void dice_seed(uint64_t seed);

/* Counters of what the clients did and saw. The program prints all of them. */
enum {
    N_ACQUIRE,
    N_LEASES,
    N_RUN,
    N_JOBS,
    N_JOIN,
    N_DETACH,
    N_RELEASE,
    N_TRIM,
    N_CLOSE,
    N_OPEN,
    N_CHARGE,
    N_USAGE,
    N_REPORT,
    N_STALE,
    N_STRANGERS,
    N_CLOSED,
    N_RETURNED,
    N_FAILED,
    N_DIED,
    N_NOT_RUN,
    N_NOT_TAKEN,
    N_JOIN_TIMED_OUT,
    N_JOIN_BUSY,
    N_RUN_BUSY,
    N_NO_CELL,
    N_LOST_LEASES,
    N_THREADS,
    N_ENDED_ORDERLY,
    N_ENDED_BY_EXIT,
    N_ENDED_BY_CANCEL,
    N_CANCELS,
    N_RETIRED,
    N_THREAD_FAILED,
    N_EVENT_FAILED,
    N_NO_MEMORY,
    N_SUSPENDED,
    N_EXITS_BEGUN,
    N_UNWOUND,
    N_COUNTS
};

extern uint64_t counts[N_COUNTS];
extern uint64_t refusals[CREW_REFUSAL_KINDS];

void count(int what);
uint64_t counted(int what);

/* ---- what is wrong ---- */

extern uint32_t wrongs;

/* Says the first few, counts all. `detail`: the number that should have been another. */
void wrong(const char *file, int line, const char *what, int64_t detail);

#define MUST(condition, detail) \
    ((condition) ? (void)0 : wrong(__FILE__, __LINE__, #condition, (int64_t)(detail)))

/* Polls every millisecond for at most LONG_MS; 1 = it came true. */
int eventually(int (*condition)(void *context), void *context);

/* ---- jobs and their tokens (stress_job.c) ---- */

enum { QUICK, WAITS, THROWS, EXITS, CALLS, KINDS };

/* One job that was handed in. Only its client gives it a new life. */
typedef struct token {
    uint64_t id;    /* never used twice */
    uint64_t echo;  /* plain memory: written by the job, read by its joiner */
    uint32_t kind;
    uint32_t begun;
    uint32_t ended; /* the function came to its end */
    uint32_t unwound;
    uint32_t logged;
    int32_t logged_outcome;
    uint32_t settled; /* 1 + outcome, by its joiner */
    uint32_t detached;
} token;

#define TOKENS 64u /* of one client */

extern token tokens[CLIENTS_MOST][TOKENS];
extern const crew_function job_functions[KINDS];
/* In stress_throw.cpp. */
int32_t job_throws(void *argument);

token *token_begin(uint32_t client, uint32_t slot, uint32_t kind);
/* "t<client>.<slot>.<serial>" */
void token_label(const token *job, char label[CREW_LABEL_BYTES]);
/* The function's value when it returns. */
int32_t token_value(const token *job);
/* crew_join took its result. */
void token_joined(token *job, const crew_result *result);
/* crew_run did not take it. */
void token_refused(token *job, int32_t status, int detached);
/* Whether nothing more can happen to it; then everything about it must be right, and is counted. */
int token_is_over(token *job);
/* Once more, before its memory is used for the next: nothing may have happened since. */
void token_still_over(const token *job);
/*
 * crew_detach of a job that has ended already does not name it in the log: the calling thread names
 * it here.
 */
void token_detaching(token *job);
/* The log's line about a job. `label` may be followed by anything. */
void token_logged(const char *label, int32_t outcome);

/* ---- the port (stress_port.c) ---- */

const crew_port *stress_port(void);
/* Threads that were made and not yet joined, and their stacks. */
uint32_t port_threads(void);
uint64_t port_stack_bytes(void);
/* Cancels the thread, if it has not been joined yet. */
void port_cancel(size_t thread);
/* Cancels any one. */
void port_cancel_any(dice *own);
/* The value with which job_exits ends its thread. */
extern char exit_mark;

/* ---- pools (stress_pools.c) ---- */

/* One life of a pool. */
typedef struct life {
    crew_pool pool;
    char name[CREW_NAME_BYTES];
    uint32_t slot;
    uint32_t role_count;
    uint32_t per_peer;
    uint32_t users;   /* threads inside a call about it */
    uint32_t closing; /* a thread has begun to close it */
    uint32_t closed;  /* crew_pool_close answered CREW_OK so often */
    uint32_t granted;
    uint32_t retired; /* log lines about its sets */
    uint32_t refused[CREW_REFUSAL_KINDS];
    uint32_t peer_has[8];
} life;

/* Bytes of all sets of all pools together: more than the budget. */
uint64_t pools_bytes(void);
/* The present life of a slot, or NULL. The caller becomes its user, until life_leave. */
life *life_take(uint32_t slot);
/* One user more, one user fewer. */
void life_keep(life *its);
void life_leave(life *its);
/* Closes it as far as it goes in the time. */
void life_close(life *its, uint32_t timeout_ms);
/* Opens what is not open, closes on what others have begun to close, until told to stop. */
void pools_own(const uint32_t *stop);
/* Only while no client uses the pools: every pool's figures and all sums must agree. */
void pools_check(void);
void pools_open_all(void);
void pools_close_all(void);
/* The log's line about a set that was retired for a death or a suspension. */
void life_retired(const char *name);

/* ---- clients (stress_client.c) ---- */

void clients_run(uint32_t clients, uint64_t seed, uint32_t milliseconds);

#ifdef __cplusplus
}
#endif

#endif
