/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Fleet leases through the C interface, in one process: what the specification lists, on a target
 * of the test's own; then leaving under other threads' calls, policies, the image's own port, and
 * shared memory with its descriptor.
 */
#include "check_fork.h"
#include "crew_fleet_shm.h"
#include "crew_port_posix.h"
#include "fixture.h"
#include "fleet.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#define PENDING 8u
#define POISON UINT64_C(0x5A5A5A5A5A5A5A5A)

/* ---- fixture: two nodes of one table ---- */

static uint32_t words[SMALL_WORDS];
static desk target;
static crew_fleet one;
static crew_fleet two;
static crew_key key;

static crew_fleet_options options_at(const crew_fleet_geometry *geometry, uint32_t *memory,
                                     size_t bytes)
{
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;

    options.geometry = geometry;
    options.memory = memory;
    options.bytes = bytes;
    options.port = &target.port;
    return options;
}

static int32_t join_as(uint32_t node, const char *name, crew_fleet *fleet)
{
    crew_fleet_geometry geometry = small_geometry();
    crew_fleet_options options = options_at(&geometry, words, sizeof(words));

    options.node = node;
    options.name = name;
    options.process = 4711u;
    return crew_fleet_join(&options, fleet);
}

static int set_up(void)
{
    (void)memset(words, 0, sizeof(words));
    desk_init(&target);
    key = text_key("scan");
    return CHECK_EQ(join_as(CREW_FLEET_ANY_NODE, "one", &one), CREW_OK) &&
           CHECK_EQ(join_as(CREW_FLEET_ANY_NODE, "two", &two), CREW_OK);
}

static void take_down(void)
{
    (void)CHECK_EQ(crew_fleet_leave(one), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(two), CREW_OK);
}

static crew_life life_of(crew_fleet fleet)
{
    crew_life life = { 0u, 0u };

    (void)CHECK_EQ(crew_fleet_life(fleet, &life), CREW_OK);
    return life;
}

static crew_resource registered(crew_fleet fleet, uint32_t capacity)
{
    crew_resource resource = { 0u };

    (void)CHECK_EQ(crew_fleet_register(fleet, key, capacity, &resource), CREW_OK);
    return resource;
}

static crew_fleet_lease reserved(crew_fleet fleet, crew_resource resource)
{
    crew_fleet_lease lease = { { 0u }, 0u, { 0u, 0u } };

    (void)CHECK_EQ(crew_fleet_reserve(fleet, resource, &lease), CREW_OK);
    return lease;
}

static crew_execution accepted(crew_fleet fleet, crew_fleet_lease lease)
{
    crew_execution execution = { 0u };

    (void)CHECK_EQ(crew_fleet_accept(fleet, &lease, &execution), CREW_OK);
    return execution;
}

/* ---- the specification's list ---- */

static void the_size_is_told(void)
{
    crew_fleet_geometry geometry = small_geometry();
    size_t bytes = 0u;

    (void)CHECK_EQ(crew_fleet_bytes(&geometry, &bytes), CREW_OK);
    (void)CHECK_EQ(bytes, sizeof(words));
}

static void an_exclusive_lease_is_granted_once_and_freed_by_the_owner(void)
{
    crew_resource resource;
    crew_fleet_lease lease;
    crew_fleet_lease none = { { 0u }, POISON, { 0u, 0u } };
    crew_execution execution;

    REQUIRE(set_up());
    resource = registered(one, 1u);
    lease = reserved(two, resource);
    (void)CHECK_EQ(lease.resource.bits, resource.bits);
    (void)CHECK_EQ(lease.holder.node, life_of(two).node);
    (void)CHECK_EQ(crew_fleet_reserve(one, resource, &none), CREW_BUSY);
    (void)CHECK_EQ(none.fence, POISON);
    execution = accepted(one, lease);
    (void)CHECK_EQ(crew_fleet_reserve(two, resource, &none), CREW_BUSY);
    (void)CHECK_EQ(crew_fleet_complete(two, execution), CREW_FLEET_NOT_OWNER);
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_OK);
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_STALE);
    (void)CHECK(reserved(two, resource).fence > lease.fence);
    take_down();
}

static void an_abandoned_reservation_is_aged_by_reconcile_not_by_time_alone(void)
{
    crew_resource resource;
    crew_fleet_lease lease;
    crew_fleet_lease none;
    crew_execution execution = { 0u };
    crew_reconciled result = { 0u, 0u };

    REQUIRE(set_up());
    resource = registered(one, 1u);
    lease = reserved(two, resource);
    target.clock += 3600000u;
    (void)CHECK_EQ(crew_fleet_reserve(two, resource, &none), CREW_BUSY);
    (void)CHECK_EQ(crew_fleet_is_current(two, &lease), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reconcile(two, resource, 0u, 0u, 1000u, &result),
                   CREW_FLEET_NOT_OWNER);
    (void)CHECK_EQ(crew_fleet_reconcile(one, resource, 0u, 0u, 1000u, &result), CREW_OK);
    (void)CHECK_EQ(result.aged, 1);
    (void)CHECK_EQ(crew_fleet_accept(one, &lease, &execution), CREW_FLEET_NOT_RESERVED);
    (void)CHECK_EQ(crew_fleet_is_current(two, &lease), CREW_FLEET_NOT_RESERVED);
    (void)reserved(two, resource);
    take_down();
}

