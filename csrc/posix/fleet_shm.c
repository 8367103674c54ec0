/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For F_OFD_SETLK and fallocate. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "crew_fleet_shm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MOST 200u
/* Every table is longer than this, and has its geometry in it. */
#define HEADER_BYTES 128u

/* FREE -> CHANGING -> OPEN -> CHANGING -> ... -> FREE. CHANGING is one thread's: another thread
   that comes meanwhile is told so. */
enum { FREE, CHANGING, OPEN };

/* The descriptor's parts, where there are descriptors. */
typedef struct watcher {
    int running;
    int event;
    uint32_t since;
    pthread_t thread;
} watcher;

/* One fleet that was joined here. */
typedef struct shared {
    uint32_t state;
    /* The handle, in parts that any thread can look at. */
    uint32_t fleet_low;
    uint32_t fleet_high;
    crew_fleet fleet;
    crew_fleet_port port;
    int file;
    void *memory;
    size_t bytes;
    char name[NAME_MOST + 2u];
    /* The lane that this membership holds, plus one. A file's own locks are not shown to it. */
    uint32_t held;
    /* The target's own. */
    void *lane;
    void *bell;
    watcher watcher;
} shared;

/* The functions that differ: file_grow, target_begin, target_end; lane_take, lane_give, lane_look;
   clock_ms, word_wait, word_wake; watch_begin, watch_clear, watch_end. */
#ifdef __VXWORKS__
#include "fleet_shm_vxworks.h"
#else
#include "fleet_shm_linux.h"
#endif

static shared table[CREW_MAX_FLEETS];

/* ---- the port ---- */

static int32_t hold(void *context, uint32_t node)
{
    shared *at = (shared *)context;

    if (!lane_take(at, node)) {
        return 0;
    }
    __atomic_store_n(&at->held, node + 1u, __ATOMIC_SEQ_CST);
    return 1;
}

static void let_go(void *context, uint32_t node)
{
    shared *at = (shared *)context;

    __atomic_store_n(&at->held, 0u, __ATOMIC_SEQ_CST);
    lane_give(at, node);
}

static int32_t look(void *context, uint32_t node)
{
    const shared *at = (const shared *)context;

    return __atomic_load_n(&at->held, __ATOMIC_SEQ_CST) == node + 1u ? CREW_HOLD_HELD
                                                                     : lane_look(at, node);
}

static int32_t wait_for(void *context, uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
    word_wait((shared *)context, word, value, timeout_ms);
    return 1;
}

static void wake(void *context, uint32_t *word)
{
    word_wake((shared *)context, word);
}

/* ---- join and leave ---- */

/* Writes the name as systems want it: with one slash before it. */
static int32_t checked_name(const char *name, char *checked)
{
    size_t length;

    if (name == NULL) {
        return CREW_NULL_ARGUMENT;
    }
    if (name[0] == '/') {
        name++;
    }
    length = strnlen(name, NAME_MOST + 1u);
    if (length == 0u || length > NAME_MOST || name[0] == '.' || memchr(name, '/', length) != NULL) {
        return CREW_BAD_TEXT;
    }
    checked[0] = '/';
    (void)memcpy(checked + 1, name, length + 1u);
    return CREW_OK;
}

