/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The board's memory: a budget larger than it, a pool filled to the account's limit, a full heap.
 */
#include "app.h"
#include "crew_port_posix.h"
#include "fixture.h"
#include "heap.h"

#include <errno.h>
#include <rtems/malloc.h>
#include <stdlib.h>

#define MIB 1048576u
#define KIB 1024u
/* More than any board of this family has. */
#define ASKED_MIB 4096u
/* One connection: 1.5 MiB. */
#define HOUSE_ROLES 3u
#define HOUSE_SET_BYTES (1536u * KIB)
#define HOUSE_CAPACITY 100u
/* For the tests that fill the heap: sets of two stacks, how many, and free pieces that are left. */
#define LARGE_STACK MIB
#define FEW 8u
#define PIECES_MAX 4u
/* More than a thread takes beside its stack. */
#define BESIDE_FIRST 4096u

static const crew_role house_roles[HOUSE_ROLES] = {
    { "conn", 1024u * KIB, 20u }, { "reader", 256u * KIB, 18u }, { "writer", 256u * KIB, 18u }
};
static const crew_role large_roles[2] = { { "first", LARGE_STACK, 10u },
                                          { "second", LARGE_STACK, 10u } };

static void more_than_the_board_has_is_clamped(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    const heap before = heap_now();
    crew_account account;
    int32_t status;

    options.budget_mib = ASKED_MIB;
    options.port = crew_port_posix();
    status = crew_boot(&options);
    if (status == CREW_ALREADY_BOOTED) {
        return;
    }
    REQUIRE_EQ(status, CREW_OK);
    account = account_now();
    (void)CHECK_EQ(account.verdict, CREW_VERDICT_CLAMPED);
    (void)CHECK_EQ(account.asked_bytes, (uint64_t)ASKED_MIB * MIB);
    /* The largest half of a half ... that is there in one piece. */
    (void)CHECK(account.budget_bytes <= (uint64_t)before.largest_bytes);
    (void)CHECK(account.budget_bytes * 2u > (uint64_t)before.largest_bytes);
    (void)CHECK_EQ(account.held_bytes, 0);
    (void)printf("budget: asked %u MiB, heap free %ld B, largest block %ld B, adopted %lu MiB\n",
                 ASKED_MIB, before.free_bytes, before.largest_bytes,
                 (unsigned long)(account.budget_bytes / MIB));
}

/* ---- a full house ---- */

static int32_t job_nothing(void *argument)
{
    (void)argument;
    return 0;
}

static void house_sets(crew_pool pool, crew_lease *leases, uint32_t *count, crew_refusal *refusal,
                       int32_t *status)
{
    *count = 0u;
    while ((*status = crew_acquire(pool, 0u, &leases[*count], refusal)) == CREW_OK) {
        uint32_t role;

        for (role = 0; role < HOUSE_ROLES; role++) {
            (void)CHECK_EQ(crew_run(leases[*count], role, "nothing", job_nothing, NULL, NULL),
                           CREW_OK);
        }
        (*count)++;
        REQUIRE(*count < HOUSE_CAPACITY);
    }
}

/*
 * The account refuses, with its numbers, long before a thread's creation would fail. `drift`: bytes
 * that the house cost the heap.
 */
