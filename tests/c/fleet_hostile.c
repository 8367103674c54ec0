/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every function of fleet leases with arguments that no caller should pass: NULL, sizes, handles of
 * other kinds, forged and random ones, ports that lack a function, memory that another writer
 * scribbles over. Each answer is a status, and out-parameters are as they were.
 */
#include "check_fork.h"
#include "dice.h"
#include "fleet.h"

#define POISON UINT64_C(0x5A5A5A5A5A5A5A5A)
#define RANDOM_HANDLES 2000
#define SCRIBBLES 400

static uint32_t words[SMALL_WORDS];
static desk target;
static crew_fleet_geometry geometry;
static crew_fleet fleet;
static crew_key key;

static crew_fleet_options good_options(void)
{
    crew_fleet_options options = CREW_FLEET_OPTIONS_INIT;

    options.geometry = &geometry;
    options.memory = words;
    options.bytes = sizeof(words);
    options.port = &target.port;
    options.name = "hostile";
    return options;
}

static int set_up(void)
{
    crew_fleet_options options;

    (void)memset(words, 0, sizeof(words));
    desk_init(&target);
    geometry = small_geometry();
    key = text_key("key");
    options = good_options();
    return CHECK_EQ(crew_fleet_join(&options, &fleet), CREW_OK);
}

static uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

    return dice_roll(&state);
}

