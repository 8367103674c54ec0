/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A client: does anything at random, to what it holds, and to what it sees others hold. Its own
 * handles are ended by strangers under its hands; it knows what then may happen, and that it
 * happens to only one of the two.
 */
#include "stress.h"

#include "audit.h"

#include <string.h>
#include <time.h>

#define LEASES 4u
#define JOBS 24u
#define CHARGES 3u
#define ENDED 16u /* handles that have ended and are tried again */
#define BOARD 32u
#define PEERS 6u
#define EXITS_PER_KILL 20u

typedef struct loan {
    crew_lease lease;
    life *its; /* NULL: none; a user of it otherwise */
    uint64_t peer;
} loan;

typedef struct task {
    crew_job job; /* 0: detached */
    token *its;   /* NULL: none */
} task;

typedef struct client {
    pthread_t thread;
    uint32_t number;
    dice own;
    loan loans[LEASES];
    task tasks[JOBS];
    crew_charge_handle charges[CHARGES];
    crew_lease ended_leases[ENDED];
    crew_job ended_jobs[ENDED];
    uint32_t next_token;
    uint8_t token_taken[TOKENS];
} client;

/* Handles that a client shows to strangers; they may have ended since. */
typedef struct notice {
    pthread_mutex_t lock;
    crew_lease lease;
    uint32_t roles;
    task work;
} notice;

static client clients[CLIENTS_MOST];
static notice board[BOARD];
static uint32_t stop;
/* Counts of this round. */
static uint64_t granted;
static uint64_t released_by_strangers;
static uint64_t released_by_borrowers;
static uint64_t lost_by_borrowers;

static const uint32_t waits_ms[8] = { 0u, 0u, 0u, 0u, 1u, 5u, 20u, 50u };

static int stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_ACQUIRE) != 0u;
}

static void add(uint64_t *number)
{
    (void)__atomic_add_fetch(number, 1u, __ATOMIC_RELAXED);
}

/* ---- leases ---- */

static loan *any_loan(client *self, int free)
{
    const uint32_t first = roll(&self->own, LEASES);
    uint32_t i;

    for (i = 0; i < LEASES; i++) {
        loan *it = &self->loans[(first + i) % LEASES];

        if ((it->its == NULL) == free) {
            return it;
        }
    }
    return NULL;
}

static void check_refusal(const crew_refusal *why, int32_t status, const life *its)
{
    MUST(why->kind == status, why->kind);
    switch (status) {
    case CREW_REFUSED_OUT_OF_RESERVATION:
        MUST(why->bytes_requested > 0u && why->bytes_budget == BUDGET_BYTES, why->bytes_budget);
        break;
    case CREW_REFUSED_PEER_LIMIT:
        MUST(why->capacity == its->per_peer, why->capacity);
        break;
    case CREW_REFUSED_AT_CAPACITY:
        MUST(why->capacity > 0u, why->capacity);
        break;
    case CREW_REFUSED_SHUTTING_DOWN:
        MUST(__atomic_load_n(&its->closing, __ATOMIC_SEQ_CST) != 0u, its->slot);
        break;
    case CREW_REFUSED_SEALED:
        MUST(now.sealed, status);
        break;
    case CREW_REFUSED_TOO_MANY_WAITERS:
        MUST(why->capacity == CREW_MAX_WAITERS, why->capacity);
        break;
    default:
        MUST(status == CREW_REFUSED_SPAWN_FAILED || status == CREW_REFUSED_OBJECTS_EXHAUSTED ||
                 status == CREW_REFUSED_TARGET_MEMORY,
             status);
        MUST(!now.calm, status);
        break;
    }
}

static void show_lease(client *self, const loan *it)
{
    notice *at = &board[roll(&self->own, BOARD)];

    (void)pthread_mutex_lock(&at->lock);
    at->lease = it->lease;
    at->roles = it->its->role_count;
    (void)pthread_mutex_unlock(&at->lock);
}

