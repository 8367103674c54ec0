/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests of fleet leases share: keys, a table in static memory, and a target of their own,
 * on which lanes are flags, the clock stands until it is set, and waits are on one condition
 * variable. Compiles as C99 and as C++.
 */
#ifndef FLEET_H
#define FLEET_H

#include "check.h"
#include "crew.h"
#include "crew_fleet_acquire.h"

#include <pthread.h>
#include <time.h>

/* A wait that ends only when something is broken. */
#define WAIT_MS 20000u

typedef struct desk {
    crew_fleet_port port;
    uint32_t held[16];
    uint32_t clock;
    /* Set: look() cannot tell. */
    uint32_t blind;
    uint32_t sleepers;
    pthread_mutex_t lock;
    pthread_cond_t bell;
} desk;

static inline int32_t desk_hold(void *context, uint32_t node)
{
    desk *at = (desk *)context;

    return __atomic_exchange_n(&at->held[node], 1u, __ATOMIC_SEQ_CST) == 0u;
}

static inline void desk_let_go(void *context, uint32_t node)
{
    desk *at = (desk *)context;

    __atomic_store_n(&at->held[node], 0u, __ATOMIC_SEQ_CST);
}

static inline int32_t desk_look(void *context, uint32_t node)
{
    desk *at = (desk *)context;

    if (__atomic_load_n(&at->blind, __ATOMIC_SEQ_CST) != 0u) {
        return CREW_HOLD_UNKNOWN;
    }
    return __atomic_load_n(&at->held[node], __ATOMIC_SEQ_CST) != 0u ? CREW_HOLD_HELD
                                                                    : CREW_HOLD_FREE;
}

static inline uint32_t desk_clock(void *context)
{
    return __atomic_load_n(&((desk *)context)->clock, __ATOMIC_SEQ_CST);
}

static inline int32_t desk_wait(void *context, uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
    desk *at = (desk *)context;
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(timeout_ms / 1000u) + 1;
    (void)pthread_mutex_lock(&at->lock);
    (void)__atomic_add_fetch(&at->sleepers, 1u, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value &&
        pthread_cond_timedwait(&at->bell, &at->lock, &until) != 0) {
        (void)__atomic_add_fetch(&at->clock, timeout_ms, __ATOMIC_SEQ_CST);
    }
    (void)__atomic_sub_fetch(&at->sleepers, 1u, __ATOMIC_SEQ_CST);
    (void)pthread_mutex_unlock(&at->lock);
    return 1;
}

static inline void desk_wake(void *context, uint32_t *word)
{
    desk *at = (desk *)context;

    (void)word;
    (void)pthread_mutex_lock(&at->lock);
    (void)pthread_cond_broadcast(&at->bell);
    (void)pthread_mutex_unlock(&at->lock);
}

static inline void desk_init(desk *at)
{
    (void)memset(at, 0, sizeof(*at));
    (void)pthread_mutex_init(&at->lock, NULL);
    (void)pthread_cond_init(&at->bell, NULL);
    at->port.size = (uint32_t)sizeof(at->port);
    at->port.context = at;
    at->port.hold = desk_hold;
    at->port.let_go = desk_let_go;
    at->port.look = desk_look;
    at->port.clock_ms = desk_clock;
    at->port.wait = desk_wait;
    at->port.wake = desk_wake;
}

static inline crew_fleet_geometry small_geometry(void)
{
    crew_fleet_geometry geometry = CREW_FLEET_GEOMETRY_INIT;

    geometry.kind = 7u;
    geometry.nodes = 4u;
    geometry.resources = 4u;
    geometry.executions = 16u;
    geometry.keys = 4u;
    return geometry;
}

/* Words of a table of that geometry; checked by the_size_is_told. */
#define SMALL_WORDS 1312u

static inline crew_key text_key(const char *text)
{
    crew_key key = { 0u, 0u };
    size_t i;

    for (i = 0; text[i] != '\0' && i < 16u; i++) {
        *(i < 8u ? &key.low : &key.high) |= (uint64_t)(unsigned char)text[i] << (i % 8u * 8u);
    }
    return key;
}

/* The units that `key`'s one resource has free; -1: there is not exactly one. */
static inline int64_t free_units(crew_fleet fleet, crew_key key)
{
    crew_candidate found[2];
    uint32_t count = 0u;

    if (crew_fleet_candidates(fleet, key, found, 2u, &count) != CREW_OK || count != 1u) {
        return -1;
    }
    return (int64_t)found[0].free;
}

typedef struct lines {
    unsigned count;
    char text[4096];
} lines;

static inline void line_add(void *context, const char *line)
{
    lines *at = (lines *)context;
    size_t used = strlen(at->text);

    at->count++;
    (void)snprintf(at->text + used, sizeof(at->text) - used, "%s\n", line);
}

#endif
