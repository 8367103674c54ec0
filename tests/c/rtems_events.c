/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The tables full to the last worker and the last place to wait, with a membership in a fleet's
 * table of this image: the core asks for CREW_MAX_EVENTS events, and the ports for RTEMS, whose
 * events are made when the image is, have them. RTEMS's own event_create counts here; threads,
 * waits and posts are the POSIX port's.
 */
#include "check_fork.h"
#include "fixture.h"

#include "crew_fleet.h"
#include "crew_port_posix.h"
#include "event_rtems.h"

static crew_port port;
static uint32_t fleet_words[4096];

/* The semaphore stays here: the object is the POSIX port's to use. */
static int32_t create_both(void *context, crew_event *event)
{
    crew_event theirs = { 0u, 0u, NULL };
    const int32_t error = event_create(context, &theirs);

    return error != 0 ? error : crew_port_posix()->event_create(context, event);
}

static void rtems_has_an_event_for_all_that_the_tables_hold(void)
{
    enum { ROLES = CREW_MAX_WORKERS / CREW_MAX_SETS };
    crew_fleet_geometry geometry = CREW_FLEET_GEOMETRY_INIT;
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;
    crew_pool_options all = CREW_POOL_OPTIONS_INIT;
    crew_role roles[ROLES];
    crew_fleet fleet;
    crew_pool pool;
    uint32_t i;

    port = *crew_port_posix();
    port.event_create = create_both;
    REQUIRE_EQ(boot(&port, 0u), CREW_OK);
    geometry.nodes = 1u;
    geometry.resources = 1u;
    geometry.executions = 1u;
    geometry.keys = 1u;
    options.geometry = &geometry;
    options.memory = fleet_words;
    options.bytes = sizeof(fleet_words);
    options.name = "node";
    REQUIRE_EQ(crew_fleet_join(&options, &fleet), CREW_OK);
    for (i = 0; i < ROLES; i++) {
        roles[i].name = "role";
        roles[i].stack_bytes = CREW_STACK_MIN;
        roles[i].priority = 10u;
    }
    all.name = "all";
    all.roles = roles;
    all.role_count = ROLES;
    all.capacity = CREW_MAX_SETS;
    all.prestart = CREW_MAX_SETS;
    (void)CHECK_EQ(crew_pool_open(&all, &pool), CREW_OK);
    (void)CHECK_EQ(events_made, CREW_MAX_EVENTS);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(fleet), CREW_OK);
}

/* What a host has no use for is used here, or the compiler would warn. */
static void waits_and_posts_compile(void)
{
    crew_event event = { 0u, 0u, NULL };

    REQUIRE_EQ(event_create(NULL, &event), 0);
    event_post(NULL, &event);
    (void)CHECK_EQ(event_wait(NULL, &event, 1u), 0);
}

int main(void)
{
    RUN_FORKED(rtems_has_an_event_for_all_that_the_tables_hold);
    RUN_FORKED(waits_and_posts_compile);
    return check_sum();
}