static void acquire(client *self)
{
    loan *it = any_loan(self, 1);
    life *its = it != NULL ? life_take(roll(&self->own, SLOTS)) : NULL;
    crew_refusal why = CREW_REFUSAL_INIT;
    uint32_t wait_ms;
    int32_t status;

    if (its == NULL) {
        return;
    }
    wait_ms = waits_ms[roll(&self->own, 8u)];
    it->peer = once_in(&self->own, 2u) ? 1u + roll(&self->own, PEERS) : 0u;
    count(N_ACQUIRE);
    status = it->peer != 0u ? crew_acquire_peer(its->pool, it->peer, wait_ms, &it->lease, &why)
                            : crew_acquire(its->pool, wait_ms, &it->lease, &why);
    if (status == CREW_OK) {
        count(N_LEASES);
        add(&granted);
        (void)__atomic_add_fetch(&its->granted, 1u, __ATOMIC_ACQ_REL);
        it->its = its; /* stays its user */
        if (it->peer != 0u && its->per_peer != 0u) {
            /*
             * The count here must never be above the core's: uncount a set first, then release it.
             */
            const uint32_t has = __atomic_add_fetch(&its->peer_has[it->peer], 1u, __ATOMIC_SEQ_CST);

            MUST(!now.calm || has <= its->per_peer ||
                     __atomic_load_n(&its->closing, __ATOMIC_SEQ_CST) != 0u,
                 has);
        }
        /* A stranger's release would not be seen by the count above. */
        if (it->peer == 0u && once_in(&self->own, 8u)) {
            show_lease(self, it);
        }
        return;
    }
    if (status != CREW_STALE) {
        (void)__atomic_add_fetch(&refusals[status & (int32_t)(CREW_REFUSAL_KINDS - 1u)], 1u,
                                 __ATOMIC_RELAXED);
        (void)__atomic_add_fetch(&its->refused[status & (int32_t)(CREW_REFUSAL_KINDS - 1u)], 1u,
                                 __ATOMIC_ACQ_REL);
        check_refusal(&why, status, its);
    } else {
        MUST(__atomic_load_n(&its->closing, __ATOMIC_SEQ_CST) != 0u, its->slot);
    }
    life_leave(its);
}

/* A set of an open pool ends under its lease only when something killed it. */
static void check_lost(const life *its, int32_t status)
{
    MUST(!now.calm || status == CREW_STALE ||
             __atomic_load_n(&its->closing, __ATOMIC_SEQ_CST) != 0u,
         status);
}

static void release(client *self, loan *it)
{
    int32_t status;

    if (it->peer != 0u && it->its->per_peer != 0u) {
        (void)__atomic_sub_fetch(&it->its->peer_has[it->peer], 1u, __ATOMIC_SEQ_CST);
    }
    status = crew_release(it->lease);
    count(N_RELEASE);
    if (status == CREW_OK) {
        add(&released_by_borrowers);
    } else {
        MUST(status == CREW_STALE || status == CREW_RETIRED, status);
        check_lost(it->its, status);
        add(&lost_by_borrowers);
    }
    if (once_in(&self->own, 4u)) {
        status = crew_release(it->lease);
        count(N_STALE);
        MUST(status == CREW_STALE || status == CREW_RETIRED, status);
    }
    self->ended_leases[roll(&self->own, ENDED)] = it->lease;
    life_leave(it->its);
    it->its = NULL;
}

/* ---- jobs ---- */

static int32_t settle(task *work, uint32_t timeout_ms)
{
    crew_result result = CREW_RESULT_INIT;
    const int32_t status = crew_join(work->job, timeout_ms, &result);

    count(N_JOIN);
    if (status == CREW_OK) {
        token_joined(work->its, &result);
    } else {
        count(status == CREW_TIMED_OUT ? N_JOIN_TIMED_OUT
              : status == CREW_BUSY    ? N_JOIN_BUSY
                                       : N_STALE);
        MUST(status == CREW_TIMED_OUT || status == CREW_BUSY || status == CREW_STALE, status);
    }
    return status;
}

static int32_t detach(task *work)
{
    int32_t status;

    token_detaching(work->its);
    status = crew_detach(work->job);
    token_detaching(NULL);
    count(N_DETACH);
    if (status == CREW_OK) {
        MUST(__atomic_exchange_n(&work->its->detached, 1u, __ATOMIC_ACQ_REL) == 0u,
             work->its->kind);
    } else {
        MUST(status == CREW_BUSY || status == CREW_STALE, status);
    }
    return status;
}

static void forget_token(client *self, const token *its)
{
    self->token_taken[its - tokens[self->number]] = 0u;
}

