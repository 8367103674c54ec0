/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every function of crew.h with arguments that no caller should pass. Each answer is one specific
 * status, nothing is counted or held differently afterwards, and out-parameters are as they were.
 */
#include "check.h"
#include "check_fork.h"
#include "dice.h"
#include "wrap.h"

#include <sys/mman.h>

#define STACK_BYTES 65536u
#define LONG_MS 100000u
#define POISON UINT64_C(0x5A5A5A5A5A5A5A5A)
#define RANDOM_HANDLES 2000

static crew_pool pool;
static crew_lease lease;

/* ---- fixtures ---- */

static int32_t job_seven(void *argument)
{
    (void)argument;
    return 7;
}

/* A job that stays until it is told to end. */
typedef struct hold {
    crew_event begun;
    crew_event end;
} hold;

static hold held;

static int32_t job_hold(void *argument)
{
    hold *at = (hold *)argument;

    wrap.inner->event_post(NULL, &at->begun);
    return wrap.inner->event_wait(NULL, &at->end, LONG_MS);
}

static const crew_role one_role[1] = { { "only", STACK_BYTES, 10u } };

static crew_pool_options good_options(const char *name)
{
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;

    options.name = name;
    options.roles = one_role;
    options.role_count = 1u;
    options.capacity = 2u;
    return options;
}

/* The figures that a refused call must not change. */
typedef struct snapshot {
    crew_account account;
    crew_usage usage;
    int threads;
} snapshot;

static snapshot take(void)
{
    snapshot now;
    crew_account account = CREW_ACCOUNT_INIT;
    crew_usage usage = CREW_USAGE_INIT;

    memset(&now, 0, sizeof(now));
    (void)CHECK_EQ(crew_account_usage(&account), CREW_OK);
    (void)CHECK_EQ(crew_pool_usage(pool, &usage), CREW_OK);
    now.account = account;
    now.usage = usage;
    now.threads = wrap_threads();
    return now;
}

#define UNCHANGED(before) \
    do { \
        snapshot now_ = take(); \
        (void)CHECK(memcmp(&now_.account, &(before).account, sizeof(now_.account)) == 0); \
        (void)CHECK(memcmp(&now_.usage, &(before).usage, sizeof(now_.usage)) == 0); \
        (void)CHECK_EQ(now_.threads, (before).threads); \
    } while (0)

/* `length` characters with no NUL, the last of them at the end of readable memory. */
static const char *endless(size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map =
        (char *)mmap(NULL, 2u * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == (char *)MAP_FAILED || mprotect(map + page, page, PROT_NONE) != 0) {
        return NULL;
    }
    memset(map, 'x', page);
    return map + page - length;
}

static uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

    return dice_roll(&state);
}

static int no_such(int32_t status)
{
    return status == CREW_BAD_HANDLE || status == CREW_STALE;
}

/* ---- before crew_boot ---- */

static void everything_needs_boot(void)
{
    crew_pool_options options = good_options("early");
    crew_usage usage = CREW_USAGE_INIT;
    crew_account account = CREW_ACCOUNT_INIT;
    crew_pool made = { POISON };
    crew_lease lent = { POISON };
    crew_job job = { POISON };
    crew_charge_handle charge = { POISON };
    size_t thread = 1u;

    (void)CHECK_EQ(crew_seal(), CREW_NOT_BOOTED);
    (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_NOT_BOOTED);
    (void)CHECK_EQ(crew_charge(1u, &charge), CREW_NOT_BOOTED);
    (void)CHECK_EQ(crew_account_usage(&account), CREW_NOT_BOOTED);
    /* Before boot no handle can be valid. */
    (void)CHECK(no_such(crew_pool_close(made, 0u)));
    (void)CHECK(no_such(crew_pool_trim(made, 0u)));
    (void)CHECK(no_such(crew_acquire(made, 0u, &lent, NULL)));
    (void)CHECK(no_such(crew_acquire_peer(made, 1u, 0u, &lent, NULL)));
    (void)CHECK(no_such(crew_release(lent)));
    (void)CHECK(no_such(crew_lease_thread(lent, 0u, &thread)));
    (void)CHECK(no_such(crew_run(lent, 0u, "early", job_seven, NULL, &job)));
    (void)CHECK(no_such(crew_join(job, 0u, NULL)));
    (void)CHECK(no_such(crew_detach(job)));
    (void)CHECK(no_such(crew_uncharge(charge)));
    (void)CHECK(no_such(crew_pool_usage(made, &usage)));
    (void)CHECK(made.bits == POISON && lent.bits == POISON && job.bits == POISON &&
                charge.bits == POISON);
    (void)CHECK_EQ(thread, 1);
}