static shared *claim(void)
{
    size_t i;

    for (i = 0; i < CREW_MAX_FLEETS; i++) {
        uint32_t expected = FREE;

        if (__atomic_compare_exchange_n(&table[i].state, &expected, (uint32_t)CHANGING, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return &table[i];
        }
    }
    return NULL;
}

static void release(shared *at, uint32_t state)
{
    __atomic_store_n(&at->state, state, __ATOMIC_RELEASE);
}

/* The record of this fleet, for one thread at a time. */
static int32_t find(crew_fleet fleet, shared **found)
{
    const uint32_t low = (uint32_t)fleet.bits;
    const uint32_t high = (uint32_t)(fleet.bits >> 32);
    size_t i;

    for (i = 0; i < CREW_MAX_FLEETS; i++) {
        shared *at = &table[i];
        uint32_t expected = OPEN;

        if (fleet.bits == 0u || __atomic_load_n(&at->fleet_low, __ATOMIC_RELAXED) != low ||
            __atomic_load_n(&at->fleet_high, __ATOMIC_RELAXED) != high) {
            continue;
        }
        if (!__atomic_compare_exchange_n(&at->state, &expected, (uint32_t)CHANGING, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return expected == CHANGING ? CREW_BUSY : CREW_STALE;
        }
        if (at->fleet.bits == fleet.bits) {
            *found = at;
            return CREW_OK;
        }
        release(at, OPEN);
    }
    return CREW_BAD_HANDLE;
}

/* Makes a file that has not been written to as long as the table; it only grows, so that several
   makers at once do not harm each other. *size: the bytes to map. */
static int32_t set_aside(int file, size_t bytes, size_t *size)
{
    uint32_t first = 0u;
    struct stat status;

    if (pread(file, &first, sizeof(first), 0) < (ssize_t)sizeof(first) || first == 0u) {
        if (file_grow(file, bytes) != 0) {
            return CREW_FLEET_SYSTEM;
        }
    }
    if (fstat(file, &status) != 0) {
        return CREW_FLEET_SYSTEM;
    }
    if (status.st_size < (off_t)sizeof(first)) {
        return CREW_FLEET_TOO_SMALL;
    }
    *size = (uintmax_t)status.st_size < (uintmax_t)bytes ? (size_t)status.st_size : bytes;
    return CREW_OK;
}

static int32_t map(shared *at, size_t bytes)
{
    int32_t status = set_aside(at->file, bytes, &at->bytes);

    if (status != CREW_OK) {
        return status;
    }
    at->memory = mmap(NULL, at->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, at->file, 0);
    return at->memory == MAP_FAILED ? CREW_FLEET_SYSTEM : CREW_OK;
}

/* Maps the table's beginning, if it is there, to be looked at only. */
static int32_t map_header(shared *at)
{
    struct stat status;

    if (fstat(at->file, &status) != 0) {
        return CREW_FLEET_SYSTEM;
    }
    if (status.st_size < (off_t)HEADER_BYTES) {
        return CREW_FLEET_TOO_SMALL;
    }
    at->bytes = HEADER_BYTES;
    at->memory = mmap(NULL, at->bytes, PROT_READ, MAP_SHARED, at->file, 0);
    return at->memory == MAP_FAILED ? CREW_FLEET_SYSTEM : CREW_OK;
}

static void unmap(shared *at)
{
    const int error = errno;

    if (at->memory != MAP_FAILED) {
        (void)munmap(at->memory, at->bytes);
    }
    if (at->file >= 0) {
        (void)close(at->file);
    }
    errno = error;
}

static int32_t join_table(shared *at, const crew_fleet_geometry *geometry, const char *name,
                          crew_fleet *fleet)
{
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;
    const crew_fleet_port port = { .size = (uint32_t)sizeof(port),
                                   .context = at,
                                   .hold = hold,
                                   .let_go = let_go,
                                   .look = look,
                                   .clock_ms = clock_ms,
                                   .wait = wait_for,
                                   .wake = wake };

    at->port = port;
    options.geometry = geometry;
    options.memory = (uint32_t *)at->memory;
    options.bytes = at->bytes;
    options.port = &at->port;
    options.name = name;
    options.process = (uint32_t)getpid();
    return crew_fleet_join(&options, fleet);
}

static int32_t open_and_join(shared *at, uint32_t mode, const crew_fleet_geometry *geometry,
                             size_t bytes, const char *name, crew_fleet *fleet)
{
    int32_t status;

    at->memory = MAP_FAILED;
    at->watcher.running = 0;
    at->held = 0u;
    at->file = shm_open(at->name, O_RDWR | O_CREAT, (mode_t)mode);
    status = at->file < 0 ? CREW_FLEET_SYSTEM : map(at, bytes);
    if (status == CREW_OK) {
        status = target_begin(at);
    }
    if (status == CREW_OK) {
        status = join_table(at, geometry, name, fleet);
        if (status != CREW_OK) {
            target_end(at);
        }
    }
    if (status != CREW_OK) {
        unmap(at);
    }
    return status;
}

int32_t crew_fleet_shm_join(const char *shm_name, const crew_fleet_geometry *geometry,
                            uint32_t mode, const char *name, crew_fleet *fleet)
{
    char checked[NAME_MOST + 2u];
    crew_fleet joined = { 0u };
    shared *at;
    size_t bytes;
    int32_t status = crew_fleet_bytes(geometry, &bytes);

    if (status == CREW_OK) {
        status = fleet != NULL ? checked_name(shm_name, checked) : CREW_NULL_ARGUMENT;
    }
    if (status != CREW_OK) {
        return status;
    }
    at = claim();
    if (at == NULL) {
        return CREW_TABLE_FULL;
    }
    (void)memcpy(at->name, checked, sizeof(checked));
    status = open_and_join(at, mode, geometry, bytes, name, &joined);
    if (status != CREW_OK) {
        release(at, FREE);
        return status;
    }
    at->fleet = joined;
    __atomic_store_n(&at->fleet_low, (uint32_t)joined.bits, __ATOMIC_RELAXED);
    __atomic_store_n(&at->fleet_high, (uint32_t)(joined.bits >> 32), __ATOMIC_RELAXED);
    release(at, OPEN);
    *fleet = joined;
    return CREW_OK;
}

int32_t crew_fleet_shm_leave(crew_fleet fleet)
{
    shared *at;
    int32_t status = find(fleet, &at);

    if (status != CREW_OK) {
        return status;
    }
    status = crew_fleet_leave(fleet);
    if (at->watcher.running) {
        /* The first leave has told it to end. */
        watch_end(at);
        if (status == CREW_BUSY) {
            status = crew_fleet_leave(fleet);
        }
    }
    if (status == CREW_BUSY) {
        release(at, OPEN);
        return CREW_BUSY;
    }
    /* Or stale: crew_fleet_leave was called already. */
    target_end(at);
    unmap(at);
    at->fleet.bits = 0u;
    release(at, FREE);
    return CREW_OK;
}

int32_t crew_fleet_shm_unlink(const char *shm_name)
{
    char checked[NAME_MOST + 2u];
    int32_t status = checked_name(shm_name, checked);

    if (status != CREW_OK) {
        return status;
    }
    return shm_unlink(checked) == 0 ? CREW_OK : CREW_FLEET_SYSTEM;
}

int32_t crew_fleet_shm_geometry(const char *shm_name, crew_fleet_geometry *geometry)
{
    shared looked_at;
    int32_t status = checked_name(shm_name, looked_at.name);

    if (status != CREW_OK) {
        return status;
    }
    looked_at.memory = MAP_FAILED;
    looked_at.file = shm_open(looked_at.name, O_RDONLY, 0);
    status = looked_at.file < 0 ? CREW_FLEET_SYSTEM : map_header(&looked_at);
    if (status == CREW_OK) {
        status = crew_fleet_geometry_of((const uint32_t *)looked_at.memory, looked_at.bytes,
                                        geometry);
    }
    unmap(&looked_at);
    return status;
}

/* ---- the descriptor ---- */

int32_t crew_fleet_shm_descriptor(crew_fleet fleet, int *descriptor)
{
    shared *at;
    int32_t status = descriptor != NULL ? find(fleet, &at) : CREW_NULL_ARGUMENT;

    if (status != CREW_OK) {
        return status;
    }
    if (!at->watcher.running) {
        status = watch_begin(at);
    }
    if (status == CREW_OK) {
        *descriptor = at->watcher.event;
    }
    release(at, OPEN);
    return status;
}

int32_t crew_fleet_shm_clear(crew_fleet fleet)
{
    shared *at;
    int32_t status = find(fleet, &at);

    if (status != CREW_OK) {
        return status;
    }
    if (at->watcher.running) {
        watch_clear(at);
    } else {
        status = CREW_BAD_VALUE;
    }
    release(at, OPEN);
    return status;
}
