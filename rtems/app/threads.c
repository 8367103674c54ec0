/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A worker as a thread of RTEMS: its name, its priority, its stack and the use of it. */
#include "app.h"
#include "fixture.h"

#include <rtems.h>
#include <rtems/stackchk.h>
#include <sched.h>
#include <string.h>

#define NAME_BYTES 32u
#define TOUCHED_BYTES 20000u

static const crew_role three_roles[3] = { { "writer", STACK_BYTES, 0u },
                                          { "reader", STACK_BYTES, 50u },
                                          { "connection", STACK_BYTES, CREW_PRIORITY_MAX } };

static int three_opened(crew_pool *pool, crew_lease *lease)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = "pvas";
    options.roles = three_roles;
    options.role_count = 3u;
    options.capacity = 1u;
    return CHECK_EQ(crew_pool_open(&options, pool), CREW_OK) &&
           CHECK_EQ(crew_acquire(*pool, 0u, lease, NULL), CREW_OK);
}

static void close_with(crew_pool pool, crew_lease lease)
{
    (void)CHECK_EQ(crew_release(lease), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
}

static void names_have_fifteen_characters(void)
{
    static const char *const names[3] = { "pvas.0-writer", "pvas.0-reader", "pvas.0-connecti" };
    crew_pool pool;
    crew_lease lease;
    uint32_t role;

    REQUIRE(three_opened(&pool, &lease));
    for (role = 0; role < 3u; role++) {
        char name[NAME_BYTES] = "";
        size_t thread = 0;

        (void)CHECK_EQ(crew_lease_thread(lease, role, &thread), CREW_OK);
        (void)CHECK_EQ(pthread_getname_np((pthread_t)thread, name, sizeof(name)), 0);
        (void)CHECK_EQ(strlen(name) == strlen(names[role]), 1);
        (void)CHECK_CONTAINS(name, names[role]);
    }
    close_with(pool, lease);
}

/* A role's 0 to 99 are spread over RTEMS's 1 to 254; the scheduler counts the other way. */
static void priorities_are_the_roles(void)
{
    static const int priorities[3] = { 1, 1 + 50 * 253 / 99, 254 };
    crew_pool pool;
    crew_lease lease;
    uint32_t role;

    REQUIRE(three_opened(&pool, &lease));
    for (role = 0; role < 3u; role++) {
        struct sched_param param;
        rtems_task_priority core = 0u;
        size_t thread = 0;
        int policy = 0;

        memset(&param, 0, sizeof(param));
        (void)CHECK_EQ(crew_lease_thread(lease, role, &thread), CREW_OK);
        (void)CHECK_EQ(pthread_getschedparam((pthread_t)thread, &policy, &param), 0);
        (void)CHECK_EQ(policy, SCHED_FIFO);
        (void)CHECK_EQ(param.sched_priority, priorities[role]);
        (void)CHECK_EQ(rtems_task_set_priority((rtems_id)thread, RTEMS_CURRENT_PRIORITY, &core),
                       RTEMS_SUCCESSFUL);
        (void)CHECK_EQ(core, 255 - priorities[role]);
    }
    close_with(pool, lease);
}

/* ---- stacks ---- */

static int32_t job_touches_its_stack(void *argument)
{
    volatile char buffer[TOUCHED_BYTES];
    size_t i;

    (void)argument;
    for (i = 0; i < sizeof(buffer); i++) {
        buffer[i] = 1;
    }
    return buffer[0];
}

typedef struct checked {
    rtems_id id;
    size_t used;
} checked;

static void see_stack(const rtems_stack_checker_info *info, void *argument)
{
    checked *wanted = (checked *)argument;

    if (info->id == wanted->id) {
        wanted->used = info->used;
    }
}

static void stack_use_is_what_the_stack_checker_says(void)
{
    crew_result result = CREW_RESULT_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_usage before;
    crew_usage after;
    crew_job job;
    checked second = { 0u, 0u };
    size_t thread = 0;

    REQUIRE(three_opened(&pool, &lease));
    (void)CHECK_EQ(crew_lease_thread(lease, 1u, &thread), CREW_OK);
    before = usage_of(pool);
    (void)CHECK(before.stack_used[1] > 0u && before.stack_used[1] < 8192u);
    REQUIRE_EQ(crew_run(lease, 1u, "touches", job_touches_its_stack, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_OK);
    (void)CHECK_EQ(result.value, 1);
    after = usage_of(pool);
    (void)CHECK(after.stack_used[1] >= TOUCHED_BYTES &&
                after.stack_used[1] < TOUCHED_BYTES + 8192u);
    (void)CHECK_EQ(after.stack_used[2], before.stack_used[2]);
    second.id = (rtems_id)thread;
    rtems_stack_checker_iterate(see_stack, &second);
    (void)CHECK_EQ(after.stack_used[1], second.used);
    close_with(pool, lease);
}

typedef struct found {
    const char *text;
    uint32_t lines;
} found;

static void see_line(void *context, const char *line)
{
    found *wanted = (found *)context;

    wanted->lines += strstr(line, wanted->text) != NULL;
}

static void report_shows_the_stack_use(void)
{
    found wanted = { "B, most used ", 0u };
    crew_pool pool;
    crew_lease lease;

    REQUIRE(three_opened(&pool, &lease));
    pause_ms(20u); /* the writer is of lower priority: it has run when we are back */
    (void)CHECK_EQ(crew_report(1u, see_line, &wanted), CREW_OK);
    (void)CHECK_EQ(wanted.lines, 3);
    close_with(pool, lease);
}

int threads_suite(crew_sink print, void *context)
{
    check_begin(print, context);
    RUN(names_have_fifteen_characters);
    RUN(priorities_are_the_roles);
    RUN(stack_use_is_what_the_stack_checker_says);
    RUN(report_shows_the_stack_use);
    return check_end();
}