static void house_once(heap *drift)
{
    static crew_lease leases[HOUSE_CAPACITY];
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_refusal refusal = CREW_REFUSAL_INIT;
    const crew_account account = account_now();
    const heap before = heap_now();
    heap full;
    heap after;
    crew_pool pool;
    crew_usage usage;
    uint32_t count;
    uint32_t i;
    int32_t status;

    options.name = "house";
    options.roles = house_roles;
    options.role_count = HOUSE_ROLES;
    options.capacity = HOUSE_CAPACITY;
    REQUIRE_EQ(crew_pool_open(&options, &pool), CREW_OK);
    house_sets(pool, leases, &count, &refusal, &status);
    full = heap_now();
    (void)CHECK_EQ(status, CREW_REFUSED_OUT_OF_RESERVATION);
    (void)CHECK_EQ(count, (account.budget_bytes - account.held_bytes) / HOUSE_SET_BYTES);
    (void)CHECK_EQ(refusal.bytes_requested, HOUSE_SET_BYTES);
    (void)CHECK_EQ(refusal.bytes_held, account.held_bytes + (uint64_t)count * HOUSE_SET_BYTES);
    (void)CHECK_EQ(refusal.bytes_budget, account.budget_bytes);
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.busy, count);
    (void)CHECK_EQ(usage.threads_created, count * HOUSE_ROLES);
    (void)CHECK_EQ(usage.refused[CREW_REFUSED_SPAWN_FAILED], 0);
    /*
     * The heap has lost as much as the account holds, but for what a thread takes beside its stack
     * (a fiftieth).
     */
    (void)CHECK(before.free_bytes - full.free_bytes >= (long)(count * HOUSE_SET_BYTES));
    (void)CHECK(before.free_bytes - full.free_bytes <
                (long)(count * (HOUSE_SET_BYTES + HOUSE_SET_BYTES / 50u)));
    for (i = 0; i < count; i++) {
        (void)CHECK_EQ(crew_release(leases[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), account.held_bytes);
    after = heap_now();
    drift->free_bytes = before.free_bytes - after.free_bytes;
    drift->largest_bytes = before.largest_bytes - after.largest_bytes;
    (void)printf("house: %lu sets of %u B, then refused: %lu B asked, %lu of %lu B held\n",
                 (unsigned long)count, HOUSE_SET_BYTES, (unsigned long)refusal.bytes_requested,
                 (unsigned long)refusal.bytes_held, (unsigned long)refusal.bytes_budget);
    (void)printf("house: heap free %ld B before, %ld B full (%ld B a set), %ld B after; "
                 "largest block %ld, %ld, %ld B\n",
                 before.free_bytes, full.free_bytes,
                 count > 0u ? (before.free_bytes - full.free_bytes) / (long)count : 0L,
                 after.free_bytes, before.largest_bytes, full.largest_bytes, after.largest_bytes);
}

static void full_house_is_refused_by_the_account(void)
{
    heap drift = { 0, 0 };

    house_once(&drift); /* RTEMS makes room for the objects of that many threads, once */
    house_once(&drift);
    (void)CHECK_EQ(drift.free_bytes, 0);
    (void)CHECK_EQ(drift.largest_bytes, 0);
}

/* ---- a full heap ---- */

static int large_opened(const char *name, crew_pool *pool)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = name;
    options.roles = large_roles;
    options.role_count = 2u;
    options.capacity = FEW;
    return CHECK_EQ(crew_pool_open(&options, pool), CREW_OK);
}

/*
 * The heap is full, but for `count` free pieces that do not touch one another: one of `first`
 * bytes, the others of `bytes`.
 */
typedef struct filling {
    void *between[PIECES_MAX];
    void *rest;
    uint32_t count;
} filling;

static int filled(filling *heap_filling, uint32_t count, size_t first, size_t bytes)
{
    void *pieces[PIECES_MAX] = { NULL, NULL, NULL, NULL };
    int ok = 1;
    uint32_t i;

    for (i = 0; i < count; i++) {
        pieces[i] = malloc(i == 0u ? first : bytes);
        heap_filling->between[i] = malloc(1u);
        ok = ok && CHECK(pieces[i] != NULL && heap_filling->between[i] != NULL);
    }
    heap_filling->count = count;
    heap_filling->rest = rtems_heap_greedy_allocate(NULL, 0u);
    for (i = 0; i < count; i++) {
        free(pieces[i]);
    }
    return ok;
}

static void emptied(const filling *heap_filling)
{
    uint32_t i;

    rtems_heap_greedy_free(heap_filling->rest);
    for (i = 0; i < heap_filling->count; i++) {
        free(heap_filling->between[i]);
    }
}

/* Nothing changed: no set, no byte, no thread; and once there is memory again a set is made. */
static void refused_and_nothing_changed(uint32_t pieces, size_t first, size_t bytes, int32_t wanted,
                                        crew_refusal *refusal, uint32_t threads)
{
    const crew_account before = account_now();
    filling heap_filling;
    crew_pool pool;
    crew_lease lease = { 0u };
    crew_usage usage;
    heap full;
    heap after;
    int32_t status;

    REQUIRE(large_opened("large", &pool));
    REQUIRE(filled(&heap_filling, pieces, first, bytes));
    full = heap_now();
    status = crew_acquire(pool, 0u, &lease, refusal);
    after = heap_now();
    emptied(&heap_filling);
    (void)CHECK_EQ(status, wanted);
    (void)CHECK_EQ(after.free_bytes, full.free_bytes);
    (void)CHECK_EQ(after.largest_bytes, full.largest_bytes);
    (void)CHECK_EQ(lease.bits, 0);
    usage = usage_of(pool);
    (void)CHECK_EQ(usage.created, 0);
    (void)CHECK_EQ(usage.threads_created, threads);
    (void)CHECK_EQ(usage.refused[wanted], 1);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
    (void)printf("full heap: %ld B free, largest block %ld B: %s, %lu threads made\n",
                 full.free_bytes, full.largest_bytes, crew_status_text(status),
                 (unsigned long)usage.threads_created);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(held_bytes(), before.held_bytes);
}

/*
 * The second thread's stack is there in one piece, as the target is asked before each thread, but
 * not what a thread takes beside it: its creation fails.
 */
static void thread_creation_fails_for_real(void)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;

    refused_and_nothing_changed(2u, LARGE_STACK + BESIDE_FIRST, LARGE_STACK,
                                CREW_REFUSED_SPAWN_FAILED, &refusal, 1u);
    (void)CHECK_EQ(refusal.os_error, EAGAIN);
    (void)CHECK_EQ(refusal.role, 1);
    (void)CHECK_EQ(crew_refusal_errno(&refusal), EAGAIN);
}

