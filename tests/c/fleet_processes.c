/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One table in shared memory, several processes, through the C interface: capacity is shared
 * exactly, what a killed process held comes back to the others, a peer of another geometry is
 * refused, and a process in Rust (the argument: fleet_peer) is one of them. A child joins for
 * itself; nothing is inherited.
 */
#include "crew_fleet_shm.h"
#include "fixture.h"
#include "fleet.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 4u
#define KILLS 20u

/* What parent and children tell each other. */
typedef struct board {
    uint32_t joined;
    uint32_t go;
    uint32_t granted;
    uint32_t steps;
} board;

static board *shown;
static const char *peer_program;
static char shm_name[64];
static crew_key key;
static crew_fleet fleet;

static int32_t join(crew_fleet *joined)
{
    crew_fleet_geometry geometry = small_geometry();

    return crew_fleet_shm_join(shm_name, &geometry, 0600u, "process", joined);
}

static int set_up(void)
{
    void *memory =
        mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)snprintf(shm_name, sizeof(shm_name), "crew-fleet-processes-%ld", (long)getpid());
    (void)crew_fleet_shm_unlink(shm_name);
    key = text_key("shared");
    shown = (board *)memory;
    return CHECK(memory != MAP_FAILED);
}

static void take_down(void)
{
    (void)CHECK_EQ(crew_fleet_shm_leave(fleet), CREW_OK);
    (void)CHECK_EQ(crew_fleet_shm_unlink(shm_name), CREW_OK);
    (void)munmap(shown, sizeof(*shown));
}

