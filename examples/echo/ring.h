/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A bounded ring of byte chunks between one job that puts and one that gets. Every wait ends after
 * RING_WAIT_S. */
#ifndef RING_H
#define RING_H

#include <pthread.h>
#include <time.h>

enum { CHUNK_BYTES = 512, RING_CHUNKS = 4, RING_WAIT_S = 120 };

typedef struct chunk {
    size_t used;
    char bytes[CHUNK_BYTES];
} chunk;

typedef struct ring {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t first;
    size_t count;
    int ended;
    chunk chunks[RING_CHUNKS];
} ring;

/* Once for each ring; ring_start again for each use. */
static void ring_init(ring *at)
{
    (void)pthread_mutex_init(&at->lock, NULL);
    (void)pthread_cond_init(&at->changed, NULL);
}

static void ring_start(ring *at)
{
    at->first = 0u;
    at->count = 0u;
    at->ended = 0;
}

/* Either side may end it; the bytes in the ring can still be taken. */
static void ring_end(ring *at)
{
    (void)pthread_mutex_lock(&at->lock);
    at->ended = 1;
    (void)pthread_cond_broadcast(&at->changed);
    (void)pthread_mutex_unlock(&at->lock);
}

/* Waits, with the lock held, while the ring holds `count` chunks and has not ended. */
static void ring_wait_while(ring *at, size_t count)
{
    struct timespec until;
    int error = 0;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += RING_WAIT_S;
    while (at->count == count && !at->ended && error == 0) {
        error = pthread_cond_timedwait(&at->changed, &at->lock, &until);
    }
}

/* 0 = the other side takes no more. */
static int ring_put(ring *at, const chunk *from)
{
    int put = 0;

    (void)pthread_mutex_lock(&at->lock);
    ring_wait_while(at, RING_CHUNKS);
    if (at->count < RING_CHUNKS && !at->ended) {
        at->chunks[(at->first + at->count++) % RING_CHUNKS] = *from;
        put = 1;
        (void)pthread_cond_broadcast(&at->changed);
    }
    (void)pthread_mutex_unlock(&at->lock);
    return put;
}

/* 0 = it is empty, and nothing more will come. */
static int ring_get(ring *at, chunk *to)
{
    int got = 0;

    (void)pthread_mutex_lock(&at->lock);
    ring_wait_while(at, 0u);
    if (at->count > 0u) {
        *to = at->chunks[at->first];
        at->first = (at->first + 1u) % RING_CHUNKS;
        at->count--;
        got = 1;
        (void)pthread_cond_broadcast(&at->changed);
    }
    (void)pthread_mutex_unlock(&at->lock);
    return got;
}

#endif