static void a_lease_is_accepted_exactly_once_out_of_order_too(void)
{
    crew_resource resource;
    crew_fleet_lease leases[3];
    crew_execution executions[3];
    crew_execution again;
    uint32_t active = 9u;
    int i;

    REQUIRE(set_up());
    resource = registered(one, 3u);
    for (i = 0; i < 3; i++) {
        leases[i] = reserved(two, resource);
    }
    for (i = 2; i >= 0; i--) {
        executions[i] = accepted(one, leases[i]);
        (void)CHECK_EQ(crew_fleet_accept(one, &leases[i], &again), CREW_FLEET_NOT_RESERVED);
    }
    (void)CHECK_EQ(crew_fleet_accept(two, &leases[0], &again), CREW_FLEET_NOT_OWNER);
    (void)CHECK_EQ(crew_fleet_active(two, resource, &active), CREW_OK);
    (void)CHECK_EQ(active, 3);
    for (i = 0; i < 3; i++) {
        (void)CHECK_EQ(crew_fleet_complete(one, executions[i]), CREW_OK);
    }
    (void)CHECK_EQ(free_units(one, key), 3);
    take_down();
}

static void aging_is_per_reservation(void)
{
    crew_resource resource;
    crew_fleet_lease old;
    crew_fleet_lease fresh;
    crew_execution none;
    crew_reconciled result;

    REQUIRE(set_up());
    resource = registered(one, 4u);
    old = reserved(two, resource);
    target.clock += 500u;
    fresh = reserved(two, resource);
    target.clock += 400u;
    (void)CHECK_EQ(crew_fleet_reconcile(one, resource, 0u, 0u, 600u, &result), CREW_OK);
    (void)CHECK_EQ(result.aged, 1);
    (void)CHECK_EQ(crew_fleet_accept(one, &old, &none), CREW_FLEET_NOT_RESERVED);
    (void)CHECK_EQ(crew_fleet_complete(one, accepted(one, fresh)), CREW_OK);
    take_down();
}

static void an_owner_far_behind_makes_reserve_busy(void)
{
    crew_resource resource;
    crew_fleet_lease first;
    crew_fleet_lease none;
    uint32_t i;

    REQUIRE(set_up());
    resource = registered(one, 100u);
    first = reserved(two, resource);
    for (i = 1u; i < PENDING; i++) {
        (void)reserved(two, resource);
    }
    (void)CHECK_EQ(crew_fleet_reserve(two, resource, &none), CREW_BUSY);
    (void)CHECK_EQ(free_units(two, key), 92);
    (void)accepted(one, first);
    (void)reserved(two, resource);
    take_down();
}

