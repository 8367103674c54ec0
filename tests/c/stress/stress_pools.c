/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The pools: opened by one thread, closed by any, and what their figures must be when nothing
 * moves.
 */
#include "stress.h"

#include "audit.h"

#include <stdio.h>
#include <string.h>

#define LIVES 64u /* remembered of each slot */
#define KIB 1024u
#define AUDIT_TEXT 256u

static const crew_role pair_roles[2] = { { "reader", 64u * KIB, 10u },
                                         { "writer", 64u * KIB, 20u } };
static const crew_role trio_roles[3] = { { "conn", 128u * KIB, 20u },
                                         { "in", 64u * KIB, 10u },
                                         { "out", 64u * KIB, 10u } };
static const crew_role solo_roles[1] = { { "only", 256u * KIB, 15u } };

/*
 * Size, flags, name, roles, how many, capacity, prestart, keep, idle age, busy age, per peer, 0,
 * extra bytes.
 */
static const crew_pool_options shapes[SLOTS] = {
    { sizeof(crew_pool_options), 0u, "pair", pair_roles, 2u, 24u, 0u, 2u, 0u, 1u, 4u, 0u, 0u },
    { sizeof(crew_pool_options), CREW_POOL_ROLE_NAMES, "trio", trio_roles, 3u, 12u, 1u, 1u, 1u, 0u,
      0u, 0u, 0u },
    { sizeof(crew_pool_options), 0u, "solo", solo_roles, 1u, 16u, 2u, 0u, 0u, 0u, 0u, 0u, 4096u },
    { sizeof(crew_pool_options), 0u, "gate", NULL, 0u, 24u, 0u, 0u, 0u, 0u, 3u, 0u, 128u * KIB },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static life lives[SLOTS * LIVES];
static uint32_t born[SLOTS];
static life *present[SLOTS];

static uint32_t get(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static uint64_t thread_bytes_of_set(uint32_t slot)
{
    uint64_t bytes = 0u;
    uint32_t i;

    for (i = 0; i < shapes[slot].role_count; i++) {
        bytes += shapes[slot].roles[i].stack_bytes;
    }
    return bytes;
}

uint64_t pools_bytes(void)
{
    uint64_t bytes = 0u;
    uint32_t slot;

    for (slot = 0; slot < SLOTS; slot++) {
        bytes += shapes[slot].capacity * (thread_bytes_of_set(slot) + shapes[slot].extra_bytes);
    }
    return bytes;
}

/* ---- lives ---- */

void life_keep(life *its)
{
    (void)__atomic_add_fetch(&its->users, 1u, __ATOMIC_ACQ_REL);
}

void life_leave(life *its)
{
    (void)__atomic_sub_fetch(&its->users, 1u, __ATOMIC_ACQ_REL);
}

life *life_take(uint32_t slot)
{
    life *its;

    (void)pthread_mutex_lock(&lock);
    its = present[slot];
    if (its != NULL) {
        life_keep(its);
    }
    (void)pthread_mutex_unlock(&lock);
    return its;
}

void life_retired(const char *name)
{
    uint32_t i;

    (void)pthread_mutex_lock(&lock);
    for (i = 0; i < SLOTS * LIVES; i++) {
        if (strcmp(lives[i].name, name) == 0) {
            (void)__atomic_add_fetch(&lives[i].retired, 1u, __ATOMIC_ACQ_REL);
            break;
        }
    }
    MUST(i < SLOTS * LIVES, 0);
    (void)pthread_mutex_unlock(&lock);
}

void life_close(life *its, uint32_t timeout_ms)
{
    int32_t status;

    __atomic_store_n(&its->closing, 1u, __ATOMIC_SEQ_CST);
    status = crew_pool_close(its->pool, timeout_ms);
    count(N_CLOSE);
    MUST(status == CREW_OK || status == CREW_TIMED_OUT || status == CREW_STALE, status);
    if (status == CREW_OK) {
        count(N_CLOSED);
        MUST(__atomic_fetch_add(&its->closed, 1u, __ATOMIC_ACQ_REL) == 0u, its->slot);
        (void)pthread_mutex_lock(&lock);
        MUST(present[its->slot] == its, its->slot);
        present[its->slot] = NULL;
        (void)pthread_mutex_unlock(&lock);
    }
}

static int is_unused(void *its)
{
    return get(&((const life *)its)->users) == 0u;
}

static life *life_begin(uint32_t slot, const char *kind)
{
    const uint32_t serial = born[slot]++;
    life *its = &lives[slot * LIVES + serial % LIVES];

    MUST(eventually(is_unused, its), serial);
    (void)pthread_mutex_lock(&lock);
    memset(its, 0, sizeof(*its));
    (void)snprintf(its->name, sizeof(its->name), "%s%u", kind, (unsigned)(serial % 1000000u));
    its->slot = slot;
    its->role_count = shapes[slot].role_count;
    its->per_peer = shapes[slot].per_peer;
    (void)pthread_mutex_unlock(&lock);
    return its;
}

static void life_open(uint32_t slot)
{
    crew_pool_options options = shapes[slot];
    dice *own = thread_dice();
    life *its = life_begin(slot, options.name);
    int32_t status;

    options.name = its->name;
    options.capacity -= roll(own, options.capacity / 2u);
    options.prestart = roll(own, options.prestart + 1u);
    count(N_OPEN);
    status = crew_pool_open(&options, &its->pool);
    if (status == CREW_OK) {
        (void)pthread_mutex_lock(&lock);
        present[slot] = its;
        (void)pthread_mutex_unlock(&lock);
    } else {
        /* The growth of a prestarted set may be refused so, or another close is at its end. */
        MUST(status == CREW_BUSY || status == CREW_REFUSED_OUT_OF_RESERVATION ||
                 status == CREW_REFUSED_SPAWN_FAILED || status == CREW_REFUSED_OBJECTS_EXHAUSTED ||
                 status == CREW_REFUSED_TARGET_MEMORY,
             status);
    }
}

/* Tries again: the reason that the last prestart was refused for may have passed. */
static int is_open(void *slot)
{
    if (present[*(uint32_t *)slot] == NULL) {
        life_open(*(uint32_t *)slot);
    }
    return present[*(uint32_t *)slot] != NULL;
}

void pools_open_all(void)
{
    uint32_t slot;

    for (slot = 0; slot < SLOTS; slot++) {
        MUST(eventually(is_open, &slot), slot);
    }
}

void pools_own(const uint32_t *stop)
{
    const struct timespec pause = { 0, 1000000L };

    while (get(stop) == 0u) {
        uint32_t slot;

        for (slot = 0; slot < SLOTS; slot++) {
            life *its = life_take(slot);

            if (its == NULL) {
                MUST(!now.sealed, slot);
                life_open(slot);
            } else {
                if (get(&its->closing) != 0u) {
                    life_close(its, 20u);
                }
                life_leave(its);
            }
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- when nothing moves ---- */

typedef struct sums {
    uint64_t threads;
    uint64_t stack_bytes;
    uint64_t bytes;
    uint64_t held;
    uint32_t busy;
    uint32_t waiting;
} sums;

static sums sums_now(void)
{
    sums all = { 0u, 0u, 0u, 0u, 0u, 0u };
    crew_account account = CREW_ACCOUNT_INIT;
    uint32_t slot;

    for (slot = 0; slot < SLOTS; slot++) {
        crew_usage usage = CREW_USAGE_INIT;

        if (present[slot] != NULL && crew_pool_usage(present[slot]->pool, &usage) == CREW_OK) {
            all.threads += usage.created * shapes[slot].role_count;
            all.stack_bytes += usage.created * thread_bytes_of_set(slot);
            all.bytes += usage.created * (thread_bytes_of_set(slot) + shapes[slot].extra_bytes);
            all.busy += usage.busy;
            all.waiting += usage.waiting;
        }
    }
    MUST(crew_account_usage(&account) == CREW_OK, 0);
    all.held = account.held_bytes;
    return all;
}

/* The next caller that looks joins ended threads, and idle sets grow old meanwhile. */
static int sums_agree(void *context)
{
    const sums all = sums_now();

    (void)context;
    return all.busy == 0u && all.waiting == 0u && all.held == all.bytes &&
           all.threads == port_threads() && all.stack_bytes == port_stack_bytes();
}

/* The core says a retirement after it has counted it. */
static int retirements_agree(void *context)
{
    const life *its = (const life *)context;
    crew_usage usage = CREW_USAGE_INIT;

    return crew_pool_usage(its->pool, &usage) == CREW_OK && usage.retirements == get(&its->retired);
}

static void check_life(life *its)
{
    crew_usage usage = CREW_USAGE_INIT;
    uint32_t kind;

    MUST(eventually(retirements_agree, its), its->slot);
    MUST(crew_pool_usage(its->pool, &usage) == CREW_OK, its->slot);
    /*
     * Where pools are closed, a waiter for a pool's former life may have been lent a set of this
     * one, which it gave back at once.
     */
    MUST(usage.leases == get(&its->granted) || (!now.stable && usage.leases > get(&its->granted)),
         (int64_t)usage.leases - get(&its->granted));
    for (kind = 0; kind < CREW_REFUSAL_KINDS; kind++) {
        MUST(usage.refused[kind] == get(&its->refused[kind]), kind);
    }
}

static int audit_agrees(void *text)
{
    return crew_audit((int64_t)port_threads(), (char *)text, AUDIT_TEXT) == 1;
}

/* The core's own two sides of everything it counts. */
static void check_audit(void)
{
    char text[AUDIT_TEXT] = "";
    const int agrees = eventually(audit_agrees, text);

    MUST(agrees, 0);
    if (!agrees) {
        (void)fprintf(stderr, "audit: %s\n", text);
    }
}

void pools_check(void)
{
    crew_account account = CREW_ACCOUNT_INIT;
    uint32_t slot;

    for (slot = 0; slot < SLOTS; slot++) {
        if (present[slot] != NULL && get(&present[slot]->closing) != 0u) {
            life_close(present[slot], LONG_MS);
            MUST(present[slot] == NULL, slot);
        }
    }
    if (!eventually(sums_agree, NULL)) {
        const sums all = sums_now();

        MUST(all.busy == 0u, all.busy);
        MUST(all.waiting == 0u, all.waiting);
        MUST(all.held == all.bytes, (int64_t)(all.held - all.bytes));
        MUST(all.threads == port_threads(), (int64_t)all.threads - port_threads());
        MUST(all.stack_bytes == port_stack_bytes(),
             (int64_t)(all.stack_bytes - port_stack_bytes()));
    }
    for (slot = 0; slot < SLOTS; slot++) {
        if (present[slot] != NULL) {
            check_life(present[slot]);
        }
    }
    MUST(crew_account_usage(&account) == CREW_OK && account.charges == 0u &&
             account.fixed_bytes == 0u,
         account.charges);
    check_audit();
}

void pools_close_all(void)
{
    crew_account account = CREW_ACCOUNT_INIT;
    uint32_t slot;

    for (slot = 0; slot < SLOTS; slot++) {
        if (present[slot] != NULL) {
            life_close(present[slot], LONG_MS);
            MUST(present[slot] == NULL, slot);
        }
    }
    MUST(crew_account_usage(&account) == CREW_OK && account.held_bytes == 0u, account.held_bytes);
    MUST(port_threads() == 0u, port_threads());
    check_audit();
}