static void boot_wants_whole_options(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    const uint32_t size = options.size;
    const uint32_t sizes[4] = { 0u, size - 1u, size + 1u, UINT32_MAX };
    size_t i;

    options.port = crew_port_posix();
    (void)CHECK_EQ(crew_boot(NULL), CREW_NULL_ARGUMENT);
    for (i = 0; i < 4u; i++) {
        options.size = sizes[i];
        (void)CHECK_EQ(crew_boot(&options), CREW_BAD_SIZE);
    }
    (void)CHECK_EQ(crew_seal(), CREW_NOT_BOOTED);
}

static int32_t boot_with(const crew_port *port)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;

    options.port = port;
    return crew_boot(&options);
}

static void boot_wants_a_whole_port(void)
{
    crew_port port = *crew_port_posix();
    const crew_port good = port;

    port.size = 0u;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_SIZE);
    port.size = good.size - 1u;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_SIZE);
    port.size = good.size + 1u;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_SIZE);
    port = good;
    port.target = 77u;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.thread_create = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.thread_reap = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.event_create = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.event_wait = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.event_post = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.clock_ms = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.memory_has = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    port = good;
    port.log = NULL;
    (void)CHECK_EQ(boot_with(&port), CREW_BAD_PORT);
    (void)CHECK_EQ(crew_seal(), CREW_NOT_BOOTED);
}

static void budget_text_is_a_whole_number(void)
{
    static const char *const wrong[] = { "", " ", "0", "00", "lots", "12x", "x12", "-3", "+", "1.5",
                                         "1 2", "0x10", "99999999999999999999", "4294967296",
                                         "\t\n", "12\x01" };
    uint32_t mib = 4711u;
    size_t i;

    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        (void)CHECK_EQ(crew_budget_parse(wrong[i], &mib), CREW_BAD_BUDGET);
    }
    (void)CHECK_EQ(crew_budget_parse(endless(CREW_TEXT_BYTES), &mib), CREW_BAD_TEXT);
    (void)CHECK_EQ(crew_budget_parse(NULL, &mib), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_budget_parse("12", NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(mib, 4711);
    (void)CHECK_EQ(crew_budget_parse(" 12 ", &mib), CREW_OK);
    (void)CHECK_EQ(mib, 12);
    (void)CHECK_EQ(crew_budget_parse("160", &mib), CREW_OK);
    (void)CHECK_EQ(mib, 160);
}

static void every_status_has_a_text(void)
{
    int32_t status;

    for (status = -3; status < 100; status++) {
        const char *text = crew_status_text(status);

        (void)CHECK(text != NULL && text[0] != '\0');
    }
    (void)CHECK(crew_status_text(INT32_MIN) != NULL && crew_status_text(INT32_MAX) != NULL);
    (void)CHECK_EQ(crew_status_errno(CREW_OK), 0);
    for (status = 1; status < 100; status++) {
        (void)CHECK(crew_status_errno(status) > 0);
    }
    (void)CHECK_EQ(crew_status_errno(CREW_REFUSED_AT_CAPACITY), EAGAIN);
    (void)CHECK_EQ(crew_status_errno(CREW_REFUSED_OUT_OF_RESERVATION), EAGAIN);
    (void)CHECK_EQ(crew_status_errno(CREW_REFUSED_SHUTTING_DOWN), EPIPE);
}

/* ---- boot texts, each in a process of its own ---- */

static void boot_with_text(const char *text, uint64_t budget, int notices)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    crew_account account = CREW_ACCOUNT_INIT;

    options.port = wrap_port();
    options.budget_text = text;
    (void)CHECK_EQ(crew_boot(&options), CREW_OK);
    (void)CHECK_EQ(crew_account_usage(&account), CREW_OK);
    (void)CHECK_EQ(account.budget_bytes, budget);
    (void)CHECK_EQ(wrap.lines > 0, notices > 0);
}

static void boot_ignores_a_budget_of_zero(void)
{
    boot_with_text("0", UINT64_MAX, 1);
}

