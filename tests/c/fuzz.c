/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Hostile callers on real threads: a stream of bytes decides which functions are called, with which
 * arguments, and what jobs do (return, stay, end their thread, be cancelled). Each stream runs in a
 * process of its own, from crew_boot until every byte is back on the account; a law that breaks on
 * the way ends that process with a message.
 *
 *     fuzz SECONDS SEED [FILE ...]
 *
 * First every file is a stream, then random streams of that seed follow until the time is over. It
 * is the companion of the fuzz target in fuzz/ for machines without its compiler: the same bytes,
 * though here the threads are real and the system orders them, so a stream does not always do the
 * same.
 */
#include "audit.h"
#include "dice.h"
#include "wrap.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A stream that takes longer is a hang. Generous: tools slow it down, and machines are busy. */
#define STREAM_SECONDS 900u
#define LONG_MS 300000u
#define STREAM_BYTES 512u
#define MOST 128u
#define POISON UINT64_C(0x5A5A5A5A5A5A5A5A)
#define BEYOND_EVERY_TABLE 100000u

/* ---- the stream ---- */

static const uint8_t *stream;
static size_t stream_left;

/* 0, the harmless choice, when the stream is over. */
static uint8_t byte(void)
{
    if (stream_left == 0u) {
        return 0u;
    }
    stream_left--;
    return *stream++;
}

static uint32_t below(uint32_t bound)
{
    return byte() % bound;
}

static int is_good(void)
{
    return byte() < 216u;
}

/* ---- laws ---- */

static void broken(const char *what, int line, long long number)
{
    (void)fprintf(stderr, "fuzz.c:%d: %s (%lld)\n", line, what, number);
    abort();
}

