/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What Crew does on VxWorks and nowhere else, on Linux through the shim: kernel objects before
 * threads, the question for memory by a mapping, priorities, names, and what a thread is charged.
 * For the std port of an archive built for VxWorks (STD_PORT), and for the POSIX port compiled as
 * for VxWorks.
 */
#include "check_fork.h"
#include "crew_port_posix.h"
#include "fixture.h"
#include "linux_shim.h"

#ifndef STD_PORT
#include "crew_fleet_shm.h"
#include "fleet.h"
#endif

#include <pthread.h>

#define MIB 1048576u
#define ROLES 2u
/* A worker waits in one event, and each of its job cells has one. */
#define SET_EVENTS (ROLES * (1u + CREW_JOBS_PER_WORKER))

#ifdef STD_PORT
#define OVERHEAD_BYTES MIB
/* std cuts the name of a task by one character more than VxWorks does. */
#define NAME_LETTERS 14u
static const crew_port *port(void)
{
    return NULL;
}
#else
#define OVERHEAD_BYTES 0u
#define NAME_LETTERS 15u
static const crew_port *port(void)
{
    return crew_port_posix();
}
#endif

static crew_pool pool;

static crew_pool_options two_roles(void)
{
    static const crew_role roles[ROLES] = { { "lowest", STACK_BYTES, 0u },
                                            { "highest-of-all", STACK_BYTES, 99u } };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = "p";
    options.roles = roles;
    options.role_count = ROLES;
    options.capacity = 3u;
    return options;
}

static int begin(void)
{
    crew_pool_options options = two_roles();

    return CHECK_EQ(boot(port(), 0u), CREW_OK) &&
           CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK);
}

static void refused(int32_t kind, crew_refusal *refusal)
{
    size_t threads = shim_threads_made();
    crew_lease none = { 0u };

    (void)CHECK_EQ(crew_acquire(pool, 0u, &none, refusal), kind);
    (void)CHECK_EQ(refusal->kind, kind);
    (void)CHECK_EQ(shim_threads_made(), threads);
    (void)CHECK_EQ(account_now().held_bytes, 0);
    (void)CHECK_EQ(usage_of(pool).created, 0);
}

static void boot_needs_its_semaphores_and_can_be_tried_again(void)
{
    shim_semaphores_left(3u);
    (void)CHECK_EQ(boot(port(), 0u), CREW_REFUSED_OBJECTS_EXHAUSTED);
    shim_semaphores_left(SHIM_NO_LIMIT);
    (void)CHECK_EQ(boot(port(), 0u), CREW_OK);
    (void)CHECK_EQ(shim_threads_made(), 0);
}

/* 160 MiB, 80, 40: and nothing stays mapped. */
static void default_budget_is_clamped_to_what_can_be_mapped(void)
{
    crew_account account;
    char said[600];
    int ends[2];
    int errors;
    ssize_t length;

    REQUIRE(pipe(ends) == 0);
    errors = dup(STDERR_FILENO);
    REQUIRE(errors >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    shim_largest_mapping(50u * MIB);
    (void)CHECK_EQ(boot(port(), 0u), CREW_OK);
    (void)dup2(errors, STDERR_FILENO);
    (void)close(ends[1]);
    length = read(ends[0], said, sizeof(said) - 1u);
    said[length > 0 ? length : 0] = '\0';

    (void)CHECK_CONTAINS(said, "crew: major: ");
    (void)CHECK_CONTAINS(said, "the target has no unused address range of that size left");
    account = account_now();
    (void)CHECK_EQ(account.verdict, CREW_VERDICT_CLAMPED);
    (void)CHECK_EQ(account.asked_bytes, 160u * MIB);
    (void)CHECK_EQ(account.budget_bytes, 40u * MIB);
    (void)CHECK_EQ(shim_mappings_asked(), 3);
    (void)CHECK_EQ(shim_mapping_asked(0u), 160u * MIB);
    (void)CHECK_EQ(shim_mapping_asked(1u), 80u * MIB);
    (void)CHECK_EQ(shim_mapping_asked(2u), 40u * MIB);
    (void)CHECK_EQ(shim_odd_mappings(), 0);
    (void)CHECK_EQ(shim_mapped_bytes(), 0);
}

/* Before each thread, for all that it takes. */
static void growth_asks_for_what_a_thread_takes_and_makes_none_without_it(void)
{
    const size_t thread_bytes = STACK_BYTES + OVERHEAD_BYTES;
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_lease lease;
    size_t asked;

    REQUIRE(begin());
    asked = shim_mappings_asked();
    shim_largest_mapping(thread_bytes - 1u);
    refused(CREW_REFUSED_TARGET_MEMORY, &refusal);
    (void)CHECK_EQ(refusal.bytes_requested, thread_bytes);
    (void)CHECK_EQ(shim_mappings_asked(), asked + 1u);
    (void)CHECK_EQ(shim_mapping_asked(asked), thread_bytes);
    shim_largest_mapping(thread_bytes);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(shim_mappings_asked(), asked + 1u + ROLES);
    (void)CHECK_EQ(shim_mapped_bytes(), 0);
    (void)CHECK_EQ(shim_odd_mappings(), 0);
}

/* Whichever of the set's semaphores is refused: no thread, no byte, no slot; those that were made
   are kept. */
static void growth_makes_every_semaphore_before_a_thread(void)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_lease lease;
    size_t before;
    uint32_t made;

    REQUIRE(begin());
    before = shim_semaphores_made();
    for (made = 0; made < SET_EVENTS; made++) {
        shim_semaphores_left(0u);
        refused(CREW_REFUSED_OBJECTS_EXHAUSTED, &refusal);
        (void)CHECK_EQ(refusal.objects, SET_EVENTS - made);
        shim_semaphores_left(1u);
        if (made + 1u < SET_EVENTS) {
            refused(CREW_REFUSED_OBJECTS_EXHAUSTED, &refusal);
        }
        (void)CHECK_EQ(shim_semaphores_made(), before + made + (made + 1u < SET_EVENTS ? 1u : 0u));
    }
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(shim_semaphores_made(), before + SET_EVENTS);
    (void)CHECK_EQ(shim_threads_made(), ROLES);
}