static void boot_ignores_a_budget_that_is_no_number(void)
{
    boot_with_text("lots", UINT64_MAX, 1);
}

static void boot_ignores_an_empty_budget(void)
{
    boot_with_text("", UINT64_MAX, 1);
}

static void boot_ignores_a_budget_without_end(void)
{
    boot_with_text(endless(CREW_TEXT_BYTES), UINT64_MAX, 1);
}

static void boot_takes_a_budget_with_blanks(void)
{
    /* A host cannot confirm it, and says so because an operator chose it. */
    boot_with_text(" 12 ", 12u * UINT64_C(1048576), 1);
}

static void boot_without_a_budget_is_silent(void)
{
    boot_with_text(NULL, UINT64_MAX, 0);
}

/* ---- after crew_boot ---- */

static void boots_and_lends(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    crew_pool_options pool_options = good_options("good");

    options.port = wrap_port();
    (void)CHECK_EQ(wrap.inner->event_create(NULL, &held.begun), 0);
    (void)CHECK_EQ(wrap.inner->event_create(NULL, &held.end), 0);
    REQUIRE_EQ(crew_boot(&options), CREW_OK);
    (void)CHECK_EQ(crew_boot(&options), CREW_ALREADY_BOOTED);
    pool_options.prestart = 1u;
    REQUIRE_EQ(crew_pool_open(&pool_options, &pool), CREW_OK);
    REQUIRE_EQ(crew_acquire(pool, 0u, &lease, NULL), CREW_OK);
}