static void capacity_counts_and_drain_lets_what_is_out_finish(void)
{
    crew_resource resource;
    crew_fleet_lease pending;
    crew_fleet_lease none;
    crew_execution execution;
    crew_candidate candidate;
    uint32_t count = 0u;

    REQUIRE(set_up());
    resource = registered(one, 2u);
    execution = accepted(one, reserved(two, resource));
    pending = reserved(two, resource);
    (void)CHECK_EQ(crew_fleet_reserve(two, resource, &none), CREW_BUSY);
    (void)CHECK_EQ(crew_fleet_drain(two, resource), CREW_FLEET_NOT_OWNER);
    (void)CHECK_EQ(crew_fleet_drain(one, resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_drain(one, resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reserve(two, resource, &none), CREW_FLEET_DRAINING);
    (void)CHECK_EQ(crew_fleet_candidates(two, key, &candidate, 1u, &count), CREW_OK);
    (void)CHECK_EQ(count, 1);
    (void)CHECK_EQ(candidate.draining, 1);
    (void)CHECK_EQ(candidate.free, 0);
    (void)CHECK_EQ(candidate.reserved, 1);
    (void)CHECK_EQ(candidate.local, 0);
    (void)CHECK_EQ(crew_fleet_complete(one, accepted(one, pending)), CREW_OK);
    (void)CHECK_EQ(crew_fleet_unregister(two, resource), CREW_FLEET_NOT_OWNER);
    (void)CHECK_EQ(crew_fleet_unregister(one, resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_unregister(one, resource), CREW_STALE);
    take_down();
}

static void a_reused_slot_makes_the_old_id_stale(void)
{
    crew_resource old;
    crew_resource next = { 0u };
    crew_fleet_lease lease;
    crew_execution execution;
    int i;

    REQUIRE(set_up());
    old = registered(one, 1u);
    lease = reserved(two, old);
    (void)CHECK_EQ(crew_fleet_unregister(one, old), CREW_OK);
    for (i = 0; i < 4; i++) {
        next = registered(one, 1u);
        (void)CHECK(next.bits != old.bits);
        (void)CHECK_EQ(i < 3 ? crew_fleet_unregister(one, next) : CREW_OK, CREW_OK);
    }
    /* The slot of the old id again, four registrations later. */
    (void)CHECK_EQ(next.bits >> 30, old.bits >> 30);
    (void)CHECK_EQ(crew_fleet_reserve(two, old, &lease), CREW_STALE);
    (void)CHECK_EQ(crew_fleet_accept(one, &lease, &execution), CREW_STALE);
    (void)CHECK_EQ(crew_fleet_drain(one, old), CREW_STALE);
    (void)CHECK_EQ(free_units(one, key), 1);
    take_down();
}

static uint32_t granted;
static uint32_t denied;

static void *claim_once(void *argument)
{
    crew_permit permit;
    int32_t status = crew_fleet_claim(*(const crew_fleet *)argument, key, 3u, &permit);

    (void)__atomic_add_fetch(status == CREW_OK ? &granted : &denied,
                             status == CREW_OK || status == CREW_FLEET_BUDGET_SPENT,
                             __ATOMIC_SEQ_CST);
    return NULL;
}

static void claims_hold_the_fleet_under_max_live(void)
{
    pthread_t threads[8];
    crew_key_budget budget = { 9u, 9u };
    int i;

    REQUIRE(set_up());
    granted = denied = 0u;
    for (i = 0; i < 8; i++) {
        REQUIRE_EQ(pthread_create(&threads[i], NULL, claim_once, i % 2 == 0 ? &one : &two), 0);
    }
    for (i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)CHECK_EQ(granted, 3);
    (void)CHECK_EQ(denied, 5);
    (void)CHECK_EQ(crew_fleet_budget(one, key, &budget), CREW_OK);
    (void)CHECK_EQ(budget.live, 0);
    (void)CHECK_EQ(budget.creating, 3);
    take_down();
}

static void a_permit_ends_once(void)
{
    crew_permit permit = { 0u };
    crew_permit none = { POISON };

    REQUIRE(set_up());
    (void)CHECK_EQ(crew_fleet_claim(one, key, 1u, &permit), CREW_OK);
    (void)CHECK_EQ(crew_fleet_claim(two, key, 1u, &none), CREW_FLEET_BUDGET_SPENT);
    (void)CHECK_EQ(none.bits, POISON);
    (void)CHECK_EQ(crew_fleet_finish(two, permit), CREW_FLEET_NOT_OWNER);
    (void)CHECK_EQ(crew_fleet_finish(one, permit), CREW_OK);
    (void)CHECK_EQ(crew_fleet_finish(one, permit), CREW_STALE);
    (void)CHECK_EQ(crew_fleet_claim(two, key, 1u, &permit), CREW_OK);
    take_down();
}

/* A thread that waits for the key. */
typedef struct waiter {
    pthread_t thread;
    crew_fleet fleet;
    uint32_t since;
    uint32_t version;
    int32_t status;
    int any;
} waiter;

static uint32_t waiters_refused;

static void *wait_main(void *argument)
{
    waiter *self = (waiter *)argument;

    self->status = self->any
                       ? crew_fleet_wait_any(self->fleet, self->since, WAIT_MS, &self->version)
                       : crew_fleet_wait(self->fleet, key, self->since, WAIT_MS, &self->version);
    if (self->status == CREW_REFUSED_TOO_MANY_WAITERS) {
        (void)__atomic_add_fetch(&waiters_refused, 1u, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static int wait_begin(waiter *self, crew_fleet fleet, uint32_t since, int any)
{
    (void)memset(self, 0, sizeof(*self));
    self->fleet = fleet;
    self->since = since;
    self->any = any;
    return pthread_create(&self->thread, NULL, wait_main, self) == 0;
}

static uint32_t sleepers(void)
{
    return __atomic_load_n(&target.sleepers, __ATOMIC_SEQ_CST);
}

static void a_waiter_is_woken_by_complete(void)
{
    waiter by_key;
    waiter by_any;
    crew_execution execution;
    uint32_t version = 0u;
    uint32_t since = 0u;

    REQUIRE(set_up());
    execution = accepted(one, reserved(two, registered(one, 1u)));
    (void)CHECK_EQ(crew_fleet_version(two, key, &version), CREW_OK);
    (void)CHECK_EQ(crew_fleet_watch(two, &since), CREW_OK);
    REQUIRE(wait_begin(&by_key, two, version, 0) && wait_begin(&by_any, two, since, 1));
    CHECK_EVENTUALLY(sleepers() == 2u);
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_OK);
    (void)pthread_join(by_key.thread, NULL);
    (void)pthread_join(by_any.thread, NULL);
    (void)CHECK_EQ(by_key.status, CREW_OK);
    (void)CHECK(by_key.version != version);
    (void)CHECK_EQ(by_any.status, CREW_OK);
    (void)CHECK_EQ(crew_fleet_wait(two, key, by_key.version, 0u, &version), CREW_TIMED_OUT);
    take_down();
}

static void a_death_report_closes_that_incarnation_only(void)
{
    crew_life dead;
    crew_life owners[4];
    crew_fleet next;
    crew_permit permit;
    crew_fleet_lease none;
    crew_resource old;
    uint32_t count = 0u;

    REQUIRE(set_up());
    old = registered(two, 1u);
    (void)CHECK_EQ(crew_fleet_claim(two, text_key("new"), 1u, &permit), CREW_OK);
    dead = life_of(two);
    (void)CHECK_EQ(crew_fleet_node_dead(one, dead), CREW_FLEET_ALIVE);
    target.blind = 1u;
    (void)CHECK_EQ(crew_fleet_node_dead(one, dead), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reserve(one, old, &none), CREW_STALE);
    (void)CHECK_EQ(crew_fleet_claim(one, text_key("new"), 1u, &permit), CREW_OK);
    (void)CHECK_EQ(crew_fleet_register(two, key, 1u, &old), CREW_FLEET_LIFE_ENDED);
    /* The same node again: another life, which an old report does not touch. */
    (void)CHECK_EQ(crew_fleet_leave(two), CREW_OK);
    (void)CHECK_EQ(join_as(dead.node, "next", &next), CREW_OK);
    two = next;
    (void)registered(two, 1u);
    (void)CHECK_EQ(crew_fleet_node_dead(one, dead), CREW_OK);
    (void)CHECK_EQ(free_units(one, key), 1);
    (void)CHECK_EQ(crew_fleet_owners(one, owners, 4u, &count), CREW_OK);
    (void)CHECK_EQ(count, 2);
    (void)CHECK_EQ(owners[0].node, life_of(one).node);
    (void)CHECK_EQ(owners[1].incarnation, life_of(two).incarnation);
    (void)CHECK_EQ(crew_fleet_owners(one, NULL, 0u, &count), CREW_OK);
    (void)CHECK_EQ(count, 2);
    take_down();
}

static void a_death_is_met_and_swept(void)
{
    crew_life dead;
    crew_swept swept = { 0u, 0u };

    REQUIRE(set_up());
    (void)registered(two, 1u);
    (void)reserved(two, registered(one, 1u));
    dead = life_of(two);
    /* Its process is gone: the lock with it. */
    desk_let_go(&target, dead.node);
    (void)CHECK_EQ(crew_fleet_sweep(one, &swept), CREW_OK);
    (void)CHECK_EQ(swept.lives, 1);
    (void)CHECK_EQ(crew_fleet_sweep(one, &swept), CREW_OK);
    (void)CHECK_EQ(swept.lives + swept.cells, 0);
    take_down();
}

/*
 * The first slot's tenancy, `generation:30 phase:2`, of the first lane: behind 32 words of header
 * and 16 of the lane. 2^30 registrations would take hours.
 */
#define FIRST_TENANCY 48u
#define LAST_GENERATION 0x3fffffffu

static void a_reset_starts_a_new_epoch_and_exhausted_generations_are_full(void)
{
    crew_resource spent[4];
    crew_resource none;
    uint32_t i;

    REQUIRE(set_up());
    for (i = 0u; i < 4u; i++) {
        words[FIRST_TENANCY + i] = (LAST_GENERATION - 1u) << 2;
    }
    for (i = 0u; i < 4u; i++) {
        spent[i] = registered(one, 1u);
    }
    for (i = 0u; i < 4u; i++) {
        (void)CHECK_EQ(crew_fleet_unregister(one, spent[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_fleet_register(one, key, 1u, &none), CREW_FLEET_FULL);
    (void)registered(two, 1u);
    (void)CHECK_EQ(crew_fleet_reset(two), CREW_OK);
    (void)CHECK_EQ(free_units(one, key), -1);
    (void)registered(one, 1u);
    (void)CHECK_EQ(crew_fleet_unregister(one, spent[0]), CREW_STALE);
    take_down();
}

static void acquire_walks_create_reuse_wait(void)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    crew_fleet_plan remote = CREW_FLEET_PLAN_INIT;
    uint32_t version = 0u;
    crew_resource resource;

    REQUIRE(set_up());
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, NULL, NULL, &plan), CREW_OK);
    REQUIRE_EQ(plan.kind, CREW_PLAN_CREATE);
    (void)CHECK_EQ(crew_fleet_acquire(two, key, &limits, NULL, NULL, &remote), CREW_OK);
    (void)CHECK_EQ(remote.kind, CREW_PLAN_WAIT);
    resource = registered(one, 2u);
    (void)CHECK_EQ(crew_fleet_finish(one, plan.permit), CREW_OK);
    (void)CHECK_EQ(crew_fleet_wait(two, key, remote.version, 0u, &version), CREW_OK);
    (void)CHECK_EQ(crew_fleet_acquire(two, key, &limits, NULL, NULL, &remote), CREW_OK);
    REQUIRE_EQ(remote.kind, CREW_PLAN_REMOTE_REUSE);
    (void)CHECK_EQ(remote.lease.resource.bits, resource.bits);
    (void)CHECK_EQ(crew_fleet_acquire(two, key, &limits, crew_fleet_local_only, NULL, &plan),
                   CREW_OK);
    (void)CHECK_EQ(plan.kind, CREW_PLAN_WAIT);
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, crew_fleet_local_only, NULL, &plan),
                   CREW_OK);
    REQUIRE_EQ(plan.kind, CREW_PLAN_LOCAL_REUSE);
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, NULL, NULL, &plan), CREW_OK);
    (void)CHECK_EQ(plan.kind, CREW_PLAN_WAIT);
    (void)CHECK_EQ(crew_fleet_complete(one, accepted(one, remote.lease)), CREW_OK);
    (void)CHECK_EQ(crew_fleet_wait(one, key, plan.version, 0u, &version), CREW_OK);
    take_down();
}

/* ---- policies ---- */

/* A policy of the test: its answer, and what it was asked. */
typedef struct chooser {
    uint32_t kind;
    crew_resource resource;
    int32_t answer;
    uint32_t asked;
    uint32_t last_attempt;
} chooser;

static int32_t choose(void *context, const crew_fleet_view *view, crew_fleet_choice *choice)
{
    chooser *by = (chooser *)context;

    by->asked++;
    by->last_attempt = view->attempt;
    choice->kind = by->kind;
    choice->resource = by->resource;
    choice->reason = view->max_live;
    return by->answer;
}

static void a_policy_of_the_callers_chooses(void)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    chooser by = { CREW_CHOICE_REJECT, { 0u }, CREW_OK, 0u, 0u };
    crew_resource full;

    REQUIRE(set_up());
    limits.max_live = 41u;
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, choose, &by, &plan), CREW_OK);
    (void)CHECK_EQ(plan.kind, CREW_PLAN_REJECT);
    (void)CHECK_EQ(plan.reason, 41);
    full = registered(two, 1u);
    (void)reserved(one, full);
    by.kind = CREW_CHOICE_REUSE;
    by.resource = full;
    by.asked = 0u;
    limits.attempts = 3u;
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, choose, &by, &plan), CREW_OK);
    (void)CHECK_EQ(plan.kind, CREW_PLAN_WAIT);
    (void)CHECK_EQ(by.asked, 3);
    (void)CHECK_EQ(by.last_attempt, 2);
    limits.attempts = 0u;
    by.asked = 0u;
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, choose, &by, &plan), CREW_OK);
    (void)CHECK_EQ(by.asked, 1);
    plan.kind = 99u;
    by.answer = -7;
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, choose, &by, &plan), -7);
    (void)CHECK_EQ(plan.kind, 99);
    by.answer = CREW_OK;
    by.kind = 5u;
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, choose, &by, &plan), CREW_BAD_VALUE);
    by.kind = CREW_CHOICE_REUSE;
    by.resource.bits = POISON;
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, choose, &by, &plan), CREW_BAD_HANDLE);
    (void)CHECK_EQ(plan.kind, 99);
    take_down();
}

