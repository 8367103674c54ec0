/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program with more thread-local storage than a role's stack holds, on the POSIX port. */
#include "check_fork.h"
#include "crew_port_posix.h"
#include "fixture.h"

#include <fcntl.h>

#define LOCAL_BYTES 200000u

static __thread volatile char local[LOCAL_BYTES];

static crew_refusal refusal_with(uint32_t stack_bytes)
{
    crew_role role = { "role", 0u, 10u };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_refusal why = CREW_REFUSAL_INIT;
    crew_pool pool;
    crew_lease lease;

    role.stack_bytes = stack_bytes;
    options.name = "pool";
    options.roles = &role;
    options.role_count = 1u;
    options.capacity = 1u;
    (void)CHECK_EQ(crew_pool_open(&options, &pool), CREW_OK);
    if (crew_acquire(pool, 0u, &lease, &why) == CREW_OK) {
        (void)crew_release(lease);
    }
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    return why;
}

static void a_stack_too_small_for_thread_local_storage_is_told_as_that(void)
{
    static char lines[4096];
    crew_refusal why;
    int ends[2];

    local[0] = 1;
    REQUIRE_EQ(boot(crew_port_posix(), 0u), CREW_OK);
    REQUIRE_EQ(pipe(ends), 0);
    (void)dup2(ends[1], STDERR_FILENO);
    why = refusal_with(STACK_BYTES);
    (void)CHECK_EQ(why.kind, CREW_REFUSED_SPAWN_FAILED);
    (void)CHECK_EQ(why.os_error, EINVAL);
    (void)refusal_with(STACK_BYTES); /* and is said once */
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    (void)CHECK(read(ends[0], lines, sizeof(lines) - 1u) > 0);
    (void)CHECK_CONTAINS(lines, "thread-local storage");
    why = refusal_with(LOCAL_BYTES + STACK_BYTES);
    (void)CHECK_EQ(why.kind, 0);
}

int main(void)
{
    RUN_FORKED(a_stack_too_small_for_thread_local_storage_is_told_as_that);
    return check_sum();
}