#define LAW(condition, number) \
    do { \
        if (!(condition)) { \
            broken(#condition, __LINE__, (long long)(number)); \
        } \
    } while (0)

static int is_refusal(int32_t status)
{
    return status >= CREW_REFUSED_AT_CAPACITY && status <= CREW_REFUSED_TOO_MANY_WAITERS;
}

static void audit(void)
{
    char text[256] = "";

    if (crew_audit_busy(text, sizeof(text)) != 1) {
        broken(text, __LINE__, 0);
    }
}

/* ---- what was handed out ---- */

enum { POOL, LEASE, JOB, CHARGE, KINDS };

typedef struct known {
    uint64_t bits[MOST];
    /* Closed, released, joined or detached, taken back. */
    int ended[MOST];
    uint32_t count;
} known;

static known handles[KINDS];

static void remember(int kind, uint64_t bits)
{
    known *of = &handles[kind];
    uint32_t i;

    for (i = 0; i < of->count; i++) {
        LAW(of->bits[i] != bits, bits);
    }
    of->bits[of->count] = bits;
    of->ended[of->count] = 0;
    of->count++;
}

static int has_room(int kind)
{
    return handles[kind].count < MOST;
}

/* Notes that a call which may succeed once for this handle has succeeded. */
static void end_once(int kind, uint64_t bits)
{
    known *of = &handles[kind];
    uint32_t i;

    for (i = 0; i < of->count; i++) {
        if (of->bits[i] == bits) {
            LAW(!of->ended[i], bits);
            of->ended[i] = 1;
        }
    }
}

/*
 * Mostly the newest of its kind, else an old one, one of another kind, one that is a little off,
 * one that never was.
 */
static uint64_t handle(int kind)
{
    const uint8_t choice = byte();
    const known *of = &handles[choice >= 200u && choice < 212u ? (int)below(KINDS) : kind];
    const uint32_t back =
        choice < 200u && of->count > 0u ? (choice / 40u) * (choice % 40u) % of->count : 0u;
    const uint64_t bits = of->count > 0u ? of->bits[of->count - 1u - back] : 0u;

    if (choice < 212u) {
        return bits;
    }
    if (choice < 224u) {
        return bits ^ UINT64_C(1) << (byte() % 64u);
    }
    if (choice < 236u) {
        return (bits & ~UINT64_C(0xffffffff)) | (uint32_t)((uint32_t)bits + 1u + below(2u));
    }
    if (choice < 252u) {
        return (uint64_t)(kind + 1) << 56 | (uint64_t)below(32u) << 32 | below(8u);
    }
    return choice < 254u ? 0u : UINT64_MAX;
}

/* ---- jobs ---- */

typedef enum behaviour {
    RETURNS,
    EXITS,
    STAYS
} behaviour;

typedef struct token {
    behaviour behaviour;
    int begun;
    int ended;
    /* The answer of crew_run, with 1 added; 0: not known yet. */
    int32_t answer;
} token;

static token tokens[MOST];
static uint32_t token_count;
/* Jobs that stay, wait for this, and let the next one through: a cancellation point. */
static sem_t gate;

static void note_end(void *argument)
{
    (void)__atomic_add_fetch(&((token *)argument)->ended, 1, __ATOMIC_SEQ_CST);
}

static int32_t job(void *argument)
{
    token *at = (token *)argument;

    LAW(__atomic_add_fetch(&at->begun, 1, __ATOMIC_SEQ_CST) == 1, at - tokens);
    pthread_cleanup_push(note_end, argument);
    if (at->behaviour == EXITS) {
        pthread_exit(NULL);
    }
    if (at->behaviour == STAYS) {
        while (sem_wait(&gate) != 0) {
        }
        (void)sem_post(&gate);
    }
    pthread_cleanup_pop(1);
    return (int32_t)(at - tokens) - 7;
}

/* ---- arguments ---- */

/* A block of its own, so that the address sanitizer sees what lies behind it. */
static void *block(const void *from, size_t size)
{
    void *to = malloc(size > 0u ? size : 1u);

    if (to == NULL) {
        broken("out of memory", __LINE__, 0);
    }
    if (size > 0u) {
        (void)memcpy(to, from, size);
    }
    return to;
}

/* A text for this bound, good or not; NULL sometimes. To be freed. */
static char *text(uint32_t bound, int *good)
{
    char bytes[CREW_TEXT_BYTES + 1u];
    uint32_t length = below(bound + 1u);
    uint32_t i;

    *good = length > 0u && length < bound;
    (void)memset(bytes, 'x', sizeof(bytes));
    switch (below(5u)) {
    case 0u:
        *good = 0;
        return NULL;
    case 1u:
        for (i = 0; i < length; i++) {
            bytes[i] = (char)byte();
            if (bytes[i] <= ' ' || bytes[i] > '~') {
                bytes[i] = (char)0x80;
                *good = 0;
            }
        }
        break;
    default:
        break;
    }
    /* One that fills its bound has no NUL: no more than the bound may be read. */
    bytes[length] = '\0';
    return (char *)block(bytes, length < bound ? length + 1u : bound);
}

/* ---- calls ---- */

static uint32_t some_ms(void)
{
    static const uint32_t ms[4] = { 0u, 0u, 1u, 3u };

    return ms[below(4u)];
}

static void check_handle(int kind, uint64_t bits, int32_t status)
{
    if (bits >> 56 != (uint64_t)kind + 1u || (bits >> 32 & 0xffffffu) >= BEYOND_EVERY_TABLE) {
        LAW(status == CREW_BAD_HANDLE, status);
    }
}

/* The answer of a call that ends what the handle names. */
static void check_end(int kind, uint64_t bits, int32_t status)
{
    check_handle(kind, bits, status);
    if (status == CREW_OK) {
        end_once(kind, bits);
    } else {
        LAW(status == CREW_STALE || status == CREW_BAD_HANDLE ||
                (kind == LEASE && status == CREW_RETIRED) ||
                (kind == POOL && status == CREW_TIMED_OUT),
            status);
    }
}

static void call_open(void)
{
    static const uint32_t stacks[3] = { 65536u, 131072u, 262144u };
    crew_role roles[CREW_MAX_ROLES];
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_pool pool = { POISON };
    const uint32_t flaw = is_good() ? 0u : 1u + below(6u);
    uint32_t i;
    int good = 1;
    char *name = NULL;
    crew_role *at;
    int32_t status;

    options.role_count = below(4u);
    for (i = 0; i < options.role_count; i++) {
        roles[i].name = "role";
        roles[i].stack_bytes = stacks[below(3u)];
        roles[i].priority = below(100u);
    }
    options.name = "pool";
    options.capacity = 1u + below(4u);
    options.prestart = below(3u) % (options.capacity + 1u);
    options.keep = below(3u) % (options.capacity + 1u);
    options.per_peer = below(3u);
    options.extra_bytes = options.role_count == 0u ? 1000u : below(2u);
    if (flaw == 1u) {
        name = text(CREW_NAME_BYTES, &good);
        options.name = name;
    } else if (flaw == 2u) {
        options.capacity = below(2u) ? 0u : BEYOND_EVERY_TABLE;
        good = 0;
    } else if (flaw == 3u) {
        options.size = byte();
        good = options.size == sizeof(options);
    } else if (flaw == 4u) {
        /*
         * All the sets together must fit into an address space: one set without threads just does.
         */
        options.extra_bytes = UINT64_MAX;
        good = options.role_count == 0u && options.capacity == 1u;
    } else if (flaw == 5u && options.role_count > 0u) {
        roles[0].stack_bytes = byte();
        good = 0;
    } else if (flaw == 6u) {
        options.reserved = 1u + byte();
        good = 0;
    }
    at = (crew_role *)block(roles, options.role_count * sizeof(crew_role));
    options.roles = at;
    status = has_room(POOL) ? crew_pool_open(&options, &pool) : CREW_BUSY;
    free(at);
    free(name);
    LAW(good || status != CREW_OK, flaw);
    LAW((status == CREW_OK) == (pool.bits != POISON), status);
    if (status == CREW_OK) {
        remember(POOL, pool.bits);
    } else {
        LAW(is_refusal(status) || status >= CREW_NULL_ARGUMENT || status == CREW_BUSY, status);
    }
}

static void call_close(void)
{
    crew_pool pool;

    pool.bits = handle(POOL);
    check_end(POOL, pool.bits, crew_pool_close(pool, some_ms()));
}

static void call_acquire(void)
{
    crew_refusal refusal = CREW_REFUSAL_INIT;
    crew_lease lease = { POISON };
    crew_pool pool;
    const uint32_t peer = below(4u);
    const uint32_t flaw = is_good() ? 0u : 1u + below(3u);
    crew_refusal *why;
    int32_t status;

    pool.bits = handle(POOL);
    refusal.size = flaw == 1u ? byte() : refusal.size;
    refusal.kind = -1;
    why = (crew_refusal *)block(&refusal, sizeof(refusal));
    if (!has_room(LEASE)) {
        status = CREW_STALE;
    } else if (peer == 0u) {
        status = crew_acquire(pool, some_ms(), flaw == 2u ? NULL : &lease, flaw == 3u ? NULL : why);
    } else {
        status = crew_acquire_peer(pool, peer - 1u, some_ms(), flaw == 2u ? NULL : &lease,
                                   flaw == 3u ? NULL : why);
    }
    LAW((status == CREW_OK) == (lease.bits != POISON), status);
    LAW(is_refusal(status) && flaw != 3u ? why->kind == status : why->kind == -1, status);
    free(why);
    if (status == CREW_OK) {
        remember(LEASE, lease.bits);
    } else {
        LAW(is_refusal(status) || status == CREW_STALE || status == CREW_BAD_HANDLE || flaw != 0u ||
                peer == 1u,
            status);
    }
}

static void call_release(void)
{
    crew_lease lease;

    lease.bits = handle(LEASE);
    check_end(LEASE, lease.bits, crew_release(lease));
}

static void call_run(void)
{
    static const behaviour behaviours[8] = { RETURNS, RETURNS, RETURNS, RETURNS,
                                             STAYS,   STAYS,   EXITS,   RETURNS };
    crew_lease lease;
    crew_job made = { POISON };
    const uint32_t role = below(5u);
    const int detached = below(4u) == 3u;
    const int fine = is_good();
    int good = 1;
    char *label = fine ? (char *)block("label", 6u) : text(CREW_LABEL_BYTES, &good);
    token *at = &tokens[token_count];
    int32_t status;

    lease.bits = handle(LEASE);
    if (token_count < MOST && has_room(JOB)) {
        token_count++;
        at->behaviour = behaviours[below(8u)];
        status = crew_run(lease, role, label, job, at, detached ? NULL : &made);
        at->answer = status + 1;
        check_handle(LEASE, lease.bits, good ? status : CREW_BAD_HANDLE);
        LAW(good || status == CREW_BAD_TEXT || status == CREW_NULL_ARGUMENT, status);
        LAW(status == CREW_OK || __atomic_load_n(&at->begun, __ATOMIC_SEQ_CST) == 0, status);
        LAW((status == CREW_OK && !detached) == (made.bits != POISON), status);
        if (status == CREW_OK && !detached) {
            remember(JOB, made.bits);
        }
    }
    free(label);
}

static void call_join(void)
{
    crew_result result = CREW_RESULT_INIT;
    crew_job at;
    const int fine = is_good();
    int32_t status;

    at.bits = handle(JOB);
    result.size = fine ? result.size : byte();
    result.outcome = -1;
    status = crew_join(at, some_ms(), &result);
    if (result.size != sizeof(result)) {
        LAW(status == CREW_BAD_SIZE, status);
        return;
    }
    check_handle(JOB, at.bits, status);
    LAW((status == CREW_OK) == (result.outcome != -1), status);
    if (status == CREW_OK) {
        end_once(JOB, at.bits);
        LAW(result.outcome >= CREW_JOB_RETURNED && result.outcome <= CREW_JOB_NOT_RUN,
            result.outcome);
    } else {
        LAW(status == CREW_TIMED_OUT || status == CREW_STALE || status == CREW_BAD_HANDLE, status);
    }
}

static void call_detach(void)
{
    crew_job at;

    at.bits = handle(JOB);
    check_end(JOB, at.bits, crew_detach(at));
}

/*
 * A member of a lease is cancelled, in a job or while it waits for one. The holder of a lease may
 * do that to its threads.
 */
static void call_cancel(void)
{
    crew_lease lease;
    size_t thread = 0u;
    const uint32_t role = below(3u);

    lease.bits = handle(LEASE);
    if (crew_lease_thread(lease, role, &thread) == CREW_OK) {
        LAW(pthread_cancel((pthread_t)thread) == 0, role);
    }
}

static void call_charge(void)
{
    static const uint64_t bytes[4] = { 4096u, 1u, 0u, UINT64_MAX };
    crew_charge_handle charge = { POISON };
    const uint64_t wanted = bytes[below(4u)];
    int32_t status = has_room(CHARGE) ? crew_charge(wanted, &charge) : CREW_TABLE_FULL;

    LAW((status == CREW_OK) == (charge.bits != POISON), status);
    if (status == CREW_OK) {
        remember(CHARGE, charge.bits);
    } else {
        LAW(status == CREW_BAD_VALUE || status == CREW_TABLE_FULL, status);
    }
}

static void call_uncharge(void)
{
    crew_charge_handle charge;

    charge.bits = handle(CHARGE);
    check_end(CHARGE, charge.bits, crew_uncharge(charge));
}

static void sink(void *context, const char *line)
{
    LAW(context == &gate, 0);
    LAW(line[0] != '\0' && strchr(line, '\n') == NULL, 0);
}

static void call_figures(void)
{
    crew_usage usage = CREW_USAGE_INIT;
    crew_account account = CREW_ACCOUNT_INIT;
    crew_pool pool;

    pool.bits = handle(POOL);
    check_handle(POOL, pool.bits, crew_pool_usage(pool, &usage));
    LAW(usage.created <= usage.capacity && usage.idle <= usage.created, usage.created);
    LAW(crew_account_usage(&account) == CREW_OK, 0);
    LAW(account.held_bytes <= account.high_water_bytes, account.held_bytes);
    LAW(crew_report(below(4u), sink, &gate) == CREW_OK, 0);
}

static void call_trim(void)
{
    crew_pool pool;
    int32_t status;

    pool.bits = handle(POOL);
    status = crew_pool_trim(pool, below(3u));
    check_handle(POOL, pool.bits, status);
    LAW(status == CREW_OK || status == CREW_STALE || status == CREW_BAD_HANDLE, status);
}

static void call_forged_worker(void)
{
    crew_work work;
    const uint32_t number = BEYOND_EVERY_TABLE + byte();

    LAW(crew_worker_next(number, &work) == CREW_WORK_STOP, number);
    LAW(crew_worker_next(below(32u), NULL) == CREW_WORK_STOP, 0);
    crew_worker_done(number, CREW_JOB_RETURNED, 1);
    crew_worker_exited(number);
}

static void call_parse(void)
{
    int good;
    char *number = text(CREW_TEXT_BYTES, &good);
    uint32_t mib = 4711u;
    int32_t status = crew_budget_parse(number, &mib);

    free(number);
    LAW(status == CREW_OK ? mib > 0u : mib == 4711u, status);
}

static void call_one(void)
{
    const uint32_t choice = below(64u);

    if (choice < 8u) {
        call_acquire();
    } else if (choice < 18u) {
        call_run();
    } else if (choice < 23u) {
        call_release();
    } else if (choice < 28u) {
        call_join();
    } else if (choice < 30u) {
        call_detach();
    } else if (choice < 34u) {
        (void)sem_post(&gate);
        (void)sched_yield();
        (void)sem_trywait(&gate);
    } else if (choice < 39u) {
        call_cancel();
    } else if (choice < 42u) {
        call_open();
    } else if (choice < 44u) {
        call_close();
    } else if (choice == 44u) {
        call_trim();
    } else if (choice == 45u) {
        call_charge();
    } else if (choice == 46u) {
        call_uncharge();
    } else if (choice < 52u) {
        call_figures();
    } else if (choice == 52u) {
        wrap_set(&wrap.error, EAGAIN);
        wrap_set(&wrap.fail_thread_in, (int)below(4u));
    } else if (choice == 53u) {
        wrap_set(&wrap.error, ENOMEM);
        wrap_set(&wrap.fail_event_in, (int)below(8u));
    } else if (choice == 54u) {
        wrap_set(&wrap.memory_answer, (int)below(3u) - 1);
    } else if (choice < 58u) {
        call_forged_worker();
    } else if (choice < 60u) {
        call_parse();
    }
}

/* ---- one stream ---- */

static void start(void)
{
    crew_boot_options options = CREW_BOOT_OPTIONS_INIT;
    int good;
    char *budget = NULL;

    options.port = wrap_port();
    options.budget_mib = below(3u);
    if (below(4u) == 3u) {
        budget = text(CREW_TEXT_BYTES, &good);
        options.budget_text = budget;
    }
    LAW(crew_boot(&options) == CREW_OK, 0);
    LAW(crew_boot(&options) == CREW_ALREADY_BOOTED, 0);
    free(budget);
}

static void print_line(void *context, const char *line)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", line);
}