static void nulls_are_told(void)
{
    crew_fleet_options options;
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_view view = CREW_FLEET_VIEW_INIT;
    crew_fleet_choice choice = CREW_FLEET_CHOICE_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    crew_resource resource = { 1u };
    crew_fleet none = { POISON };
    crew_execution execution = { POISON };
    crew_fleet_lease lease = { { POISON }, POISON, { 0u, 0u } };
    char text[CREW_RESOURCE_TEXT_BYTES];
    uint32_t number = 0x5A5A5A5Au;
    size_t bytes;

    REQUIRE(set_up());
    options = good_options();
    (void)CHECK_EQ(crew_fleet_bytes(NULL, &bytes), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_bytes(&geometry, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_geometry_of(NULL, sizeof(words), &geometry), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_geometry_of(words, sizeof(words), NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_join(NULL, &none), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_join(&options, NULL), CREW_NULL_ARGUMENT);
    options.geometry = NULL;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_NULL_ARGUMENT);
    options = good_options();
    options.memory = NULL;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_life(fleet, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_register(fleet, key, 1u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_candidates(fleet, key, NULL, 1u, &number), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_candidates(fleet, key, NULL, 0u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_reserve(fleet, resource, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_is_current(fleet, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_accept(fleet, NULL, &execution), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_accept(fleet, &lease, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_active(fleet, resource, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_reconcile(fleet, resource, 0u, 0u, 0u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_claim(fleet, key, 1u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_budget(fleet, key, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_version(fleet, key, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_wait(fleet, key, 0u, WAIT_MS, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_watch(fleet, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_wait_any(fleet, 0u, WAIT_MS, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_look(fleet, key, NULL, 0u, &view), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_look(fleet, key, &limits, 0u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_carry_out(NULL, &choice, &plan), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_carry_out(&view, NULL, &plan), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_carry_out(&view, &choice, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_local_first(NULL, NULL, &choice), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_local_only(NULL, &view, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_acquire(fleet, key, NULL, NULL, NULL, &plan), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_acquire(fleet, key, &limits, NULL, NULL, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_owners(fleet, NULL, 1u, &number), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_owners(fleet, NULL, 0u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_sweep(fleet, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_fleet_report(fleet, 0u, NULL, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_resource_print(resource, NULL, sizeof(text)), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_resource_parse(NULL, &resource), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_resource_parse("1.0.0.1", NULL), CREW_NULL_ARGUMENT);
    (void)CHECK(none.bits == POISON && execution.bits == POISON && number == 0x5A5A5A5Au);
    (void)CHECK_EQ(crew_fleet_leave(fleet), CREW_OK);
}

static void sizes_and_options_are_checked(void)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_view view = CREW_FLEET_VIEW_INIT;
    crew_fleet_choice choice = CREW_FLEET_CHOICE_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    crew_fleet_port port;
    crew_fleet_options options;
    crew_fleet none = { POISON };
    size_t bytes;

    REQUIRE(set_up());
    geometry.size++;
    (void)CHECK_EQ(crew_fleet_bytes(&geometry, &bytes), CREW_BAD_SIZE);
    options = good_options();
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_SIZE);
    geometry.size--;
    options.size++;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_SIZE);
    options = good_options();
    options.name = "sixteen letters!";
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_TEXT);
    options.name = "tab\there";
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_TEXT);
    options = good_options();
    options.node = 4u;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_VALUE);
    options = good_options();
    options.memory = (uint32_t *)(void *)((char *)words + 1);
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_VALUE);
    (void)CHECK_EQ(crew_fleet_geometry_of(options.memory, sizeof(words), &geometry),
                   CREW_BAD_VALUE);
    options = good_options();
    options.bytes = (size_t)-1;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_VALUE);
    options = good_options();
    options.bytes = 0u;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_FLEET_TOO_SMALL);

#define LACKS(function) \
    do { \
        port = target.port; \
        port.function = NULL; \
        options = good_options(); \
        options.port = &port; \
        (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_PORT); \
    } while (0)

    LACKS(hold);
    LACKS(let_go);
    LACKS(look);
    LACKS(clock_ms);
    LACKS(wait);
    LACKS(wake);
    port = target.port;
    port.size++;
    (void)CHECK_EQ(crew_fleet_join(&options, &none), CREW_BAD_SIZE);

    limits.size--;
    (void)CHECK_EQ(crew_fleet_look(fleet, key, &limits, 0u, &view), CREW_BAD_SIZE);
    (void)CHECK_EQ(crew_fleet_acquire(fleet, key, &limits, NULL, NULL, &plan), CREW_BAD_SIZE);
    limits.size++;
    view.size++;
    (void)CHECK_EQ(crew_fleet_look(fleet, key, &limits, 0u, &view), CREW_BAD_SIZE);
    (void)CHECK_EQ(crew_fleet_carry_out(&view, &choice, &plan), CREW_BAD_SIZE);
    (void)CHECK_EQ(crew_fleet_local_first(NULL, &view, &choice), CREW_BAD_SIZE);
    view.size--;
    choice.size = 0u;
    (void)CHECK_EQ(crew_fleet_carry_out(&view, &choice, &plan), CREW_BAD_SIZE);
    (void)CHECK_EQ(crew_fleet_local_only(NULL, &view, &choice), CREW_BAD_SIZE);
    choice.size = (uint32_t)sizeof(choice);
    plan.size++;
    (void)CHECK_EQ(crew_fleet_carry_out(&view, &choice, &plan), CREW_BAD_SIZE);
    (void)CHECK_EQ(none.bits, POISON);
    (void)CHECK_EQ(crew_fleet_leave(fleet), CREW_OK);
}

static int no_such(int32_t status)
{
    return status == CREW_BAD_HANDLE || status == CREW_STALE;
}

/* Every function that takes a membership, with a handle of none. */
static void use_of(crew_fleet forged)
{
    crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
    crew_fleet_view view = CREW_FLEET_VIEW_INIT;
    crew_fleet_choice choice = CREW_FLEET_CHOICE_INIT;
    crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
    crew_fleet_lease lease = { { POISON }, POISON, { 0u, 0u } };
    crew_key_budget budget;
    crew_reconciled reconciled;
    crew_execution execution = { POISON };
    crew_resource resource = { POISON };
    crew_permit permit = { POISON };
    crew_swept swept;
    crew_life life = { 0u, 0u };
    static lines none;
    uint32_t number = 0x5A5A5A5Au;

    view.fleet = forged;
    (void)CHECK(no_such(crew_fleet_leave(forged)));
    (void)CHECK(no_such(crew_fleet_life(forged, &life)));
    (void)CHECK(no_such(crew_fleet_register(forged, key, 1u, &resource)));
    (void)CHECK(no_such(crew_fleet_unregister(forged, resource)));
    (void)CHECK(no_such(crew_fleet_drain(forged, resource)));
    (void)CHECK(no_such(crew_fleet_candidates(forged, key, NULL, 0u, &number)));
    (void)CHECK(no_such(crew_fleet_reserve(forged, resource, &lease)));
    (void)CHECK(no_such(crew_fleet_is_current(forged, &lease)));
    (void)CHECK(no_such(crew_fleet_accept(forged, &lease, &execution)));
    (void)CHECK(no_such(crew_fleet_complete(forged, execution)));
    (void)CHECK(no_such(crew_fleet_active(forged, resource, &number)));
    (void)CHECK(no_such(crew_fleet_reconcile(forged, resource, 0u, 0u, 0u, &reconciled)));
    (void)CHECK(no_such(crew_fleet_claim(forged, key, 1u, &permit)));
    (void)CHECK(no_such(crew_fleet_finish(forged, permit)));
    (void)CHECK(no_such(crew_fleet_budget(forged, key, &budget)));
    (void)CHECK(no_such(crew_fleet_version(forged, key, &number)));
    (void)CHECK(no_such(crew_fleet_wait(forged, key, 0u, WAIT_MS, &number)));
    (void)CHECK(no_such(crew_fleet_watch(forged, &number)));
    (void)CHECK(no_such(crew_fleet_wait_any(forged, 0u, WAIT_MS, &number)));
    (void)CHECK(no_such(crew_fleet_look(forged, key, &limits, 0u, &view)));
    (void)CHECK(no_such(crew_fleet_carry_out(&view, &choice, &plan)));
    (void)CHECK(no_such(crew_fleet_local_first(NULL, &view, &choice)));
    (void)CHECK(no_such(crew_fleet_local_only(NULL, &view, &choice)));
    (void)CHECK(no_such(crew_fleet_acquire(forged, key, &limits, NULL, NULL, &plan)));
    (void)CHECK(no_such(crew_fleet_owners(forged, NULL, 0u, &number)));
    (void)CHECK(no_such(crew_fleet_node_dead(forged, life)));
    (void)CHECK(no_such(crew_fleet_sweep(forged, &swept)));
    (void)CHECK(no_such(crew_fleet_reset(forged)));
    (void)CHECK(no_such(crew_fleet_report(forged, 0u, line_add, &none)));
    (void)CHECK(number == 0x5A5A5A5Au && resource.bits == POISON && permit.bits == POISON &&
                plan.kind == 0u);
    (void)CHECK_EQ(none.count, 0);
}

static void memberships_are_not_forged(void)
{
    crew_fleet forged;
    uint64_t i;

    REQUIRE(set_up());
    for (i = 0u; i < 64u; i++) {
        forged.bits = fleet.bits ^ (UINT64_C(1) << i);
        use_of(forged);
    }
    for (i = 0u; i < RANDOM_HANDLES / 20; i++) {
        forged.bits = random_bits();
        if (forged.bits != fleet.bits) {
            use_of(forged);
        }
    }
    forged.bits = 0u;
    use_of(forged);
    forged = fleet;
    (void)CHECK_EQ(crew_fleet_leave(fleet), CREW_OK);
    use_of(forged);
}

static void handles_into_the_table_are_not_forged(void)
{
    crew_fleet_lease lease;
    crew_fleet_lease forged;
    crew_execution execution = { 0u };
    crew_execution wrong;
    crew_resource resource = { 0u };
    crew_permit permit = { 0u };
    crew_permit bad;
    crew_life life;
    uint32_t active = 0u;
    int i;

    REQUIRE(set_up());
    (void)CHECK_EQ(crew_fleet_register(fleet, key, 3u, &resource), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reserve(fleet, resource, &lease), CREW_OK);
    (void)CHECK_EQ(crew_fleet_accept(fleet, &lease, &execution), CREW_OK);
    (void)CHECK_EQ(crew_fleet_reserve(fleet, resource, &lease), CREW_OK);
    (void)CHECK_EQ(crew_fleet_claim(fleet, key, 9u, &permit), CREW_OK);
    /* One kind of handle where another is wanted. */
    wrong.bits = resource.bits;
    (void)CHECK_EQ(crew_fleet_complete(fleet, wrong), CREW_BAD_HANDLE);
    bad.bits = execution.bits;
    (void)CHECK_EQ(crew_fleet_finish(fleet, bad), CREW_BAD_HANDLE);
    resource.bits = permit.bits;
    (void)CHECK_EQ(crew_fleet_unregister(fleet, resource), CREW_BAD_HANDLE);
    for (i = 0; i < RANDOM_HANDLES; i++) {
        resource.bits = random_bits();
        (void)CHECK(no_such(crew_fleet_reserve(fleet, resource, &forged)));
        (void)CHECK(no_such(crew_fleet_active(fleet, resource, &active)));
        wrong.bits = random_bits();
        (void)CHECK(no_such(crew_fleet_complete(fleet, wrong)) ||
                    crew_fleet_complete(fleet, wrong) == CREW_FLEET_NOT_OWNER);
        bad.bits = random_bits();
        (void)CHECK(no_such(crew_fleet_finish(fleet, bad)));
        forged = lease;
        forged.fence = random_bits();
        (void)CHECK(forged.fence == lease.fence ||
                    crew_fleet_accept(fleet, &forged, &wrong) == CREW_FLEET_NOT_RESERVED);
        life.node = (uint32_t)random_bits();
        life.incarnation = (uint32_t)random_bits() | 0x80000000u;
        (void)CHECK(crew_fleet_node_dead(fleet, life) ==
                    (life.node < 4u ? CREW_OK : CREW_BAD_HANDLE));
    }
    forged = lease;
    forged.holder.node = 65536u;
    (void)CHECK_EQ(crew_fleet_is_current(fleet, &forged), CREW_BAD_HANDLE);
    /* All that was real still is. */
    (void)CHECK_EQ(crew_fleet_is_current(fleet, &lease), CREW_OK);
    (void)CHECK_EQ(crew_fleet_complete(fleet, execution), CREW_OK);
    (void)CHECK_EQ(crew_fleet_finish(fleet, permit), CREW_OK);
    (void)CHECK_EQ(crew_fleet_leave(fleet), CREW_OK);
}

/* Another writer scribbles over the memory: errors, but every call comes back. */
static void scribbled_memory_gives_errors_only(void)
{
    static lines seen;
    int i;

    REQUIRE(set_up());
    for (i = 0; i < SCRIBBLES; i++) {
        crew_fleet_limits limits = CREW_FLEET_LIMITS_INIT;
        crew_fleet_plan plan = CREW_FLEET_PLAN_INIT;
        crew_resource resource = { 0u };
        crew_fleet_lease lease;
        crew_execution execution;
        crew_swept swept;
        crew_life owners[4];
        uint32_t count;
        int j;

        for (j = 0; j < 1 + i % 64; j++) {
            words[random_bits() % SMALL_WORDS] = (uint32_t)random_bits();
        }
        (void)crew_fleet_register(fleet, key, 1u, &resource);
        if (crew_fleet_reserve(fleet, resource, &lease) == CREW_OK &&
            crew_fleet_accept(fleet, &lease, &execution) == CREW_OK) {
            (void)crew_fleet_complete(fleet, execution);
        }
        limits.max_live = 100u;
        (void)crew_fleet_acquire(fleet, key, &limits, NULL, NULL, &plan);
        (void)crew_fleet_owners(fleet, owners, 4u, &count);
        (void)crew_fleet_wait(fleet, key, (uint32_t)i, 0u, &count);
        (void)crew_fleet_sweep(fleet, &swept);
        (void)crew_fleet_reset(fleet);
        (void)memset(&seen, 0, sizeof(seen));
        (void)CHECK_EQ(crew_fleet_report(fleet, 2u, line_add, &seen), CREW_OK);
        (void)CHECK(seen.count > 0u);
    }
    (void)CHECK_EQ(crew_fleet_leave(fleet), CREW_OK);
}

int main(void)
{
    (void)alarm(300u);
    RUN(nulls_are_told);
    RUN(sizes_and_options_are_checked);
    RUN(memberships_are_not_forged);
    RUN(handles_into_the_table_are_not_forged);
    RUN(scribbled_memory_gives_errors_only);
    return check_sum();
}