static int32_t leave_inside(void *context, const crew_fleet_view *view, crew_fleet_choice *choice)
{
    *(int32_t *)context = crew_fleet_leave(view->fleet);
    choice->kind = CREW_CHOICE_CREATE;
    return CREW_OK;
}

static int32_t end_thread_inside(void *context, const crew_fleet_view *view,
                                 crew_fleet_choice *choice)
{
    (void)context;
    (void)view;
    (void)choice;
    pthread_exit(NULL);
}

static void *acquire_and_die(void *argument)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;

    (void)crew_fleet_acquire(*(const crew_fleet *)argument, key, &limits, end_thread_inside, NULL,
                             &plan);
    return NULL;
}

static void a_policy_holds_nothing_while_it_runs(void)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    int32_t left = -1;
    pthread_t thread;

    REQUIRE(set_up());
    (void)CHECK_EQ(crew_fleet_acquire(one, key, &limits, leave_inside, &left, &plan), CREW_STALE);
    (void)CHECK_EQ(left, CREW_OK);
    REQUIRE_EQ(pthread_create(&thread, NULL, acquire_and_die, &two), 0);
    (void)pthread_join(thread, NULL);
    (void)CHECK_EQ(crew_fleet_leave(two), CREW_OK);
}

/* ---- joining and leaving ---- */

