/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A lease as text: the printed text is read back as the same lease, and a text that is none is
 * refused. Likewise a key.
 */
#include <inttypes.h>

#include <crewFleet.h>

#include "check.h"
#include "dice.h"

#define ROUNDS 100000u

static uint64_t dice;

static uint64_t roll(void)
{
    return dice_roll(&dice);
}

/* A resource's bits below 2^62: kind, node, slot and generation, each within its own width. */
static crew_fleet_lease rolled(void)
{
    crew_fleet_lease lease;

    lease.resource.bits = roll() >> 2;
    lease.fence = roll() >> (roll() % 64u);
    lease.holder.node = (uint32_t)(roll() % 1024u);
    lease.holder.incarnation = (uint32_t)(roll() >> (32u + roll() % 32u));
    return lease;
}

static int same(const crew_fleet_lease *a, const crew_fleet_lease *b)
{
    return a->resource.bits == b->resource.bits && a->fence == b->fence &&
           a->holder.node == b->holder.node && a->holder.incarnation == b->holder.incarnation;
}

static void a_printed_lease_is_read_again(void)
{
    char text[CREW_LEASE_TEXT_BYTES];
    crew_fleet_lease lease;
    crew_fleet_lease read;
    uint32_t i;

    dice = 88172645463325252u;
    for (i = 0; i < ROUNDS; i++) {
        lease = rolled();
        REQUIRE_EQ(crewLeasePrint(&lease, text, sizeof text), CREW_OK);
        REQUIRE_EQ(crewLeaseParse(text, &read), CREW_OK);
        REQUIRE(same(&lease, &read));
    }
}

static void the_longest_lease_fits(void)
{
    const crew_fleet_lease longest = {{UINT64_MAX >> 2}, UINT64_MAX, {UINT32_MAX, UINT32_MAX}};
    char text[CREW_LEASE_TEXT_BYTES + 1u];
    crew_fleet_lease read;
    size_t bytes;

    REQUIRE_EQ(crewLeasePrint(&longest, text, CREW_LEASE_TEXT_BYTES), CREW_OK);
    REQUIRE_EQ(crewLeaseParse(text, &read), CREW_OK);
    CHECK(same(&longest, &read));
    for (bytes = 0; bytes <= strlen(text); bytes++) {
        CHECK_EQ(crewLeasePrint(&longest, text, bytes), CREW_BAD_VALUE);
    }
}

static void it_reads_as_the_header_says(void)
{
    char text[CREW_LEASE_TEXT_BYTES];
    crew_fleet_lease lease;

    REQUIRE_EQ(crewLeaseParse("1.0.0.3:17:2.5", &lease), CREW_OK);
    CHECK_EQ(lease.fence, 17);
    CHECK_EQ(lease.holder.node, 2);
    CHECK_EQ(lease.holder.incarnation, 5);
    REQUIRE_EQ(crewLeasePrint(&lease, text, sizeof text), CREW_OK);
    CHECK(strcmp(text, "1.0.0.3:17:2.5") == 0);
}

static void what_is_no_lease_is_told(void)
{
    static const char *const wrong[] = {
        "", ":", "::", "1.0.0.3", "1.0.0.3:", "1.0.0.3:17", "1.0.0.3:17:", "1.0.0.3:17:2",
        "1.0.0.3:17:2.", "1.0.0:17:2.5", "1.0.0.3.4:17:2.5", "1.0.0.3:17:2.5.6", "1.0.0.3:17:2.5 ",
        " 1.0.0.3:17:2.5", "1.0.0.3: 17:2.5", "1.0.0.3:+17:2.5", "1.0.0.3:-1:2.5",
        "1.0.0.3:0x11:2.5", "1.0.0.3:17:2,5", "64.0.0.3:17:2.5", "1.0.0.3:18446744073709551616:2.5",
        "1.0.0.3:17:4294967296.5", "1.0.0.3:17:2.4294967296",
        "1.0.0.00000000000000000000000000000000003:17:2.5", "scan:17:2.5",
    };
    crew_fleet_lease lease = {{7}, 7, {7, 7}};
    const crew_fleet_lease before = lease;
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (!CHECK_EQ(crewLeaseParse(wrong[i], &lease), CREW_BAD_TEXT)) {
            (void)printf("  \"%s\"\n", wrong[i]);
        }
    }
    CHECK(same(&lease, &before));
}

static void a_key_is_its_bytes(void)
{
    crew_key key = {0, 0};

    REQUIRE_EQ(crewFleetKey("scan", &key), CREW_OK);
    CHECK_EQ(key.low, 0x6e616373);
    CHECK_EQ(key.high, 0);
    REQUIRE_EQ(crewFleetKey("0123456789abcdef", &key), CREW_OK);
    CHECK_EQ(key.low, 0x3736353433323130);
    CHECK_EQ(key.high, 0x6665646362613938);
    CHECK_EQ(crewFleetKey("0123456789abcdefg", &key), CREW_BAD_TEXT);
    CHECK_EQ(crewFleetKey("", &key), CREW_BAD_TEXT);
    CHECK_EQ(crewFleetKey("sc\tan", &key), CREW_BAD_TEXT);
    CHECK_EQ(crewFleetKey("sc\xc3\xa4n", &key), CREW_BAD_TEXT);
}

int main(void)
{
    RUN(a_printed_lease_is_read_again);
    RUN(the_longest_lease_fits);
    RUN(it_reads_as_the_header_says);
    RUN(what_is_no_lease_is_told);
    RUN(a_key_is_its_bytes);
    return check_sum();
}
