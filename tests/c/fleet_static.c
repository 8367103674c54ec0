/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Fleet leases in static memory, with the image's own port on the simulated one, as in an image
 * without shared memory. Runs on any machine. After crew_simulated, before crew_seal.
 */
#include "crew_fleet_acquire.h"
#include "sim_suite.h"
#include "simulated.h"

#define STACK_BYTES 65536u
#define GRACE_MS 1000u
/* Four nodes of four resources, sixteen executions, four keys. */
#define WORDS 1312u

static uint32_t words[WORDS];
static crew_fleet owner;
static crew_fleet user;
static const crew_key key = { 0x6e616373u, 0u };
static crew_event pause_event;
static char report[1024];

static crew_fleet joined(const char *name)
{
    crew_fleet_geometry geometry = CREW_FLEET_GEOMETRY_INIT;
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;
    crew_fleet fleet = { 0u };
    size_t bytes = 0u;

    geometry.nodes = 4u;
    geometry.resources = 4u;
    geometry.executions = 16u;
    geometry.keys = 4u;
    options.geometry = &geometry;
    options.memory = words;
    options.bytes = sizeof(words);
    options.name = name;
    (void)CHECK_EQ(crew_fleet_bytes(&geometry, &bytes), CREW_OK);
    (void)CHECK_EQ(bytes, sizeof(words));
    (void)CHECK_EQ(crew_fleet_join(&options, &fleet), CREW_OK);
    return fleet;
}

static void set_up(void)
{
    (void)memset(words, 0, sizeof(words));
    owner = joined("owner");
    user = joined("user");
}

static void take_down(void)
{
    (void)CHECK_EQ(crew_fleet_leave(owner), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(user), CREW_OK);
}

static void acquire_creates_then_reuses_then_waits(void)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    crew_resource resource = { 0u };
    crew_execution execution = { 0u };

    set_up();
    (void)CHECK_EQ(crew_fleet_acquire(owner, key, &limits, NULL, NULL, &plan), CREW_OK);
    REQUIRE_EQ(plan.kind, CREW_PLAN_CREATE);
    (void)CHECK_EQ(crew_fleet_register(owner, key, 1u, &resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_finish(owner, plan.permit), CREW_OK);
    (void)CHECK_EQ(crew_fleet_acquire(user, key, &limits, NULL, NULL, &plan), CREW_OK);
    REQUIRE_EQ(plan.kind, CREW_PLAN_REMOTE_REUSE);
    (void)CHECK_EQ(crew_fleet_accept(owner, &plan.lease, &execution), CREW_OK);
    (void)CHECK_EQ(crew_fleet_acquire(user, key, &limits, NULL, NULL, &plan), CREW_OK);
    (void)CHECK_EQ(plan.kind, CREW_PLAN_WAIT);
    (void)CHECK_EQ(crew_fleet_complete(owner, execution), CREW_OK);
    (void)CHECK_EQ(crew_fleet_complete(owner, execution), CREW_STALE);
    take_down();
    (void)CHECK_EQ(crew_fleet_leave(owner), CREW_STALE);
}