static void a_leave_wakes_who_waits_and_is_busy_until_they_are_out(void)
{
    waiter by_key;
    waiter by_any;
    uint32_t version = 0u;
    int32_t left;
    int out;

    REQUIRE(set_up());
    (void)registered(one, 1u);
    (void)CHECK_EQ(crew_fleet_version(two, key, &version), CREW_OK);
    REQUIRE(wait_begin(&by_key, two, version, 0) && wait_begin(&by_any, two, words[16], 1));
    CHECK_EVENTUALLY(sleepers() == 2u);
    left = crew_fleet_leave(two);
    (void)CHECK_EQ(left, CREW_BUSY);
    (void)CHECK_EQ(crew_fleet_version(two, key, &version), CREW_STALE);
    EVENTUALLY(crew_fleet_leave(two) == CREW_OK, out);
    (void)CHECK(out);
    (void)pthread_join(by_key.thread, NULL);
    (void)pthread_join(by_any.thread, NULL);
    /* The count moved, or the wait was asked to end: whichever the waiter saw first. */
    (void)CHECK(by_key.status == CREW_STALE || by_key.status == CREW_OK);
    (void)CHECK(by_any.status == CREW_STALE || by_any.status == CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(two), CREW_STALE);
    (void)CHECK_EQ(crew_fleet_leave(one), CREW_OK);
}

static void *work_until_stale(void *argument)
{
    const crew_fleet fleet = *(const crew_fleet *)argument;
    int32_t status;

    do {
        crew_resource resource;
        crew_fleet_lease lease;
        crew_execution execution;

        status = crew_fleet_register(fleet, key, 1u, &resource);
        if (status == CREW_OK) {
            if (crew_fleet_reserve(fleet, resource, &lease) == CREW_OK &&
                crew_fleet_accept(fleet, &lease, &execution) == CREW_OK) {
                (void)crew_fleet_complete(fleet, execution);
            }
            status = crew_fleet_unregister(fleet, resource);
        }
    } while (status != CREW_STALE);
    return NULL;
}

/*
 * Each round's memory is given back to the system right after the leave: a call that still used it
 * would be seen.
 */
static void memory_is_the_callers_again_after_a_leave_under_calls(void)
{
    int round;

    for (round = 0; round < 50; round++) {
        crew_fleet_geometry geometry = small_geometry();
        crew_fleet_options options;
        pthread_t threads[3];
        crew_fleet fleet;
        void *memory =
            mmap(NULL, sizeof(words), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        int out;
        int i;

        REQUIRE(memory != MAP_FAILED);
        desk_init(&target);
        options = options_at(&geometry, (uint32_t *)memory, sizeof(words));
        REQUIRE_EQ(crew_fleet_join(&options, &fleet), CREW_OK);
        for (i = 0; i < 3; i++) {
            REQUIRE_EQ(pthread_create(&threads[i], NULL, work_until_stale, &fleet), 0);
        }
        EVENTUALLY(crew_fleet_leave(fleet) == CREW_OK, out);
        REQUIRE(out);
        (void)munmap(memory, sizeof(words));
        for (i = 0; i < 3; i++) {
            (void)pthread_join(threads[i], NULL);
        }
    }
}

static void memberships_and_nodes_run_out(void)
{
    crew_fleet more[CREW_MAX_FLEETS];
    crew_fleet none = { POISON };
    unsigned i;

    REQUIRE(set_up());
    (void)CHECK_EQ(join_as(life_of(one).node, "taken", &none), CREW_FLEET_NO_LANE);
    for (i = 2u; i < CREW_MAX_FLEETS; i++) {
        (void)CHECK_EQ(join_as(CREW_FLEET_ANY_NODE, NULL, &more[i]), CREW_OK);
    }
    (void)CHECK_EQ(join_as(CREW_FLEET_ANY_NODE, NULL, &none), CREW_TABLE_FULL);
    (void)CHECK_EQ(none.bits, POISON);
    for (i = 2u; i < CREW_MAX_FLEETS; i++) {
        (void)CHECK_EQ(crew_fleet_leave(more[i]), CREW_OK);
    }
    /* The slot again: the old handle stays stale. */
    (void)CHECK_EQ(join_as(CREW_FLEET_ANY_NODE, NULL, &none), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(more[2]), CREW_STALE);
    (void)CHECK_EQ(crew_fleet_leave(none), CREW_OK);
    take_down();
}

static void a_join_says_what_is_wrong_with_the_table(void)
{
    crew_fleet_geometry geometry = small_geometry();
    crew_fleet_options options = options_at(&geometry, words, sizeof(words));
    crew_fleet_geometry made = CREW_FLEET_GEOMETRY_INIT;
    crew_fleet none = { POISON };

    REQUIRE(set_up());
    geometry.keys = 2u;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_OTHER_GEOMETRY);
    (void)CHECK_EQ(crew_fleet_geometry_of(words, sizeof(words), &made), CREW_OK);
    (void)CHECK_EQ(made.keys, 4);
    geometry.keys = 3u;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_BAD_GEOMETRY);
    geometry = small_geometry();
    options.bytes = sizeof(words) - 4u;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_TOO_SMALL);
    options.bytes = sizeof(words);
    take_down();
    words[1]++;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_OTHER_VERSION);
    words[1]--;
    words[0] = __builtin_bswap32(words[0]);
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_OTHER_BYTE_ORDER);
    words[0] = 1u;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_NOT_A_TABLE);
    (void)CHECK_EQ(none.bits, POISON);
}

