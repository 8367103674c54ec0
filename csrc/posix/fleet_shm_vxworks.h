/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lanes and waits among the real-time processes of VxWorks. Included by fleet_shm.c only.
 *
 * A lane is held by a public semaphore that its holder makes, exclusively, and that is deleted on
 * its last close: the system closes a process' open semaphores when it ends. Waits are on one
 * public semaphore of the table, which a wake flushes. A flush is not remembered, so a waiter that
 * it finds between the look at the word and the wait is woken by the end of its piece: a second.
 */
#ifndef CREW_FLEET_SHM_VXWORKS_H
#define CREW_FLEET_SHM_VXWORKS_H

#include "vxworks_ticks.h"

#include <objLib.h>
#include <semLib.h>
#include <stdio.h>
#include <time.h>

#define WAIT_PIECE_MS 1000u
#define OBJECT_NAME_BYTES (NAME_MOST + 32u)

/* Makes the file longer, never shorter; but two makers of different geometries at the same instant
   could, which Linux's call excludes. */
static int file_grow(int file, size_t bytes)
{
    struct stat status;

    if (fstat(file, &status) != 0) {
        return -1;
    }
    return status.st_size < (off_t)bytes ? ftruncate(file, (off_t)bytes) : 0;
}

static SEM_ID open_object(const shared *at, const char *what, uint32_t number, int mode)
{
    char name[OBJECT_NAME_BYTES];

    (void)snprintf(name, sizeof(name), "%s.crew.%s%lu", at->name, what, (unsigned long)number);
    return semOpen(name, SEM_TYPE_BINARY, SEM_EMPTY, SEM_Q_FIFO, mode, NULL);
}

static int32_t target_begin(shared *at)
{
    SEM_ID bell = open_object(at, "bell", 0u, OM_CREATE | OM_DELETE_ON_LAST_CLOSE);

    at->lane = NULL;
    at->bell = bell;
    return bell != SEM_ID_NULL ? CREW_OK : CREW_FLEET_SYSTEM;
}

static void target_end(shared *at)
{
    const int error = errno;

    (void)semClose((SEM_ID)at->bell);
    errno = error;
}

/* ---- lanes ---- */

static int32_t lane_take(shared *at, uint32_t node)
{
    SEM_ID lane = open_object(at, "lane", node, OM_CREATE | OM_EXCL | OM_DELETE_ON_LAST_CLOSE);

    if (lane == SEM_ID_NULL) {
        return 0;
    }
    at->lane = lane;
    return 1;
}

static void lane_give(shared *at, uint32_t node)
{
    (void)node;
    (void)semClose((SEM_ID)at->lane);
    at->lane = NULL;
}

static int32_t lane_look(const shared *at, uint32_t node)
{
    const int error = errno;
    SEM_ID lane = open_object(at, "lane", node, 0);
    int32_t answer = CREW_HOLD_HELD;

    if (lane != SEM_ID_NULL) {
        (void)semClose(lane);
    } else {
        answer = errno == S_objLib_OBJ_NOT_FOUND ? CREW_HOLD_FREE : CREW_HOLD_UNKNOWN;
    }
    errno = error;
    return answer;
}

/* ---- clock and waits ---- */

static uint32_t clock_ms(void *context)
{
    struct timespec now;

    (void)context;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u);
}

static void word_wait(shared *at, const uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        (void)semTake((SEM_ID)at->bell,
                      crew_vxworks_ticks(timeout_ms < WAIT_PIECE_MS ? timeout_ms : WAIT_PIECE_MS));
    }
}

static void word_wake(shared *at, const uint32_t *word)
{
    (void)word;
    (void)semFlush((SEM_ID)at->bell);
}

/* ---- no descriptor ---- */

static int32_t watch_begin(shared *at)
{
    (void)at;
    errno = ENOTSUP;
    return CREW_FLEET_SYSTEM;
}

static void watch_clear(const shared *at)
{
    (void)at;
}

static void watch_end(shared *at)
{
    (void)at;
}

#endif