/* Takes note of a job's end. A job that a stranger joins or detaches is over a moment later. */
static void look_after(client *self, task *work)
{
    if (work->its != NULL && token_is_over(work->its)) {
        forget_token(self, work->its);
        if (work->job.bits != 0u) {
            self->ended_jobs[roll(&self->own, ENDED)] = work->job;
        }
        work->its = NULL;
    }
}

static task *free_task(client *self)
{
    uint32_t i;

    for (i = 0; i < JOBS; i++) {
        look_after(self, &self->tasks[i]);
        if (self->tasks[i].its == NULL) {
            return &self->tasks[i];
        }
    }
    return NULL;
}

static uint32_t any_kind(dice *own)
{
    const uint32_t side = roll(own, 100u);

    if (once_in(own, now.kill * EXITS_PER_KILL)) {
        return EXITS;
    }
    return side < 60u ? QUICK : side < 85u ? WAITS : side < 93u ? THROWS : CALLS;
}

static token *new_token(client *self)
{
    uint32_t slot;

    do {
        slot = self->next_token++ % TOKENS;
    } while (self->token_taken[slot] != 0u);
    self->token_taken[slot] = 1u;
    token_still_over(&tokens[self->number][slot]);
    return token_begin(self->number, slot, any_kind(&self->own));
}

static void run_on(client *self, crew_lease lease, uint32_t roles, const life *its)
{
    const int detached = once_in(&self->own, 4u);
    task *work = free_task(self);
    char label[CREW_LABEL_BYTES];
    int32_t status;

    if (work == NULL || roles == 0u) {
        return;
    }
    work->its = new_token(self);
    work->its->detached = (uint32_t)detached;
    work->job.bits = 0u;
    token_label(work->its, label);
    count(N_RUN);
    status = crew_run(lease, roll(&self->own, roles), label, job_functions[work->its->kind],
                      work->its, detached ? NULL : &work->job);
    if (status == CREW_OK) {
        count(N_JOBS);
        if (!detached && once_in(&self->own, 8u)) {
            notice *at = &board[roll(&self->own, BOARD)];

            (void)pthread_mutex_lock(&at->lock);
            at->work = *work;
            (void)pthread_mutex_unlock(&at->lock);
        }
        return;
    }
    token_refused(work->its, status, detached);
    forget_token(self, work->its);
    work->its = NULL;
    if (status == CREW_BUSY || status == CREW_NO_JOB_CELL) {
        count(status == CREW_BUSY ? N_RUN_BUSY : N_NO_CELL);
    } else {
        MUST(status == CREW_NOT_RUN || status == CREW_STALE, status);
        if (its != NULL) {
            check_lost(its, status);
        }
    }
}

static void run(client *self)
{
    const loan *it = any_loan(self, 0);

    if (it != NULL) {
        run_on(self, it->lease, it->its->role_count, it->its);
    }
}

static task *any_task(client *self)
{
    const uint32_t first = roll(&self->own, JOBS);
    uint32_t i;

    for (i = 0; i < JOBS; i++) {
        task *work = &self->tasks[(first + i) % JOBS];

        if (work->its != NULL && work->job.bits != 0u) {
            return work;
        }
    }
    return NULL;
}

static void join(client *self)
{
    task *work = any_task(self);

    if (work != NULL) {
        (void)settle(work, waits_ms[roll(&self->own, 8u)]);
        look_after(self, work);
    }
}

static void leave_alone(client *self)
{
    task *work = any_task(self);

    if (work != NULL) {
        (void)detach(work);
        look_after(self, work);
    }
}

/* ---- strangers' handles, ended handles ---- */

static void meddle(client *self)
{
    notice *at = &board[roll(&self->own, BOARD)];
    crew_lease lease;
    uint32_t roles;
    task work;

    (void)pthread_mutex_lock(&at->lock);
    lease = at->lease;
    roles = at->roles;
    work = at->work;
    (void)pthread_mutex_unlock(&at->lock);
    count(N_STRANGERS);
    switch (roll(&self->own, 4u)) {
    case 0u:
        if (work.its != NULL) {
            (void)settle(&work, waits_ms[roll(&self->own, 8u)]);
        }
        break;
    case 1u:
        if (work.its != NULL) {
            (void)detach(&work);
        }
        break;
    case 2u:
        if (lease.bits != 0u) {
            run_on(self, lease, roles, NULL);
        }
        break;
    default:
        if (lease.bits != 0u && once_in(&self->own, 4u)) {
            const int32_t status = crew_release(lease);

            MUST(status == CREW_OK || status == CREW_STALE || status == CREW_RETIRED, status);
            if (status == CREW_OK) {
                add(&released_by_strangers);
            }
        }
        break;
    }
}