static void the_geometrys_numbers_are_limits(void)
{
    crew_fleet_lease lease;
    crew_resource resource;
    crew_execution executions[16];
    crew_execution none;
    crew_resource refused;
    int i;

    REQUIRE(set_up());
    resource = registered(one, 17u);
    for (i = 0; i < 16; i++) {
        executions[i] = accepted(one, reserved(two, resource));
    }
    lease = reserved(two, resource);
    (void)CHECK_EQ(crew_fleet_accept(one, &lease, &none), CREW_FLEET_TOO_MANY_EXECUTIONS);
    (void)CHECK_EQ(crew_fleet_complete(one, executions[7]), CREW_OK);
    (void)accepted(one, lease);
    for (i = 1; i < 4; i++) {
        (void)registered(one, 1u);
    }
    (void)CHECK_EQ(crew_fleet_register(one, key, 1u, &refused), CREW_FLEET_FULL);
    for (i = 1; i < 4; i++) {
        crew_key other = { (uint64_t)i, 0u };

        (void)CHECK_EQ(crew_fleet_register(two, other, 1u, &refused), CREW_OK);
    }
    (void)CHECK_EQ(crew_fleet_register(two, text_key("no room"), 1u, &refused),
                   CREW_FLEET_KEY_TABLE_FULL);
    (void)CHECK_EQ(crew_fleet_register(one, key, 0u, &refused), CREW_BAD_CAPACITY);
    (void)CHECK_EQ(crew_fleet_register(one, key, 65536u, &refused), CREW_BAD_CAPACITY);
    take_down();
}

static void a_reconciliation_gives_lost_executions_back(void)
{
    crew_resource resource;
    crew_execution lost;
    crew_reconciled result = { 9u, 9u };
    uint32_t active = 0u;

    REQUIRE(set_up());
    resource = registered(one, 2u);
    lost = accepted(one, reserved(two, resource));
    (void)CHECK_EQ(crew_fleet_active(one, resource, &active), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reconcile(one, resource, active, 0u, 0u, &result), CREW_OK);
    (void)CHECK_EQ(result.aged, 0);
    (void)CHECK_EQ(result.active, 0);
    (void)CHECK_EQ(free_units(two, key), 2);
    (void)CHECK_EQ(crew_fleet_complete(one, lost), CREW_STALE);
    take_down();
}

/* ---- what an operator sees ---- */

static void the_report_names_nodes_and_holders(void)
{
    static lines seen;
    crew_resource resource;
    int32_t status;

    REQUIRE(set_up());
    resource = registered(one, 3u);
    (void)accepted(one, reserved(two, resource));
    (void)reserved(two, resource);
    target.clock += 70u;
    (void)memset(&seen, 0, sizeof(seen));
    status = crew_fleet_report(two, 0u, line_add, &seen);
    (void)CHECK_EQ(status, CREW_OK);
    (void)CHECK_EQ(seen.count, 3);
    CHECK_CONTAINS(
        seen.text,
        "table 7: 2 of 4 nodes, 1 resources, 1 units reserved, 1 at work, 1 of 4 keys\n");
    CHECK_CONTAINS(seen.text, "node 0: one, process 4711, life 1, alive\n");
    (void)memset(&seen, 0, sizeof(seen));
    (void)CHECK_EQ(crew_fleet_report(two, 2u, line_add, &seen), CREW_OK);
    CHECK_CONTAINS(seen.text, "resource 7.0.0.1: key scan, 1 reserved + 1 at work of 3\n");
    CHECK_CONTAINS(seen.text, "reserved by node 1 life 2, 70 ms ago\n");
    CHECK_CONTAINS(seen.text, "at work: execution 0x47");
    CHECK_CONTAINS(seen.text, "key scan: 1 changes\n");
    take_down();
}

static void a_resource_prints_and_parses(void)
{
    char text[CREW_RESOURCE_TEXT_BYTES];
    crew_resource resource;
    crew_resource parsed = { POISON };
    crew_resource longest = { 0u };

    REQUIRE(set_up());
    resource = registered(one, 1u);
    (void)CHECK_EQ(crew_resource_print(resource, text, sizeof(text)), CREW_OK);
    (void)CHECK(strcmp(text, "7.0.0.1") == 0);
    (void)CHECK_EQ(crew_resource_parse(text, &parsed), CREW_OK);
    (void)CHECK_EQ(parsed.bits, resource.bits);
    (void)CHECK_EQ(crew_resource_parse("63.1023.65535.1073741823", &longest), CREW_OK);
    (void)CHECK_EQ(crew_resource_print(longest, text, sizeof(text)), CREW_OK);
    (void)CHECK(strcmp(text, "63.1023.65535.1073741823") == 0);
    (void)CHECK_EQ(crew_resource_print(longest, text, sizeof(text) - 1u), CREW_BAD_VALUE);
    parsed.bits = POISON;
    (void)CHECK_EQ(crew_resource_parse("64.0.0.1", &parsed), CREW_BAD_TEXT);
    (void)CHECK_EQ(crew_resource_parse("", &parsed), CREW_BAD_TEXT);
    (void)CHECK_EQ(parsed.bits, POISON);
    parsed.bits = ~(uint64_t)0u;
    (void)CHECK_EQ(crew_resource_print(parsed, text, sizeof(text)), CREW_BAD_HANDLE);
    take_down();
}