/* Helps a reader of the log to find out why a pool does not close. */
static void print_who_is_left(void)
{
    int posts = 0;
    uint32_t i;

    (void)crew_report(2u, print_line, NULL);
    (void)sem_getvalue(&gate, &posts);
    (void)fprintf(stderr, "the gate has %d posts\n", posts);
    for (i = 0; i < token_count; i++) {
        if (tokens[i].begun != tokens[i].ended) {
            (void)fprintf(stderr, "job %u, behaviour %d, has not ended\n", i,
                          (int)tokens[i].behaviour);
        }
    }
}

/*
 * Threads of a failed open that did not end within its second hold their bytes until they have
 * ended and another pool is opened.
 */
static int nothing_is_held(void)
{
    const struct timespec pause = { 0, 1000000L };
    crew_pool_options options = CREW_POOL_OPTIONS_INIT;
    crew_account account = CREW_ACCOUNT_INIT;
    crew_pool pool;
    uint32_t tries;

    options.name = "last";
    options.capacity = 1u;
    options.extra_bytes = 1u;
    for (tries = 0; tries < LONG_MS; tries++) {
        if (crew_account_usage(&account) == CREW_OK && account.held_bytes == 0u) {
            return 1;
        }
        if (crew_pool_open(&options, &pool) == CREW_OK) {
            LAW(crew_pool_close(pool, LONG_MS) == CREW_OK, tries);
        }
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

static void give_back_everything(void)
{
    crew_pool pool;
    crew_lease lease;
    crew_charge_handle charge;
    crew_job at;
    char words[256] = "";
    int32_t status;
    uint32_t i;

    wrap_set(&wrap.fail_thread_in, 0);
    wrap_set(&wrap.fail_event_in, 0);
    wrap_set(&wrap.memory_answer, -1);
    /*
     * Once for each that may wait: the C library gives a post to one of them, and if that one is
     * being cancelled, to none.
     */
    for (i = 0; i <= token_count; i++) {
        (void)sem_post(&gate);
    }
    /* A set without threads ends with its lease only. */
    for (i = 0; i < handles[LEASE].count; i++) {
        lease.bits = handles[LEASE].bits[i];
        (void)crew_release(lease);
    }
    for (i = 0; i < handles[POOL].count; i++) {
        pool.bits = handles[POOL].bits[i];
        status = crew_pool_close(pool, LONG_MS);
        if (status == CREW_TIMED_OUT) {
            print_who_is_left();
        }
        LAW(status == (handles[POOL].ended[i] ? CREW_STALE : CREW_OK), status);
    }
    for (i = 0; i < handles[CHARGE].count; i++) {
        charge.bits = handles[CHARGE].bits[i];
        LAW(crew_uncharge(charge) == (handles[CHARGE].ended[i] ? CREW_STALE : CREW_OK), i);
    }
    for (i = 0; i < handles[JOB].count; i++) {
        at.bits = handles[JOB].bits[i];
        LAW(crew_join(at, 0u, NULL) == (handles[JOB].ended[i] ? CREW_STALE : CREW_OK), i);
    }
    for (i = 0; i < token_count; i++) {
        LAW(tokens[i].answer == CREW_OK + 1 || tokens[i].begun == 0, i);
        LAW(tokens[i].begun == tokens[i].ended, i);
    }
    if (!nothing_is_held()) {
        print_who_is_left();
        broken("bytes are held", __LINE__, 0);
    }
    LAW(wrap_threads() == 0, wrap_threads());
    if (crew_audit(0, words, sizeof(words)) != 1) {
        broken(words, __LINE__, 0);
    }
}

static void play(const uint8_t *bytes, size_t length)
{
    stream = bytes;
    stream_left = length;
    (void)sem_init(&gate, 0, 0u);
    start();
    while (stream_left > 0u) {
        call_one();
        audit();
    }
    give_back_everything();
}

static void print_file(FILE *file)
{
    char line[512];

    rewind(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        (void)fputs(line, stderr);
    }
}

/* 1 = every law held; else what the child said is printed. */
static int play_in_a_child(const uint8_t *bytes, size_t length)
{
    FILE *said = tmpfile();
    int status = 0;
    pid_t child = said != NULL ? fork() : -1;
    int held;

    if (child == 0) {
        (void)dup2(fileno(said), STDERR_FILENO);
        (void)alarm(STREAM_SECONDS);
        play(bytes, length);
        _exit(0);
    }
    held = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
    if (said != NULL) {
        if (!held) {
            print_file(said);
        }
        (void)fclose(said);
    }
    return held;
}

/* ---- all streams ---- */

static uint64_t seed;

static uint64_t random_bits(void)
{
    return dice_roll(&seed);
}

static void print_stream(const uint8_t *bytes, size_t length)
{
    size_t i;

    for (i = 0; i < length; i++) {
        (void)printf("%02x", bytes[i]);
    }
    (void)puts("");
}

static int play_file(const char *name)
{
    uint8_t bytes[4096];
    FILE *file = fopen(name, "rb");
    size_t length;

    if (file == NULL) {
        (void)printf("FAILED %s: cannot be read\n", name);
        return 0;
    }
    length = fread(bytes, 1u, sizeof(bytes), file);
    (void)fclose(file);
    if (play_in_a_child(bytes, length)) {
        return 1;
    }
    (void)printf("FAILED %s\n", name);
    return 0;
}

static int play_random(void)
{
    uint8_t bytes[STREAM_BYTES];
    const uint64_t begun = seed;
    const size_t length = 16u + (size_t)(random_bits() % (STREAM_BYTES - 16u));
    size_t i;

    for (i = 0; i < length; i++) {
        bytes[i] = (uint8_t)(random_bits() >> 32);
    }
    if (play_in_a_child(bytes, length)) {
        return 1;
    }
    (void)printf("FAILED random stream: seed %llu, bytes ", (unsigned long long)begun);
    print_stream(bytes, length);
    return 0;
}

int main(int argc, char **argv)
{
    const time_t begun = time(NULL);
    long seconds = argc > 1 ? atol(argv[1]) : 0;
    int files = 0;
    int streams = 0;
    int failed = 0;
    int i;

    seed = argc > 2 ? (uint64_t)strtoull(argv[2], NULL, 10) : 0u;
    if (argc < 3 || seconds < 0 || seed == 0u) {
        (void)fputs("usage: fuzz SECONDS SEED [FILE ...]; the seed is not 0\n", stderr);
        return 2;
    }
    (void)printf("fuzz: seed %s\n", argv[2]);
    (void)fflush(stdout);
    for (i = 3; i < argc; i++) {
        failed += !play_file(argv[i]);
        files++;
    }
    (void)fflush(stdout);
    while (failed == 0 && time(NULL) - begun < (time_t)seconds) {
        failed += !play_random();
        streams++;
    }
    (void)printf("fuzz: %d files and %d random streams in %ld s\n", files, streams,
                 (long)(time(NULL) - begun));
    (void)printf("%d passed, %d failed\n", files + streams - failed, failed);
    return failed == 0 && files + streams > 0 ? 0 : 1;
}