/* Room for the first, none for the second: refused before that one is made. */
static void memory_for_half_a_set_is_no_memory(void)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;

    refused_and_nothing_changed(1u, LARGE_STACK + LARGE_STACK / 2u, 0u, CREW_REFUSED_TARGET_MEMORY,
                                &refusal, 1u);
    (void)CHECK_EQ(refusal.bytes_requested, LARGE_STACK);
}

/*
 * Three times the memory, but in no piece that one stack fits in: refused before a thread is made.
 */
static void memory_in_small_pieces_is_no_memory(void)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;

    refused_and_nothing_changed(PIECES_MAX, LARGE_STACK - 64u * KIB, LARGE_STACK - 64u * KIB,
                                CREW_REFUSED_TARGET_MEMORY, &refusal, 0u);
    (void)CHECK_EQ(refusal.bytes_requested, LARGE_STACK);
}

/* ---- ended threads ---- */

static void *thread_nothing(void *argument)
{
    return argument;
}

/*
 * RTEMS keeps the stack of a joined thread until the next thread is made. The port's question for
 * memory counts that stack as free all the same.
 */
static void joined_thread_keeps_its_stack_but_not_from_us(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t joined;
    size_t freed;
    crew_pool pool;
    crew_lease lease;

    REQUIRE(large_opened("after", &pool));
    crew_rtems_free_ended_threads();
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, malloc_free_space() - LARGE_STACK / 2u);
    REQUIRE_EQ(pthread_create(&thread, &attr, thread_nothing, NULL), 0);
    REQUIRE_EQ(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attr);
    joined = malloc_free_space();
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    freed = malloc_free_space();
    (void)printf(
        "ended thread: largest block %lu B after the join, %lu B once a set has been made\n",
        (unsigned long)joined, (unsigned long)freed);
    (void)CHECK(joined < LARGE_STACK);
    (void)CHECK(freed > 100u * LARGE_STACK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static uint32_t fill(crew_pool pool, crew_lease *leases)
{
    uint32_t count = 0;

    while (count < FEW && crew_acquire(pool, 0u, &leases[count], NULL) == CREW_OK) {
        count++;
    }
    return count;
}

static int32_t job_exits(void *argument)
{
    pthread_exit(argument);
    return 1;
}

/*
 * The heap has room for so many sets and no more. They are given back, or die, all of them; their
 * stacks count as free at once, and as many are made again.
 */
static void heap_full_of_ended_sets_grows_again(void)
{
    crew_lease leases[FEW];
    const uintptr_t block = 5u * (2u * LARGE_STACK + 16u * KIB);
    crew_pool pool;
    void *greedy;
    size_t empty;
    size_t freed;
    uint32_t first;
    uint32_t again;
    uint32_t after_deaths = 0;
    uint32_t i;

    REQUIRE(large_opened("again", &pool));
    /* Once, since a slot's first set makes objects that stay. */
    first = fill(pool, leases);
    (void)CHECK_EQ(first, FEW);
    for (i = 0; i < first; i++) {
        (void)CHECK_EQ(crew_release(leases[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_pool_trim(pool, 0u), CREW_OK);

    greedy = rtems_heap_greedy_allocate(&block, 1u);
    empty = malloc_free_space();
    first = fill(pool, leases);
    for (i = 0; i < first; i++) {
        (void)CHECK_EQ(crew_release(leases[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_pool_trim(pool, 0u), CREW_OK);
    /* the plain question, without freeing ended threads first: trim has freed them */
    freed = malloc_free_space();
    again = fill(pool, leases);
    for (i = 0; i < again; i++) {
        crew_job job;

        (void)CHECK_EQ(crew_run(leases[i], 0u, "exits", job_exits, NULL, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    }
    pause_ms(20u); /* the members that were asked to stop are of lower priority */
    after_deaths = fill(pool, leases);
    for (i = 0; i < after_deaths; i++) {
        (void)CHECK_EQ(crew_release(leases[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    rtems_heap_greedy_free(greedy);
    (void)CHECK(first >= 4u && first < FEW);
    (void)CHECK_EQ(again, first);
    (void)CHECK_EQ(after_deaths, first);
    (void)CHECK_EQ(freed, empty);
    (void)printf("ended sets: room for %lu sets; %lu after a trim, %lu after all died\n",
                 (unsigned long)first, (unsigned long)again, (unsigned long)after_deaths);
}

int boot_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(more_than_the_board_has_is_clamped);
    return check_end();
}

int memory_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(full_house_is_refused_by_the_account);
    RUN(thread_creation_fails_for_real);
    RUN(memory_for_half_a_set_is_no_memory);
    RUN(memory_in_small_pieces_is_no_memory);
    RUN(joined_thread_keeps_its_stack_but_not_from_us);
    RUN(heap_full_of_ended_sets_grows_again);
    return check_end();
}