/* A job's round trip, the set's end and its next growth make no semaphore any more. */
static void semaphores_are_made_once(void)
{
    static int32_t value = 4;
    size_t made = 0;
    uint32_t round;

    REQUIRE(begin());
    for (round = 0; round < 5u; round++) {
        crew_lease lease;
        crew_job job;

        REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
        made = round == 0u ? shim_semaphores_made() : made;
        (void)CHECK_EQ(crew_run(lease, 0u, "value", job_value, &value, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
        (void)CHECK_EQ(crew_release(lease), CREW_OK);
        (void)CHECK_EQ(crew_pool_trim(pool, 0u), CREW_OK);
        (void)CHECK_EQ(usage_of(pool).created, 0);
    }
    (void)CHECK_EQ(shim_semaphores_made(), made);
    (void)CHECK_EQ(shim_threads_made(), 5u * ROLES);
}

static void thread_is_charged_what_its_port_takes(void)
{
    crew_lease lease;

    REQUIRE(begin());
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    (void)CHECK_EQ(account_now().held_bytes, ROLES * (STACK_BYTES + OVERHEAD_BYTES));
}

typedef struct seen {
    char name[32];
    int policy;
    int priority;
} seen;

static int32_t job_look(void *argument)
{
    seen *at = (seen *)argument;

    (void)strncpy(at->name, shim_name(), sizeof(at->name) - 1u);
    at->policy = shim_policy();
    at->priority = shim_priority();
    return 0;
}

/* On VxWorks' POSIX scale, 255 minus the native one: native 199 and 100. SCHED_FIFO is 1. */
static void threads_have_the_priorities_of_epics_base_and_names(void)
{
    static const char long_name[] = "p.0-highest-of-all";
    seen looks[ROLES];
    crew_lease lease;
    uint32_t role;

    (void)memset(looks, 0, sizeof(looks));
    REQUIRE(begin());
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
    for (role = 0; role < ROLES; role++) {
        crew_job job;

        REQUIRE_EQ(crew_run(lease, role, "look", job_look, &looks[role], &job), CREW_OK);
        REQUIRE_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
        (void)CHECK_EQ(looks[role].policy, 1);
    }
    (void)CHECK_EQ(looks[0].priority, 255 - 199);
    (void)CHECK_EQ(looks[1].priority, 255 - 100);
    (void)CHECK_CONTAINS(looks[0].name, "p.0-lowest");
    (void)CHECK_EQ(strlen(looks[1].name), NAME_LETTERS);
    (void)CHECK(strncmp(looks[1].name, long_name, NAME_LETTERS) == 0);
}

#ifndef STD_PORT
/* The tick in which a wait begins may be nearly over, so it does not count. Nothing but the port
   can see a wait that ends early: the core waits on. */
static void wait_is_given_ticks_for_all_of_its_time(void)
{
    static const uint32_t times_ms[] = { 1u, 16u, 17u, 20u, 100u, 3600000u, UINT32_MAX };
    static crew_event event;
    const crew_port *own = port();
    size_t i;

    REQUIRE_EQ(own->event_create(own->context, &event), 0);
    for (i = 0; i < sizeof(times_ms) / sizeof(times_ms[0]); i++) {
        own->event_post(own->context, &event);
        (void)CHECK_EQ(own->event_wait(own->context, &event, times_ms[i]), 1);
        (void)CHECK((shim_ticks() - 1u) * 1000u >= (uint64_t)times_ms[i] * SHIM_TICKS_PER_SECOND);
        (void)CHECK((shim_ticks() - 2u) * 1000u < (uint64_t)times_ms[i] * SHIM_TICKS_PER_SECOND);
    }
    (void)CHECK_EQ(own->event_wait(own->context, &event, 0u), 0);
    (void)CHECK_EQ(shim_ticks(), 0);
}

static crew_fleet fleets[2];
static uint32_t since;

static void *wait_for_change(void *argument)
{
    uint32_t now;

    *(int32_t *)argument = crew_fleet_wait(fleets[1], text_key("scan"), since, WAIT_MS, &now);
    return NULL;
}

/* A lane is a semaphore that goes with its last close, and a change flushes its waiters. */
static void fleets_share_memory_by_public_semaphores(void)
{
    crew_fleet_geometry geometry = small_geometry();
    crew_key key = text_key("scan");
    crew_resource resource;
    crew_life lives[2] = { { 9u, 9u }, { 9u, 9u } };
    char name[64];
    pthread_t thread;
    int32_t waited = -1;
    int descriptor;
    int out;
    int i;

    (void)snprintf(name, sizeof(name), "crew-vxworks-%ld", (long)getpid());
    for (i = 0; i < 2; i++) {
        REQUIRE_EQ(crew_fleet_shm_join(name, &geometry, 0600u, "rtp", &fleets[i]), CREW_OK);
        (void)CHECK_EQ(crew_fleet_life(fleets[i], &lives[i]), CREW_OK);
        (void)CHECK_EQ(lives[i].node, i);
    }
    (void)CHECK_EQ(crew_fleet_node_dead(fleets[0], lives[1]), CREW_FLEET_ALIVE);
    REQUIRE_EQ(crew_fleet_register(fleets[0], key, 1u, &resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_version(fleets[1], key, &since), CREW_OK);
    REQUIRE_EQ(pthread_create(&thread, NULL, wait_for_change, &waited), 0);
    (void)CHECK_EQ(crew_fleet_drain(fleets[0], resource), CREW_OK);
    (void)pthread_join(thread, NULL);
    (void)CHECK_EQ(waited, CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_descriptor(fleets[0], &descriptor), CREW_FLEET_SYSTEM);
    (void)CHECK_EQ(crew_fleet_shm_leave(fleets[1]), CREW_OK);
    /* Its lane is free for the next one. */
    REQUIRE_EQ(crew_fleet_shm_join(name, &geometry, 0600u, "rtp", &fleets[1]), CREW_OK);
    (void)CHECK_EQ(crew_fleet_life(fleets[1], &lives[0]), CREW_OK);
    (void)CHECK_EQ(lives[0].node, 1);
    (void)CHECK(lives[0].incarnation > lives[1].incarnation);
    EVENTUALLY(crew_fleet_shm_leave(fleets[1]) == CREW_OK, out);
    (void)CHECK(out);
    (void)CHECK_EQ(crew_fleet_shm_leave(fleets[0]), CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_unlink(name), CREW_OK);
}
#endif

int main(void)
{
    RUN_FORKED(boot_needs_its_semaphores_and_can_be_tried_again);
    RUN_FORKED(default_budget_is_clamped_to_what_can_be_mapped);
    RUN_FORKED(growth_asks_for_what_a_thread_takes_and_makes_none_without_it);
    RUN_FORKED(growth_makes_every_semaphore_before_a_thread);
    RUN_FORKED(semaphores_are_made_once);
    RUN_FORKED(thread_is_charged_what_its_port_takes);
    RUN_FORKED(threads_have_the_priorities_of_epics_base_and_names);
#ifndef STD_PORT
    RUN_FORKED(wait_is_given_ticks_for_all_of_its_time);
    RUN_FORKED(fleets_share_memory_by_public_semaphores);
#endif
    return check_sum();
}