static void try_ended(client *self)
{
    const crew_lease lease = self->ended_leases[roll(&self->own, ENDED)];
    const crew_job job = self->ended_jobs[roll(&self->own, ENDED)];
    size_t thread;

    if (lease.bits != 0u) {
        const int32_t status = crew_release(lease);
        const int32_t of_thread = crew_lease_thread(lease, 0u, &thread);

        count(N_STALE);
        MUST(status == CREW_STALE || status == CREW_RETIRED, status);
        MUST(of_thread == CREW_STALE || of_thread == CREW_RETIRED, of_thread);
    }
    if (job.bits != 0u) {
        const int32_t status =
            once_in(&self->own, 2u) ? crew_join(job, 1u, NULL) : crew_detach(job);

        count(N_STALE);
        MUST(status == CREW_STALE, status);
    }
}

/* ---- the rest ---- */

static void kill_one(client *self)
{
    const loan *it = any_loan(self, 0);
    size_t thread;

    if (it == NULL || once_in(&self->own, 2u)) {
        port_cancel_any(&self->own);
    } else if (it->its->role_count > 0u &&
               crew_lease_thread(it->lease, roll(&self->own, it->its->role_count), &thread) ==
                   CREW_OK) {
        port_cancel(thread);
    }
}

static void charge(client *self)
{
    crew_charge_handle *at = &self->charges[roll(&self->own, CHARGES)];
    int32_t status;

    count(N_CHARGE);
    if (at->bits == 0u) {
        status = crew_charge(1u + roll(&self->own, 65536u), at);
        /* CLIENTS_MOST * CHARGES may be more than the table has. */
        MUST(status == CREW_OK || status == CREW_TABLE_FULL, status);
    } else {
        const crew_charge_handle gone = *at;

        status = crew_uncharge(gone);
        MUST(status == CREW_OK, status);
        status = crew_uncharge(gone);
        MUST(status == CREW_STALE, status);
        at->bits = 0u;
    }
}

static void take_line(void *context, const char *line)
{
    *(size_t *)context += strlen(line);
}

static void look(client *self)
{
    life *its = life_take(roll(&self->own, SLOTS));
    crew_usage usage = CREW_USAGE_INIT;
    crew_account account = CREW_ACCOUNT_INIT;

    if (its != NULL) {
        const int32_t status = crew_pool_usage(its->pool, &usage);

        count(N_USAGE);
        MUST(status == CREW_OK || status == CREW_STALE, status);
        MUST(usage.created <= usage.capacity && usage.busy <= usage.created, usage.created);
        life_leave(its);
    }
    MUST(crew_account_usage(&account) == CREW_OK && account.high_water_bytes >= account.held_bytes,
         account.held_bytes);
    if (once_in(&self->own, 8u)) {
        char text[256];
        size_t bytes = 0u;

        MUST(crew_audit_busy(text, sizeof(text)) == 1, 0);
        count(N_REPORT);
        MUST(crew_report(roll(&self->own, 4u), take_line, &bytes) == CREW_OK && bytes > 0u, bytes);
    }
}

static void trim(client *self)
{
    life *its = life_take(roll(&self->own, SLOTS));

    if (its != NULL) {
        const int32_t status = crew_pool_trim(its->pool, roll(&self->own, 4u));

        count(N_TRIM);
        MUST(status == CREW_OK || status == CREW_STALE, status);
        life_leave(its);
    }
}

static void close_pool(client *self)
{
    life *its = life_take(roll(&self->own, SLOTS));

    if (its != NULL) {
        life_close(its, roll(&self->own, 60u));
        life_leave(its);
    }
}