static void waits_and_ages_are_those_of_the_ports_clock(void)
{
    crew_reconciled result = { 9u, 9u };
    crew_resource resource = { 0u };
    crew_fleet_lease lease;
    uint32_t version = 0u;
    uint64_t begun;

    set_up();
    (void)CHECK_EQ(crew_fleet_register(owner, key, 1u, &resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reserve(user, resource, &lease), CREW_OK);
    (void)CHECK_EQ(crew_fleet_version(user, key, &version), CREW_OK);
    begun = now_ms();
    (void)CHECK_EQ(crew_fleet_wait(user, key, version, GRACE_MS, &version), CREW_TIMED_OUT);
    (void)CHECK_EQ(now_ms() - begun, GRACE_MS);
    (void)CHECK_EQ(crew_fleet_reconcile(owner, resource, 0u, 0u, GRACE_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.aged, 0);
    (void)port_sim()->event_wait(NULL, &pause_event, 1u);
    (void)CHECK_EQ(crew_fleet_reconcile(owner, resource, 0u, 0u, GRACE_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.aged, 1);
    take_down();
}

typedef struct wait_job {
    uint32_t since;
    int32_t status;
} wait_job;

static int32_t job_waits(void *argument)
{
    wait_job *at = (wait_job *)argument;
    uint32_t version;

    at->status = crew_fleet_wait(user, key, at->since, LONG_MS, &version);
    return 0;
}

/* Another thread of the image waits while this one does `act`. */
static int32_t waited_while(void (*act)(crew_resource), crew_resource resource)
{
    static const crew_role role = { "waiter", STACK_BYTES, 10u };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    wait_job waiting = { 0u, -1 };
    crew_lease lease;
    crew_pool pool;
    crew_job job;

    options.name = "fleet";
    options.roles = &role;
    options.role_count = 1u;
    options.capacity = 1u;
    if (!CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK) ||
        !CHECK_EQ(crew_acquire(pool, LONG_MS, &lease, NULL), CREW_OK)) {
        return -1;
    }
    (void)CHECK_EQ(crew_fleet_version(user, key, &waiting.since), CREW_OK);
    (void)CHECK_EQ(crew_run(lease, 0u, "waits", job_waits, &waiting, &job), CREW_OK);
    /* It runs, and sleeps. */
    (void)port_sim()->event_wait(NULL, &pause_event, 1u);
    (void)CHECK_EQ(waiting.status, -1);
    act(resource);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    return waiting.status;
}

static void drain(crew_resource resource)
{
    (void)CHECK_EQ(crew_fleet_drain(owner, resource), CREW_OK);
}

static void leave_user(crew_resource resource)
{
    (void)resource;
    (void)CHECK_EQ(crew_fleet_leave(user), CREW_BUSY);
}

static void another_thread_is_woken_by_a_change_and_by_a_leave(void)
{
    crew_resource resource = { 0u };
    uint64_t begun = now_ms();
    int32_t status;

    set_up();
    (void)CHECK_EQ(crew_fleet_register(owner, key, 1u, &resource), CREW_OK);
    (void)CHECK_EQ(waited_while(drain, resource), CREW_OK);
    status = waited_while(leave_user, resource);
    (void)CHECK(status == CREW_OK || status == CREW_STALE);
    (void)CHECK(now_ms() - begun < LONG_MS);
    take_down();
}

static void report_line(void *context, const char *line)
{
    size_t used = strlen(report);

    (void)context;
    (void)snprintf(report + used, sizeof(report) - used, "%s\n", line);
}

static void the_report_says_who_holds_what(void)
{
    crew_resource resource = { 0u };
    crew_fleet_lease lease;

    set_up();
    (void)CHECK_EQ(crew_fleet_register(owner, key, 3u, &resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reserve(user, resource, &lease), CREW_OK);
    report[0] = '\0';
    (void)CHECK_EQ(crew_fleet_report(user, 2u, report_line, NULL), CREW_OK);
    CHECK_CONTAINS(report, "node 0: owner, process 0, life 1, alive\n");
    CHECK_CONTAINS(report, "resource 1.0.0.1: key scan, 1 reserved + 0 at work of 3\n");
    CHECK_CONTAINS(report, "reserved by node 1 life 2, 0 ms ago\n");
    take_down();
}

int crew_fleet_static(crew_sink print, void *context)
{
    check_begin(print, context);
    (void)port_sim()->event_create(NULL, &pause_event);
    RUN(acquire_creates_then_reuses_then_waits);
    RUN(waits_and_ages_are_those_of_the_ports_clock);
    RUN(another_thread_is_woken_by_a_change_and_by_a_leave);
    RUN(the_report_says_who_holds_what);
    return check_end();
}