static uint32_t number_of(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static pid_t started(int (*act)(void))
{
    pid_t child = fork();

    if (child == 0) {
        (void)alarm(60u);
        _exit(act());
    }
    return child;
}

static int exit_status(pid_t child)
{
    int status = -1;

    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- capacity ---- */

/* Reserves what it can get, and brings nothing. */
static int take_what_is_there(void)
{
    crew_fleet mine;
    crew_candidate candidate;
    crew_fleet_lease lease;
    uint32_t count;
    uint32_t took = 0u;
    int asked;

    if (join(&mine) != CREW_OK) {
        return 2;
    }
    (void)__atomic_add_fetch(&shown->joined, 1u, __ATOMIC_SEQ_CST);
    EVENTUALLY(number_of(&shown->go) != 0u, asked);
    if (!asked || crew_fleet_candidates(mine, key, &candidate, 1u, &count) != CREW_OK ||
        count != 1u) {
        return 3;
    }
    while (crew_fleet_reserve(mine, candidate.resource, &lease) == CREW_OK) {
        took++;
    }
    (void)__atomic_add_fetch(&shown->granted, took, __ATOMIC_SEQ_CST);
    /* Its reservations outlive it: only their owner ages them. */
    return crew_fleet_shm_leave(mine) == CREW_OK ? 0 : 4;
}

static void processes_share_capacity_exactly(void)
{
    pid_t children[CHILDREN - 1u];
    crew_resource resource = { 0u };
    crew_reconciled result = { 0u, 0u };
    uint32_t i;

    REQUIRE(set_up());
    for (i = 0u; i < CHILDREN - 1u; i++) {
        children[i] = started(take_what_is_there);
        REQUIRE(children[i] > 0);
    }
    REQUIRE_EQ(join(&fleet), CREW_OK);
    (void)CHECK_EQ(crew_fleet_register(fleet, key, 5u, &resource), CREW_OK);
    CHECK_EVENTUALLY(number_of(&shown->joined) == CHILDREN - 1u);
    __atomic_store_n(&shown->go, 1u, __ATOMIC_SEQ_CST);
    for (i = 0u; i < CHILDREN - 1u; i++) {
        (void)CHECK_EQ(exit_status(children[i]), 0);
    }
    (void)CHECK_EQ(shown->granted, 5);
    (void)CHECK_EQ(free_units(fleet, key), 0);
    /* The clock has 4 ms steps: until they are older than 0 ms. */
    CHECK_EVENTUALLY(crew_fleet_reconcile(fleet, resource, 0u, 0u, 0u, &result) == CREW_OK &&
                     free_units(fleet, key) == 5);
    take_down();
}

/* ---- death ---- */

/* Everything that a process can do, over and over. */
static int work_for_ever(void)
{
    crew_fleet mine;

    if (join(&mine) != CREW_OK) {
        return 2;
    }
    for (;;) {
        crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
        crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
        crew_candidate candidate;
        crew_fleet_lease lease;
        crew_execution execution;
        crew_resource own;
        crew_permit permit;
        uint32_t count = 0u;

        (void)__atomic_add_fetch(&shown->steps, 1u, __ATOMIC_SEQ_CST);
        if (crew_fleet_candidates(mine, key, &candidate, 1u, &count) == CREW_OK && count > 0u) {
            (void)crew_fleet_reserve(mine, candidate.resource, &lease);
        }
        if (crew_fleet_register(mine, text_key("own"), 1u, &own) == CREW_OK) {
            if (crew_fleet_reserve(mine, own, &lease) == CREW_OK &&
                crew_fleet_accept(mine, &lease, &execution) == CREW_OK &&
                (execution.bits & 1u) != 0u) {
                (void)crew_fleet_complete(mine, execution);
            }
            (void)crew_fleet_drain(mine, own);
            (void)crew_fleet_unregister(mine, own);
        }
        if (crew_fleet_claim(mine, text_key("own"), 3u, &permit) == CREW_OK) {
            (void)crew_fleet_finish(mine, permit);
        }
        limits.max_live = 2u;
        (void)crew_fleet_acquire(mine, text_key("own"), &limits, NULL, NULL, &plan);
        if (plan.kind == CREW_PLAN_CREATE) {
            (void)crew_fleet_finish(mine, plan.permit);
        }
    }
}

static void what_a_killed_process_held_comes_back(void)
{
    crew_resource resource = { 0u };
    uint32_t kill_number;

    REQUIRE(set_up());
    REQUIRE_EQ(join(&fleet), CREW_OK);
    (void)CHECK_EQ(crew_fleet_register(fleet, key, 6u, &resource), CREW_OK);
    for (kill_number = 0u; kill_number < KILLS; kill_number++) {
        const uint32_t until = shown->steps + 1u + kill_number * 7u % 40u;
        crew_reconciled result = { 0u, 0u };
        crew_key_budget budget = { 9u, 9u };
        crew_swept swept = { 0u, 0u };
        static lines seen;
        pid_t child = started(work_for_ever);
        int status = 0;

        REQUIRE(child > 0);
        CHECK_EVENTUALLY(number_of(&shown->steps) >= until);
        (void)kill(child, SIGKILL);
        REQUIRE_EQ(waitpid(child, &status, 0), child);
        REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        (void)CHECK_EQ(crew_fleet_sweep(fleet, &swept), CREW_OK);
        (void)CHECK_EQ(swept.lives, 1);
        (void)CHECK_EQ(crew_fleet_sweep(fleet, &swept), CREW_OK);
        (void)CHECK_EQ(swept.lives + swept.cells, 0);
        (void)CHECK_EQ(crew_fleet_budget(fleet, text_key("own"), &budget), CREW_OK);
        (void)CHECK_EQ(budget.live + budget.creating, 0);
        CHECK_EVENTUALLY(crew_fleet_reconcile(fleet, resource, 0u, 0u, 0u, &result) == CREW_OK &&
                         free_units(fleet, key) == 6);
        (void)memset(&seen, 0, sizeof(seen));
        (void)CHECK_EQ(crew_fleet_report(fleet, 2u, line_add, &seen), CREW_OK);
        (void)CHECK(strstr(seen.text, "node 1") == NULL &&
                    strstr(seen.text, "reserved by") == NULL &&
                    strstr(seen.text, "execution") == NULL && strstr(seen.text, "permit") == NULL);
        if (check.failures_here > 0) {
            break;
        }
    }
    take_down();
}

static int hold_a_lane(void)
{
    crew_fleet mine;
    crew_resource own;

    if (join(&mine) != CREW_OK || crew_fleet_register(mine, key, 1u, &own) != CREW_OK) {
        return 2;
    }
    (void)__atomic_add_fetch(&shown->joined, 1u, __ATOMIC_SEQ_CST);
    for (;;) {
        (void)pause();
    }
}

/* Without a sweep or a report: looking is enough. */
static void a_death_is_noticed_by_whoever_looks(void)
{
    crew_fleet_geometry other = small_geometry();
    crew_fleet none = { 0u };
    crew_life owners[2] = { { 9u, 9u }, { 9u, 9u } };
    uint32_t count = 0u;
    pid_t child;

    REQUIRE(set_up());
    child = started(hold_a_lane);
    REQUIRE(child > 0);
    CHECK_EVENTUALLY(number_of(&shown->joined) == 1u);
    REQUIRE_EQ(join(&fleet), CREW_OK);
    (void)CHECK_EQ(crew_fleet_owners(fleet, owners, 2u, &count), CREW_OK);
    (void)CHECK_EQ(count, 1);
    (void)CHECK_EQ(free_units(fleet, key), 1);
    (void)CHECK_EQ(crew_fleet_node_dead(fleet, owners[0]), CREW_FLEET_ALIVE);
    other.executions = 8u;
    (void)CHECK_EQ(crew_fleet_shm_join(shm_name, &other, 0600u, NULL, &none),
                   CREW_FLEET_OTHER_GEOMETRY);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)CHECK_EQ(free_units(fleet, key), -1);
    (void)CHECK_EQ(crew_fleet_owners(fleet, owners, 2u, &count), CREW_OK);
    (void)CHECK_EQ(count, 0);
    take_down();
}

/* ---- a process in Rust ---- */

typedef struct peer {
    pid_t process;
    FILE *to;
    FILE *from;
} peer;

static int peer_start(peer *at)
{
    int to[2];
    int from[2];

    if (pipe(to) != 0 || pipe(from) != 0) {
        return 0;
    }
    at->process = fork();
    if (at->process == 0) {
        (void)dup2(to[0], STDIN_FILENO);
        (void)dup2(from[1], STDOUT_FILENO);
        (void)close(to[1]);
        (void)close(from[0]);
        (void)execl(peer_program, peer_program, shm_name, (char *)NULL);
        _exit(127);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    at->to = fdopen(to[1], "w");
    at->from = fdopen(from[0], "r");
    return at->process > 0 && at->to != NULL && at->from != NULL;
}

/* Its next line, or an empty one. */
static const char *peer_says(peer *at)
{
    static char line[200];

    return fgets(line, (int)sizeof(line), at->from) != NULL ? line : "";
}

static void a_process_in_rust_shares_the_table(void)
{
    crew_key rust = text_key("rust");
    crew_candidate candidate;
    crew_fleet_lease lease = { { 0u }, 0u, { 0u, 0u } };
    static lines seen;
    unsigned long long execution = 0u;
    uint32_t count = 0u;
    uint32_t version = 0u;
    peer other;

    REQUIRE(peer_program != NULL);
    REQUIRE(set_up());
    REQUIRE_EQ(join(&fleet), CREW_OK);
    (void)signal(SIGPIPE, SIG_IGN);
    REQUIRE(peer_start(&other));
    REQUIRE(strcmp(peer_says(&other), "ready 1\n") == 0);
    (void)CHECK_EQ(crew_fleet_candidates(fleet, rust, &candidate, 1u, &count), CREW_OK);
    REQUIRE_EQ(count, 1);
    (void)CHECK_EQ(candidate.owner.node, 1);
    (void)CHECK_EQ(crew_fleet_reserve(fleet, candidate.resource, &lease), CREW_OK);
    (void)CHECK_EQ(crew_fleet_report(fleet, 0u, line_add, &seen), CREW_OK);
    CHECK_CONTAINS(seen.text, "node 1: rust, process ");
    (void)fprintf(other.to, "accept %llu %llu %lu %lu\n", (unsigned long long)lease.resource.bits,
                  (unsigned long long)lease.fence, (unsigned long)lease.holder.node,
                  (unsigned long)lease.holder.incarnation);
    (void)fflush(other.to);
    REQUIRE_EQ(sscanf(peer_says(&other), "accepted %llu", &execution), 1);
    (void)CHECK_EQ(crew_fleet_is_current(fleet, &lease), CREW_FLEET_NOT_RESERVED);
    (void)CHECK_EQ(free_units(fleet, rust), 1);
    (void)CHECK_EQ(crew_fleet_version(fleet, rust, &version), CREW_OK);
    (void)fprintf(other.to, "complete %llu\n", execution);
    (void)fflush(other.to);
    /* Woken by the Rust process, or it was quicker. */
    (void)CHECK_EQ(crew_fleet_wait(fleet, rust, version, WAIT_MS, &version), CREW_OK);
    (void)CHECK(strcmp(peer_says(&other), "completed\n") == 0);
    (void)CHECK_EQ(free_units(fleet, rust), 2);
    (void)kill(other.process, SIGKILL);
    (void)waitpid(other.process, NULL, 0);
    (void)CHECK_EQ(free_units(fleet, rust), -1);
    (void)fclose(other.to);
    (void)fclose(other.from);
    take_down();
}

int main(int count, char **arguments)
{
    (void)alarm(300u);
    peer_program = count > 1 ? arguments[1] : NULL;
    RUN(processes_share_capacity_exactly);
    RUN(what_a_killed_process_held_comes_back);
    RUN(a_death_is_noticed_by_whoever_looks);
    RUN(a_process_in_rust_shares_the_table);
    return check_sum();
}