static void null_arguments(void)
{
    snapshot before = take();
    crew_pool_options options = good_options("null");
    crew_pool made = { POISON };
    crew_job job = { POISON };

    (void)CHECK_EQ(crew_pool_open(NULL, &made), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_pool_open(&options, NULL), CREW_NULL_ARGUMENT);
    options.name = NULL;
    (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_NULL_ARGUMENT);
    options.name = "null";
    options.roles = NULL;
    (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_acquire(pool, 0u, NULL, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_acquire_peer(pool, 1u, 0u, NULL, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_lease_thread(lease, 0u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_run(lease, 0u, NULL, job_seven, NULL, &job), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_run(lease, 0u, "null", NULL, NULL, &job), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_charge(1u, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_pool_usage(pool, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_account_usage(NULL), CREW_NULL_ARGUMENT);
    (void)CHECK_EQ(crew_report(0u, NULL, NULL), CREW_NULL_ARGUMENT);
    (void)CHECK(crew_refusal_errno(NULL) > 0);
    (void)CHECK(made.bits == POISON && job.bits == POISON);
    UNCHANGED(before);
}

/* None, one byte less, one byte more, all that a number can say. */
static uint32_t wrong_size(int step, uint32_t right)
{
    const uint32_t sizes[4] = { 0u, right - 1u, right + 1u, UINT32_MAX };

    return sizes[step];
}

static void sizes_that_are_not_this_headers(void)
{
    snapshot before = take();
    int step;

    for (step = 0; step < 4; step++) {
        crew_pool_options options = good_options("sizes");
        crew_refusal refusal = CREW_REFUSAL_INIT;
        crew_usage usage = CREW_USAGE_INIT;
        crew_account account = CREW_ACCOUNT_INIT;
        crew_result result = CREW_RESULT_INIT;
        crew_pool made = { POISON };
        crew_lease lent = { POISON };
        crew_job job;

        options.size = wrong_size(step, options.size);
        refusal.size = wrong_size(step, refusal.size);
        usage.size = wrong_size(step, usage.size);
        account.size = wrong_size(step, account.size);
        result.size = wrong_size(step, result.size);
        account.held_bytes = POISON;
        result.outcome = 123;
        (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_BAD_SIZE);
        (void)CHECK_EQ(crew_acquire(pool, 0u, &lent, &refusal), CREW_BAD_SIZE);
        (void)CHECK_EQ(crew_acquire_peer(pool, 1u, 0u, &lent, &refusal), CREW_BAD_SIZE);
        (void)CHECK_EQ(crew_pool_usage(pool, &usage), CREW_BAD_SIZE);
        (void)CHECK_EQ(crew_account_usage(&account), CREW_BAD_SIZE);
        (void)CHECK(crew_refusal_errno(&refusal) > 0);
        (void)CHECK(made.bits == POISON && lent.bits == POISON);
        (void)CHECK_EQ(account.held_bytes, POISON);
        (void)CHECK_EQ(usage.capacity, 0);
        /* The job is still there to be joined properly. */
        REQUIRE_EQ(crew_run(lease, 0u, "sizes", job_seven, NULL, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, &result), CREW_BAD_SIZE);
        (void)CHECK_EQ(result.outcome, 123);
        (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    }
    UNCHANGED(before);
}

static void handles_that_are_zero(void)
{
    snapshot before = take();
    crew_pool no_pool = { 0u };
    crew_lease no_lease = { 0u };
    crew_job no_job = { 0u };
    crew_charge_handle no_charge = { 0u };
    crew_lease lent = { POISON };
    crew_job job = { POISON };
    crew_usage usage = CREW_USAGE_INIT;
    size_t thread = 1u;

    (void)CHECK_EQ(crew_pool_close(no_pool, 0u), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_pool_trim(no_pool, 0u), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_pool_usage(no_pool, &usage), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_acquire(no_pool, 0u, &lent, NULL), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_acquire_peer(no_pool, 1u, 0u, &lent, NULL), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_release(no_lease), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_lease_thread(no_lease, 0u, &thread), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_run(no_lease, 0u, "zero", job_seven, NULL, &job), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_run(no_lease, 0u, "zero", job_seven, NULL, NULL), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_join(no_job, 0u, NULL), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_detach(no_job), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_uncharge(no_charge), CREW_BAD_HANDLE);
    (void)CHECK(lent.bits == POISON && job.bits == POISON && thread == 1u);
    UNCHANGED(before);
}

static void handles_of_another_kind(void)
{
    snapshot before = take();
    crew_pool as_pool;
    crew_lease as_lease;
    crew_job as_job;
    crew_charge_handle as_charge;
    crew_usage usage = CREW_USAGE_INIT;
    size_t thread = 1u;

    as_pool.bits = lease.bits;
    (void)CHECK_EQ(crew_pool_close(as_pool, 0u), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_pool_trim(as_pool, 0u), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_pool_usage(as_pool, &usage), CREW_BAD_HANDLE);
    as_lease.bits = pool.bits;
    (void)CHECK_EQ(crew_release(as_lease), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_lease_thread(as_lease, 0u, &thread), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_run(as_lease, 0u, "kind", job_seven, NULL, NULL), CREW_BAD_HANDLE);
    as_job.bits = lease.bits;
    (void)CHECK_EQ(crew_join(as_job, 0u, NULL), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_detach(as_job), CREW_BAD_HANDLE);
    as_charge.bits = pool.bits;
    (void)CHECK_EQ(crew_uncharge(as_charge), CREW_BAD_HANDLE);
    UNCHANGED(before);
}

static void handles_of_random_bits(void)
{
    snapshot before = take();
    int i;

    for (i = 0; i < RANDOM_HANDLES; i++) {
        /* Wholly random, and one bit or one byte beside the real thing. */
        uint64_t near = i % 3 == 1 ? (UINT64_C(1) << (i / 3 % 64))
                                   : random_bits() & (UINT64_C(0xFF) << (i % 8 * 8));
        int wild = i % 3 == 0;
        crew_pool as_pool;
        crew_lease as_lease;
        crew_job as_job;
        crew_charge_handle as_charge;
        crew_lease lent = { POISON };
        crew_usage usage = CREW_USAGE_INIT;
        size_t thread = 1u;

        as_pool.bits = wild || near == 0u ? random_bits() : pool.bits ^ near;
        as_lease.bits = wild || near == 0u ? random_bits() : lease.bits ^ near;
        as_job.bits = random_bits();
        as_charge.bits = random_bits();
        (void)CHECK(no_such(crew_pool_close(as_pool, 0u)));
        (void)CHECK(no_such(crew_pool_trim(as_pool, 0u)));
        (void)CHECK(no_such(crew_pool_usage(as_pool, &usage)));
        (void)CHECK(no_such(crew_acquire(as_pool, 0u, &lent, NULL)));
        (void)CHECK(no_such(crew_acquire_peer(as_pool, 1u, 0u, &lent, NULL)));
        (void)CHECK(no_such(crew_release(as_lease)));
        (void)CHECK(no_such(crew_lease_thread(as_lease, 0u, &thread)));
        (void)CHECK(no_such(crew_run(as_lease, 0u, "random", job_seven, NULL, NULL)));
        (void)CHECK(no_such(crew_join(as_job, 0u, NULL)));
        (void)CHECK(no_such(crew_detach(as_job)));
        (void)CHECK(no_such(crew_uncharge(as_charge)));
        (void)CHECK(lent.bits == POISON && thread == 1u);
    }
    UNCHANGED(before);
}

/*
 * Handles that never were, of slots that are there: one generation, or one bit, away from one that
 * was.
 */
static void handles_that_never_were(void)
{
    snapshot before;
    crew_lease idle;
    crew_lease no_lease;
    crew_charge_handle charge;
    crew_charge_handle no_charge;
    crew_pool no_pool;
    crew_job job;
    size_t thread = 1u;
    int again;

    REQUIRE_EQ(crew_acquire(pool, 0u, &idle, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(idle), CREW_OK);
    REQUIRE_EQ(crew_charge(1u, &charge), CREW_OK);
    before = take();
    /* The generation that the idle set has now: no lease ever has it. */
    no_lease.bits = idle.bits + 1u;
    (void)CHECK_EQ(crew_release(no_lease), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_lease_thread(no_lease, 0u, &thread), CREW_BAD_HANDLE);
    (void)CHECK_EQ(crew_run(no_lease, 0u, "never", job_seven, NULL, &job), CREW_BAD_HANDLE);
    no_charge.bits = charge.bits | UINT64_C(0x80000000);
    (void)CHECK_EQ(crew_uncharge(no_charge), CREW_STALE);
    no_charge.bits = charge.bits | UINT64_C(0x40000000);
    (void)CHECK_EQ(crew_uncharge(no_charge), CREW_STALE);
    /* Bits of a generation that the pool's word has no room for, while a set is idle. */
    no_pool.bits = pool.bits | UINT64_C(0x80000000);
    (void)CHECK_EQ(crew_acquire(no_pool, 0u, &idle, NULL), CREW_STALE);
    UNCHANGED(before);
    /* The next borrowers find the set as it should be. */
    for (again = 0; again < 2; again++) {
        REQUIRE_EQ(crew_acquire(pool, 0u, &idle, NULL), CREW_OK);
        (void)CHECK_EQ(crew_run(idle, 0u, "again", job_seven, NULL, &job), CREW_OK);
        (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
        (void)CHECK_EQ(crew_release(idle), CREW_OK);
    }
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    (void)CHECK_EQ(crew_pool_trim(pool, 0u), CREW_OK);
}

/*
 * Runs one more job on the worker of the lease: when this returns, the worker has ended its former
 * job.
 */
static void wait_until_free(void)
{
    crew_job job;
    int32_t status = CREW_BUSY;
    int tries;

    for (tries = 0; tries < 20000 && status == CREW_BUSY; tries++) {
        status = crew_run(lease, 0u, "free", job_seven, NULL, &job);
        (void)usleep(500u);
    }
    REQUIRE_EQ(status, CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
}

static void handles_used_twice(void)
{
    crew_lease second;
    crew_job job;
    crew_charge_handle charge;
    snapshot before;
    size_t thread = 1u;

    REQUIRE_EQ(crew_acquire(pool, 0u, &second, NULL), CREW_OK);
    REQUIRE_EQ(crew_run(second, 0u, "twice", job_seven, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(second), CREW_OK);
    REQUIRE_EQ(crew_charge(4096u, &charge), CREW_OK);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_OK);
    before = take();
    (void)CHECK_EQ(crew_join(job, 0u, NULL), CREW_STALE);
    (void)CHECK_EQ(crew_detach(job), CREW_STALE);
    (void)CHECK_EQ(crew_release(second), CREW_STALE);
    (void)CHECK_EQ(crew_lease_thread(second, 0u, &thread), CREW_STALE);
    (void)CHECK_EQ(crew_run(second, 0u, "twice", job_seven, NULL, &job), CREW_STALE);
    (void)CHECK_EQ(crew_uncharge(charge), CREW_STALE);
    (void)CHECK_EQ(thread, 1);
    UNCHANGED(before);
    REQUIRE_EQ(crew_run(lease, 0u, "detach", job_hold, &held, &job), CREW_OK);
    (void)CHECK_EQ(wrap.inner->event_wait(NULL, &held.begun, LONG_MS), 1);
    (void)CHECK_EQ(crew_detach(job), CREW_OK);
    (void)CHECK_EQ(crew_detach(job), CREW_STALE);
    (void)CHECK_EQ(crew_join(job, 0u, NULL), CREW_STALE);
    wrap.inner->event_post(NULL, &held.end);
    wait_until_free();
}

static void roles_out_of_range(void)
{
    static const uint32_t wrong[3] = { 1u, CREW_MAX_ROLES, UINT32_MAX };
    snapshot before = take();
    crew_job job = { POISON };
    size_t thread = 1u;
    size_t i;

    for (i = 0; i < 3u; i++) {
        (void)CHECK_EQ(crew_run(lease, wrong[i], "role", job_seven, NULL, &job), CREW_BAD_ROLE);
        (void)CHECK_EQ(crew_lease_thread(lease, wrong[i], &thread), CREW_BAD_ROLE);
    }
    (void)CHECK(job.bits == POISON && thread == 1u);
    UNCHANGED(before);
}

/* Runs on a thread of its own: the first joiner, which waits. */
static void *first_joiner(void *argument)
{
    crew_job job = *(const crew_job *)argument;
    int32_t status = CREW_BUSY;
    int tries;

    for (tries = 0; tries < 20000 && status == CREW_BUSY; tries++) {
        status = crew_join(job, LONG_MS, NULL);
    }
    return (void *)(intptr_t)status;
}

static void role_and_job_that_are_busy(void)
{
    crew_job job;
    crew_job another = { POISON };
    crew_result result = CREW_RESULT_INIT;
    pthread_t joiner;
    void *joined = NULL;
    int32_t status = CREW_TIMED_OUT;
    int tries;

    REQUIRE_EQ(crew_run(lease, 0u, "hold", job_hold, &held, &job), CREW_OK);
    (void)CHECK_EQ(wrap.inner->event_wait(NULL, &held.begun, LONG_MS), 1);
    (void)CHECK_EQ(crew_run(lease, 0u, "second", job_seven, NULL, &another), CREW_BUSY);
    (void)CHECK_EQ(crew_run(lease, 0u, "second", job_seven, NULL, NULL), CREW_BUSY);
    (void)CHECK_EQ(another.bits, POISON);
    REQUIRE_EQ(pthread_create(&joiner, NULL, first_joiner, &job), 0);
    for (tries = 0; tries < 20000 && status == CREW_TIMED_OUT; tries++) {
        status = crew_join(job, 0u, &result);
        (void)usleep(500u);
    }
    (void)CHECK_EQ(status, CREW_BUSY);
    wrap.inner->event_post(NULL, &held.end);
    (void)CHECK_EQ(pthread_join(joiner, &joined), 0);
    (void)CHECK_EQ((intptr_t)joined, CREW_OK);
    (void)CHECK_EQ(crew_join(job, 0u, NULL), CREW_STALE);
}

static void texts_that_are_none(void)
{
    snapshot before = take();
    crew_pool_options options = good_options("texts");
    crew_role role = one_role[0];
    const char *const wrong[6] = { "",     "a\nb",        "tab\t",
                                   "\x7F", "caf\xC3\xA9", endless(CREW_NAME_BYTES) };
    crew_pool made = { POISON };
    crew_job job = { POISON };
    size_t i;

    for (i = 0; i < 6u; i++) {
        options.name = wrong[i];
        options.roles = one_role;
        (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_BAD_TEXT);
        role.name = wrong[i];
        options.name = "texts";
        options.roles = &role;
        (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_BAD_TEXT);
    }
    for (i = 0; i < 5u; i++) {
        (void)CHECK_EQ(crew_run(lease, 0u, wrong[i], job_seven, NULL, &job), CREW_BAD_TEXT);
    }
    (void)CHECK_EQ(crew_run(lease, 0u, endless(CREW_LABEL_BYTES), job_seven, NULL, &job),
                   CREW_BAD_TEXT);
    role.name = NULL;
    (void)CHECK_EQ(crew_pool_open(&options, &made), CREW_NULL_ARGUMENT);
    (void)CHECK(made.bits == POISON && job.bits == POISON);
    UNCHANGED(before);
}

static void longest_texts_are_taken(void)
{
    crew_pool_options options = good_options("123456789012345");
    crew_role role = { "abcdefghijklmno", STACK_BYTES, 10u };
    crew_pool made;
    crew_lease lent;
    crew_job job;

    options.roles = &role;
    REQUIRE_EQ(crew_pool_open(&options, &made), CREW_OK);
    REQUIRE_EQ(crew_acquire(made, 0u, &lent, NULL), CREW_OK);
    (void)CHECK_EQ(crew_run(lent, 0u, "12345678901234567890123", job_seven, NULL, &job), CREW_OK);
    (void)CHECK_EQ(crew_join(job, LONG_MS, NULL), CREW_OK);
    (void)CHECK_EQ(crew_release(lent), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(made, LONG_MS), CREW_OK);
}

static int32_t open_with_role(uint32_t stack_bytes, uint32_t priority)
{
    crew_pool_options options = good_options("role");
    crew_role role = { "role", 0u, 0u };
    crew_pool made = { POISON };
    int32_t status;

    role.stack_bytes = stack_bytes;
    role.priority = priority;
    options.roles = &role;
    status = crew_pool_open(&options, &made);
    (void)CHECK_EQ(made.bits, POISON);
    return status;
}

static void roles_out_of_bounds(void)
{
    snapshot before = take();

    (void)CHECK_EQ(open_with_role(STACK_BYTES, CREW_PRIORITY_MAX + 1u), CREW_BAD_PRIORITY);
    (void)CHECK_EQ(open_with_role(STACK_BYTES, UINT32_MAX), CREW_BAD_PRIORITY);
    (void)CHECK_EQ(open_with_role(0u, 10u), CREW_BAD_STACK);
    (void)CHECK_EQ(open_with_role(CREW_STACK_MIN - 1u, 10u), CREW_BAD_STACK);
    (void)CHECK_EQ(open_with_role(CREW_STACK_MAX + 1u, 10u), CREW_BAD_STACK);
    (void)CHECK_EQ(open_with_role(UINT32_MAX, 10u), CREW_BAD_STACK);
    UNCHANGED(before);
}

static int32_t open_with(crew_pool_options options)
{
    crew_pool made = { POISON };
    int32_t status = crew_pool_open(&options, &made);

    (void)CHECK_EQ(made.bits, POISON);
    return status;
}

static void pool_numbers_out_of_bounds(void)
{
    snapshot before = take();
    const crew_pool_options good = good_options("numbers");
    crew_pool_options options = good;

    options.capacity = 0u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_CAPACITY);
    options.capacity = CREW_MAX_SETS + 1u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_CAPACITY);
    options.capacity = UINT32_MAX;
    (void)CHECK_EQ(open_with(options), CREW_BAD_CAPACITY);
    options = good;
    options.prestart = options.capacity + 1u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_CAPACITY);
    options = good;
    options.keep = options.capacity + 1u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_CAPACITY);
    options = good;
    options.role_count = CREW_MAX_ROLES + 1u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_ROSTER);
    options.role_count = UINT32_MAX;
    (void)CHECK_EQ(open_with(options), CREW_BAD_ROSTER);
    options.role_count = 0u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_ROSTER);
    options = good;
    options.flags = 0x80000000u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_FLAGS);
    options = good;
    options.reserved = 1u;
    (void)CHECK_EQ(open_with(options), CREW_BAD_FLAGS);
    options = good;
    options.extra_bytes = UINT64_MAX;
    (void)CHECK_EQ(open_with(options), CREW_BAD_VALUE);
    UNCHANGED(before);
}

static void bytes_that_no_address_space_holds(void)
{
    snapshot before = take();
    crew_charge_handle charge = { POISON };

    (void)CHECK_EQ(crew_charge(0u, &charge), CREW_BAD_VALUE);
    (void)CHECK_EQ(crew_charge(UINT64_MAX, &charge), CREW_BAD_VALUE);
    (void)CHECK_EQ(charge.bits, POISON);
    UNCHANGED(before);
}

static void tables_that_are_full(void)
{
    snapshot before = take();
    crew_charge_handle charges[CREW_MAX_CHARGES];
    crew_charge_handle no_charge = { POISON };
    crew_pool pools[CREW_MAX_POOLS];
    crew_pool no_pool = { POISON };
    crew_pool_options options = good_options("many");
    uint32_t made = 0u;
    uint32_t i;

    for (i = 0; i < CREW_MAX_CHARGES; i++) {
        (void)CHECK_EQ(crew_charge(1u, &charges[i]), CREW_OK);
    }
    (void)CHECK_EQ(crew_charge(1u, &no_charge), CREW_TABLE_FULL);
    (void)CHECK_EQ(no_charge.bits, POISON);
    for (i = 0; i < CREW_MAX_CHARGES; i++) {
        (void)CHECK_EQ(crew_uncharge(charges[i]), CREW_OK);
    }
    options.capacity = 1u;
    while (made < CREW_MAX_POOLS - 1u &&
           CHECK_EQ(crew_pool_open(&options, &pools[made]), CREW_OK)) {
        made++;
    }
    (void)CHECK_EQ(crew_pool_open(&options, &no_pool), CREW_TABLE_FULL);
    (void)CHECK_EQ(no_pool.bits, POISON);
    for (i = 0; i < made; i++) {
        (void)CHECK_EQ(crew_pool_close(pools[i], LONG_MS), CREW_OK);
    }
    options.capacity = CREW_MAX_SETS;
    (void)CHECK_EQ(crew_pool_open(&options, &no_pool), CREW_TABLE_FULL);
    (void)CHECK_EQ(no_pool.bits, POISON);
    /* Only the high-water mark tells that there were charges. */
    before.account.high_water_bytes = take().account.high_water_bytes;
    UNCHANGED(before);
}

static void peer_of_zero(void)
{
    snapshot before = take();
    crew_lease lent = { POISON };

    (void)CHECK_EQ(crew_acquire_peer(pool, 0u, 0u, &lent, NULL), CREW_BAD_VALUE);
    (void)CHECK_EQ(lent.bits, POISON);
    UNCHANGED(before);
}

static void pool_used_after_close(void)
{
    crew_account account = CREW_ACCOUNT_INIT;
    crew_usage usage = CREW_USAGE_INIT;
    crew_lease lent = { POISON };
    crew_job job = { POISON };
    int32_t status;

    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_OK);
    (void)CHECK_EQ(crew_pool_close(pool, LONG_MS), CREW_STALE);
    (void)CHECK_EQ(crew_pool_trim(pool, 0u), CREW_STALE);
    (void)CHECK_EQ(crew_pool_usage(pool, &usage), CREW_STALE);
    (void)CHECK_EQ(crew_acquire(pool, 0u, &lent, NULL), CREW_STALE);
    status = crew_run(lease, 0u, "closed", job_seven, NULL, &job);
    (void)CHECK(status == CREW_STALE || status == CREW_NOT_RUN);
    status = crew_release(lease);
    (void)CHECK(status == CREW_STALE || status == CREW_RETIRED);
    (void)CHECK(lent.bits == POISON && job.bits == POISON);
    (void)CHECK_EQ(crew_account_usage(&account), CREW_OK);
    (void)CHECK_EQ(account.held_bytes, 0);
    (void)CHECK_EQ(wrap_threads(), 0);
}

int main(void)
{
    (void)alarm(CHECK_FORK_SECONDS);
    RUN(everything_needs_boot);
    RUN(boot_wants_whole_options);
    RUN(boot_wants_a_whole_port);
    RUN(budget_text_is_a_whole_number);
    RUN(every_status_has_a_text);
    RUN_FORKED(boot_ignores_a_budget_of_zero);
    RUN_FORKED(boot_ignores_a_budget_that_is_no_number);
    RUN_FORKED(boot_ignores_an_empty_budget);
    RUN_FORKED(boot_ignores_a_budget_without_end);
    RUN_FORKED(boot_takes_a_budget_with_blanks);
    RUN_FORKED(boot_without_a_budget_is_silent);
    RUN(boots_and_lends);
    RUN(null_arguments);
    RUN(sizes_that_are_not_this_headers);
    RUN(handles_that_are_zero);
    RUN(handles_of_another_kind);
    RUN(handles_of_random_bits);
    RUN(handles_that_never_were);
    RUN(handles_used_twice);
    RUN(roles_out_of_range);
    RUN(role_and_job_that_are_busy);
    RUN(texts_that_are_none);
    RUN(longest_texts_are_taken);
    RUN(roles_out_of_bounds);
    RUN(pool_numbers_out_of_bounds);
    RUN(bytes_that_no_address_space_holds);
    RUN(tables_that_are_full);
    RUN(peer_of_zero);
    RUN(pool_used_after_close);
    return check_sum();
}