static void every_status_has_its_own_text(void)
{
    const char *unknown = crew_status_text(-1);
    int32_t status;

    for (status = CREW_FLEET_DRAINING; status <= CREW_FLEET_CORRUPT; status++) {
        if (status <= CREW_FLEET_SYSTEM || status >= CREW_FLEET_NOT_OWNER) {
            (void)CHECK(strcmp(crew_status_text(status), unknown) != 0);
            (void)CHECK(crew_status_errno(status) > 0);
        } else {
            (void)CHECK(strcmp(crew_status_text(status), unknown) == 0);
        }
    }
    (void)CHECK_EQ(crew_status_errno(CREW_FLEET_LIFE_ENDED), EPIPE);
    (void)CHECK_EQ(crew_status_errno(CREW_FLEET_LOST_RACE), EAGAIN);
    (void)CHECK_EQ(crew_status_errno(CREW_FLEET_NOT_OWNER), EINVAL);
}

/* ---- the image's own port ---- */

static uint32_t other_words[SMALL_WORDS];

static int32_t join_image(uint32_t *memory, crew_fleet *fleet)
{
    crew_fleet_geometry geometry = small_geometry();
    crew_fleet_options options = options_at(&geometry, memory, sizeof(words));

    options.port = NULL;
    return crew_fleet_join(&options, fleet);
}

static void the_images_own_port_serves_several_tables(void)
{
    static waiter waiters[CREW_MAX_WAITERS + 1u];
    crew_fleet third;
    crew_fleet other;
    crew_execution execution;
    uint32_t version = 0u;
    unsigned told = 0u;
    unsigned i;

    key = text_key("scan");
    (void)CHECK_EQ(join_image(words, &one), CREW_NOT_BOOTED);
    REQUIRE_EQ(boot(crew_port_posix(), 0u), CREW_OK);
    REQUIRE_EQ(join_image(words, &one), CREW_OK);
    REQUIRE_EQ(join_image(words, &two), CREW_OK);
    REQUIRE_EQ(join_image(other_words, &other), CREW_OK);
    (void)CHECK_EQ(life_of(two).node, 1);
    /* Another table: its lanes are its own. */
    (void)CHECK_EQ(life_of(other).node, 0);
    (void)CHECK_EQ(crew_fleet_node_dead(one, life_of(two)), CREW_FLEET_ALIVE);
    execution = accepted(one, reserved(two, registered(one, 1u)));
    (void)CHECK_EQ(free_units(other, key), -1);
    (void)CHECK_EQ(crew_fleet_version(two, key, &version), CREW_OK);
    for (i = 0u; i <= CREW_MAX_WAITERS; i++) {
        REQUIRE(wait_begin(&waiters[i], two, version, 0));
    }
    /* One of them is too many, and when it is told the others all sit. */
    CHECK_EVENTUALLY(__atomic_load_n(&waiters_refused, __ATOMIC_SEQ_CST) > 0u);
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_OK);
    for (i = 0u; i <= CREW_MAX_WAITERS; i++) {
        (void)pthread_join(waiters[i].thread, NULL);
        told += waiters[i].status == CREW_OK;
    }
    (void)CHECK_EQ(told, CREW_MAX_WAITERS);
    (void)CHECK_EQ(waiters_refused, 1);
    (void)CHECK_EQ(crew_fleet_leave(one), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(two), CREW_OK);
    /* The place of the first table is free for a third one. */
    (void)memset(words, 0, sizeof(words));
    REQUIRE_EQ(join_image(words, &third), CREW_OK);
    (void)CHECK_EQ(life_of(third).node, 0);
    (void)CHECK_EQ(crew_fleet_leave(third), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(other), CREW_OK);
}

/* ---- shared memory ---- */

static char shm_name[64];

static int32_t shm_join(crew_fleet *fleet)
{
    crew_fleet_geometry geometry = small_geometry();

    return crew_fleet_shm_join(shm_name, &geometry, 0600u, "shm", fleet);
}

static int shm_set_up(void)
{
    key = text_key("scan");
    (void)snprintf(shm_name, sizeof(shm_name), "crew-fleet-test-%ld", (long)getpid());
    return CHECK_EQ(shm_join(&one), CREW_OK) && CHECK_EQ(shm_join(&two), CREW_OK);
}

static void shm_take_down(void)
{
    (void)CHECK_EQ(crew_fleet_shm_leave(one), CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_leave(two), CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_unlink(shm_name), CREW_OK);
}

static void two_mappings_share_one_table(void)
{
    crew_fleet_geometry other = small_geometry();
    crew_fleet_geometry made = CREW_FLEET_GEOMETRY_INIT;
    crew_fleet none = { POISON };
    crew_execution execution;
    crew_life left;
    waiter waiting;
    uint32_t version = 0u;

    REQUIRE(shm_set_up());
    (void)CHECK_EQ(life_of(two).node, 1);
    execution = accepted(one, reserved(two, registered(one, 1u)));
    (void)CHECK_EQ(crew_fleet_node_dead(one, life_of(two)), CREW_FLEET_ALIVE);
    (void)CHECK_EQ(crew_fleet_version(two, key, &version), CREW_OK);
    REQUIRE(wait_begin(&waiting, two, version, 0));
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_OK);
    (void)pthread_join(waiting.thread, NULL);
    (void)CHECK_EQ(waiting.status, CREW_OK);
    other.nodes = 5u;
    (void)CHECK_EQ(crew_fleet_shm_join(shm_name, &other, 0600u, NULL, &none),
                   CREW_FLEET_OTHER_GEOMETRY);
    (void)CHECK_EQ(none.bits, POISON);
    (void)CHECK_EQ(crew_fleet_shm_geometry(shm_name, &made), CREW_OK);
    (void)CHECK_EQ(made.nodes, 4);
    /* A left lane is free for the other mapping. */
    left = life_of(two);
    (void)CHECK_EQ(crew_fleet_shm_leave(two), CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_leave(two), CREW_STALE);
    REQUIRE_EQ(shm_join(&two), CREW_OK);
    (void)CHECK_EQ(life_of(two).node, left.node);
    (void)CHECK(life_of(two).incarnation > left.incarnation);
    shm_take_down();
}

