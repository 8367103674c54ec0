/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A small program as a server has it: ci/size-host.sh measures the parts of Crew that it links. */
#include "crew.h"
#include "crew_port_posix.h"

static int32_t nothing(void *argument)
{
    (void)argument;
    return 0;
}

int main(void)
{
    static const crew_role role = { "worker", 65536, 20 };
    crew_boot_options boot = CREW_BOOT_OPTIONS_INIT;
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_pool pool;
    crew_lease lease;
    crew_job job;

    boot.port = crew_port_posix();
    options.name = "size";
    options.roles = &role;
    options.role_count = 1;
    options.capacity = 1;
    if (crew_boot(&boot) != CREW_OK || crew_pool_open(&options, &pool) != CREW_OK ||
        crew_acquire(pool, 0, &lease, NULL) != CREW_OK ||
        crew_run(lease, 0, "job", nothing, NULL, &job) != CREW_OK ||
        crew_join(job, 1000, NULL) != CREW_OK || crew_release(lease) != CREW_OK) {
        return 1;
    }
    return crew_pool_close(pool, 1000) == CREW_OK ? 0 : 1;
}