static void act(client *self)
{
    const uint32_t side = roll(&self->own, 1000u);
    loan *it;

    if (side < 200u) {
        acquire(self);
    } else if (side < 500u) {
        run(self);
    } else if (side < 740u) {
        join(self);
    } else if (side < 760u) {
        leave_alone(self);
    } else if (side < 900u) {
        it = any_loan(self, 0);
        if (it != NULL) {
            release(self, it);
        }
    } else if (side < 940u) {
        meddle(self);
    } else if (side < 960u) {
        try_ended(self);
    } else if (side < 975u) {
        charge(self);
    } else if (side < 985u) {
        look(self);
    } else if (side < 987u) {
        if (!now.sealed) {
            trim(self);
        }
    } else if (side < 988u) {
        if (!now.stable && once_in(&self->own, 4u)) {
            close_pool(self);
        }
    } else if (once_in(&self->own, now.kill)) {
        kill_one(self);
    }
}

/* ---- a client's end ---- */

static int is_over(void *task_of_client)
{
    return token_is_over(((task *)task_of_client)->its);
}

static void end_of_job(client *self, task *work)
{
    int32_t status = CREW_STALE;
    uint32_t tries = 0u;

    if (work->its == NULL) {
        return;
    }
    if (work->job.bits != 0u) {
        do { /* BUSY: a stranger waits for it, 50 ms at most */
            status = settle(work, status == CREW_BUSY ? 1u : LONG_MS);
            if (status == CREW_BUSY) {
                const struct timespec pause = { 0, 1000000L };

                (void)nanosleep(&pause, NULL);
            }
        } while (status == CREW_BUSY && ++tries < LONG_MS);
        MUST(status == CREW_OK || status == CREW_STALE, status);
    }
    MUST(eventually(is_over, work), work->its->kind);
    forget_token(self, work->its);
    work->its = NULL;
}

static void *client_main(void *argument)
{
    client *self = (client *)argument;
    uint32_t i;

    while (!stopped()) {
        act(self);
    }
    for (i = 0; i < LEASES; i++) {
        if (self->loans[i].its != NULL) {
            release(self, &self->loans[i]);
        }
    }
    for (i = 0; i < JOBS; i++) {
        end_of_job(self, &self->tasks[i]);
    }
    for (i = 0; i < CHARGES; i++) {
        if (self->charges[i].bits != 0u) {
            MUST(crew_uncharge(self->charges[i]) == CREW_OK, i);
        }
    }
    return NULL;
}

static void *owner_main(void *argument)
{
    (void)argument;
    pools_own(&stop);
    return NULL;
}

static void forget_notices(void)
{
    uint32_t i;

    for (i = 0; i < BOARD; i++) {
        memset(&board[i], 0, sizeof(board[i]));
        (void)pthread_mutex_init(&board[i].lock, NULL);
    }
}

/* A lease that its borrower could not release was released by a stranger, or its set had ended. */
static void check_leases(void)
{
    MUST(granted == released_by_borrowers + lost_by_borrowers, (int64_t)granted);
    MUST(lost_by_borrowers >= released_by_strangers, (int64_t)released_by_strangers);
    counts[N_LOST_LEASES] += lost_by_borrowers - released_by_strangers;
    granted = released_by_borrowers = lost_by_borrowers = released_by_strangers = 0u;
}

void clients_run(uint32_t number, uint64_t seed, uint32_t milliseconds)
{
    struct timespec left = { 0, 0 };
    pthread_t owner;
    uint32_t i;

    forget_notices();
    __atomic_store_n(&stop, 0u, __ATOMIC_RELEASE);
    MUST(pthread_create(&owner, NULL, owner_main, NULL) == 0, 0);
    memset(clients, 0, sizeof(clients));
    for (i = 0; i < number; i++) {
        clients[i].number = i;
        clients[i].own.state = (seed + i + 1u) * UINT64_C(0x9e3779b97f4a7c15) | 1u;
        MUST(pthread_create(&clients[i].thread, NULL, client_main, &clients[i]) == 0, i);
    }
    left.tv_sec = (time_t)(milliseconds / 1000u);
    left.tv_nsec = (long)(milliseconds % 1000u) * 1000000L;
    while (nanosleep(&left, &left) != 0) {
        /* goes on */
    }
    __atomic_store_n(&stop, 1u, __ATOMIC_RELEASE);
    for (i = 0; i < number; i++) {
        MUST(pthread_join(clients[i].thread, NULL) == 0, i);
    }
    MUST(pthread_join(owner, NULL) == 0, 0);
    check_leases();
}