static int readable(int descriptor)
{
    struct pollfd wanted;

    wanted.fd = descriptor;
    wanted.events = POLLIN;
    return poll(&wanted, 1u, 0) == 1;
}

static void a_descriptor_tells_of_changes(void)
{
    crew_execution execution;
    crew_resource resource;
    int descriptor = -1;
    int again = -2;
    int told;

    REQUIRE(shm_set_up());
    resource = registered(one, 1u);
    (void)CHECK_EQ(crew_fleet_shm_clear(two), CREW_BAD_VALUE);
    REQUIRE_EQ(crew_fleet_shm_descriptor(two, &descriptor), CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_descriptor(two, &again), CREW_OK);
    (void)CHECK_EQ(again, descriptor);
    (void)CHECK(!readable(descriptor));
    execution = accepted(one, reserved(two, resource));
    (void)CHECK(!readable(descriptor));
    (void)CHECK_EQ(crew_fleet_complete(one, execution), CREW_OK);
    EVENTUALLY(readable(descriptor), told);
    (void)CHECK(told);
    (void)CHECK_EQ(crew_fleet_shm_clear(two), CREW_OK);
    (void)CHECK(!readable(descriptor));
    /* Armed again. */
    (void)CHECK_EQ(crew_fleet_drain(one, resource), CREW_OK);
    EVENTUALLY(readable(descriptor), told);
    (void)CHECK(told);
    /* Ends with the membership, whose own leave comes first here. */
    (void)crew_fleet_leave(two);
    shm_take_down();
    (void)CHECK_EQ(fcntl(descriptor, F_GETFD), -1);
}

static void a_leave_of_shared_memory_is_busy_while_another_thread_waits(void)
{
    waiter waiting;
    uint32_t version = 0u;
    int out;

    REQUIRE(shm_set_up());
    (void)registered(one, 1u);
    (void)CHECK_EQ(crew_fleet_version(two, key, &version), CREW_OK);
    REQUIRE(wait_begin(&waiting, two, version, 0));
    EVENTUALLY(crew_fleet_shm_leave(two) == CREW_OK, out);
    (void)CHECK(out);
    (void)pthread_join(waiting.thread, NULL);
    (void)CHECK(waiting.status == CREW_STALE || waiting.status == CREW_OK);
    REQUIRE_EQ(shm_join(&two), CREW_OK);
    shm_take_down();
}

static void names_of_shared_memory_are_checked(void)
{
    crew_fleet_geometry geometry = small_geometry();
    crew_fleet none = { POISON };
    char longest[202];
    static const char *const bad[] = { "", "/", ".", "/.x", "a/b", "//a" };
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)CHECK_EQ(crew_fleet_shm_join(bad[i], &geometry, 0600u, NULL, &none), CREW_BAD_TEXT);
        (void)CHECK_EQ(crew_fleet_shm_unlink(bad[i]), CREW_BAD_TEXT);
    }
    (void)memset(longest, 'x', sizeof(longest));
    longest[201] = '\0';
    (void)CHECK_EQ(crew_fleet_shm_join(longest, &geometry, 0600u, NULL, &none), CREW_BAD_TEXT);
    (void)CHECK_EQ(crew_fleet_shm_join(NULL, &geometry, 0600u, NULL, &none), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_shm_join("x", NULL, 0600u, NULL, &none), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_shm_join("x", &geometry, 0600u, NULL, NULL), CREW_NULL_ARGUMENT);
    errno = 0;
    (void)CHECK_EQ(crew_fleet_shm_unlink("crew-there-is-no-such"), CREW_FLEET_SYSTEM);
    (void)CHECK_EQ(errno, ENOENT);
    (void)CHECK_EQ(crew_fleet_shm_leave(none), CREW_BAD_HANDLE);
    none.bits = 0u;
    (void)CHECK_EQ(crew_fleet_shm_leave(none), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_fleet_shm_descriptor(none, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_shm_clear(none), CREW_BAD_HANDLE);
}

int main(void)
{
    (void)alarm(300u);
    RUN(the_size_is_told);
    RUN(an_exclusive_lease_is_granted_once_and_freed_by_the_owner);
    RUN(an_abandoned_reservation_is_aged_by_reconcile_not_by_time_alone);
    RUN(a_lease_is_accepted_exactly_once_out_of_order_too);
    RUN(aging_is_per_reservation);
    RUN(an_owner_far_behind_makes_reserve_busy);
    RUN(capacity_counts_and_drain_lets_what_is_out_finish);
    RUN(a_reused_slot_makes_the_old_id_stale);
    RUN(claims_hold_the_fleet_under_max_live);
    RUN(a_permit_ends_once);
    RUN(a_waiter_is_woken_by_complete);
    RUN(a_death_report_closes_that_incarnation_only);
    RUN(a_death_is_met_and_swept);
    RUN(a_reset_starts_a_new_epoch_and_exhausted_generations_are_full);
    RUN(acquire_walks_create_reuse_wait);
    RUN(a_policy_of_the_callers_chooses);
    RUN(a_policy_holds_nothing_while_it_runs);
    RUN(a_leave_wakes_who_waits_and_is_busy_until_they_are_out);
    RUN(memory_is_the_callers_again_after_a_leave_under_calls);
    RUN(memberships_and_nodes_run_out);
    RUN(a_join_says_what_is_wrong_with_the_table);
    RUN(the_geometrys_numbers_are_limits);
    RUN(a_reconciliation_gives_lost_executions_back);
    RUN(the_report_names_nodes_and_holders);
    RUN(a_resource_prints_and_parses);
    RUN(every_status_has_its_own_text);
    RUN(the_images_own_port_serves_several_tables);
    RUN(two_mappings_share_one_table);
    RUN(a_descriptor_tells_of_changes);
    RUN(a_leave_of_shared_memory_is_busy_while_another_thread_waits);
    RUN(names_of_shared_memory_are_checked);
    return check_sum();
}
