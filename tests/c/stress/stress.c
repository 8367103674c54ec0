/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Real threads under stress: rounds of a few seconds, in each of which 8, or nearly 48, clients do
 * everything at random. In every second round nothing is killed and nothing fails; in every second
 * pair of rounds no pool is closed. After each round all sums are compared, every pool is closed,
 * and what is left of heap and threads is read. The last is sealed.
 *
 *   stress [seconds [seed]]
 *
 * Real threads do not repeat themselves: the seed gives the same dice, not the same interleaving.
 */
#include "stress.h"

#include "check.h"
#include "crew_call_cxx.h"
#include "crew_port_posix.h"
#include "proc_status.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS 3000u
#define ROUNDS_MOST 4096u
#define PROGRESS_S 10u
/* Malloc's own book-keeping may move by so much. */
#define HEAP_NOISE 4096u
#define WRONGS_SAID 20u
#define HANG_S 900u /* longer than every bounded wait here together */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* calm, stable, sealed, then the odds. */
static const climate climates[4] = {
    { 0, 0, 0, 20u, 400u, 20u, 400u, 5000u },
    { 1, 0, 0, 0u, 0u, 0u, 0u, 0u },
    { 0, 1, 0, 20u, 400u, 20u, 400u, 5000u },
    { 1, 1, 0, 0u, 0u, 0u, 0u, 0u },
};
static const climate sealed = { 1, 1, 1, 0u, 0u, 0u, 0u, 0u };

climate now;
uint64_t counts[N_COUNTS];
uint64_t refusals[CREW_REFUSAL_KINDS];
uint32_t wrongs;

static uint64_t seed;
static uint32_t total_s = 60u;
static uint32_t rounds;
static struct {
    uint64_t heap;
    int threads;
} left[ROUNDS_MOST];

/* ---- dice, counts, complaints ---- */

uint32_t roll(dice *own, uint32_t sides)
{
    own->state ^= own->state >> 12;
    own->state ^= own->state << 25;
    own->state ^= own->state >> 27;
    return sides == 0u ? 0u : (uint32_t)((own->state * UINT64_C(0x2545f4914f6cdd1d) >> 32) % sides);
}

int once_in(dice *own, uint32_t odds)
{
    return odds != 0u && roll(own, odds) == 0u;
}

dice *thread_dice(void)
{
    static uint64_t given;
    static __thread dice own;

    if (own.state == 0u) {
        const uint64_t number = __atomic_add_fetch(&given, 1u, __ATOMIC_RELAXED);

        own.state = (seed ^ number << 32) * UINT64_C(0x9e3779b97f4a7c15) | 1u;
    }
    return &own;
}

void count(int what)
{
    (void)__atomic_add_fetch(&counts[what], 1u, __ATOMIC_RELAXED);
}

uint64_t counted(int what)
{
    return __atomic_load_n(&counts[what], __ATOMIC_RELAXED);
}

void wrong(const char *file, int line, const char *what, int64_t detail)
{
    if (__atomic_add_fetch(&wrongs, 1u, __ATOMIC_RELAXED) <= WRONGS_SAID) {
        (void)fprintf(stderr,
                      "WRONG %s:%d: %s (%" PRId64 ") in round %u (%s%s), seed %" PRIu64 "\n", file,
                      line, what, detail, (unsigned)rounds, now.calm ? "calm" : "rough",
                      now.sealed   ? ", sealed"
                      : now.stable ? ", stable"
                                   : "",
                      seed);
    }
}

int eventually(int (*condition)(void *context), void *context)
{
    const struct timespec pause = { 0, 1000000L };
    uint32_t tries;

    for (tries = 0; tries < LONG_MS; tries++) {
        if (condition(context)) {
            return 1;
        }
        (void)nanosleep(&pause, NULL);
    }
    return condition(context);
}

/* ---- rounds ---- */

static uint64_t clock_ms(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000u + (uint64_t)time.tv_nsec / 1000000u;
}

static uint64_t heap_in_use(void)
{
    const struct mallinfo2 heap = mallinfo2();

    return (uint64_t)heap.uordblks + (uint64_t)heap.hblkhd;
}

/* Every job was settled once; every thread ended the way its jobs and killers say. */
static void check_tallies(void)
{
    const uint64_t settled =
        counted(N_RETURNED) + counted(N_FAILED) + counted(N_DIED) + counted(N_NOT_RUN);
    const uint64_t ended =
        counted(N_ENDED_ORDERLY) + counted(N_ENDED_BY_EXIT) + counted(N_ENDED_BY_CANCEL);

    MUST(settled == counted(N_JOBS), (int64_t)(settled - counted(N_JOBS)));
    MUST(ended == counted(N_THREADS), (int64_t)(ended - counted(N_THREADS)));
    MUST(counted(N_ENDED_BY_EXIT) == counted(N_EXITS_BEGUN), (int64_t)counted(N_ENDED_BY_EXIT));
    MUST(counted(N_DIED) == counted(N_EXITS_BEGUN) + counted(N_UNWOUND), (int64_t)counted(N_DIED));
    MUST(counted(N_ENDED_BY_CANCEL) >= counted(N_UNWOUND) &&
             counted(N_ENDED_BY_CANCEL) <= counted(N_CANCELS),
         (int64_t)counted(N_ENDED_BY_CANCEL));
    MUST(counted(N_RETIRED) <=
             counted(N_ENDED_BY_EXIT) + counted(N_ENDED_BY_CANCEL) + counted(N_SUSPENDED),
         (int64_t)counted(N_RETIRED));
}

static void out_of_time(int signal_number)
{
    static const char text[] = "stress: out of time, a thread does not come back\n";

    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1u);
    abort(); /* with a core, where the system makes one */
}

static void run_round(const climate *weather, uint32_t milliseconds)
{
    dice own = { (seed + rounds) * UINT64_C(0x9e3779b97f4a7c15) | 1u };
    const uint32_t few_or_many = rounds / 4u % 2u == 0u ? 8u : CLIENTS_MOST;

    now = *weather;
    (void)alarm(milliseconds / 1000u + HANG_S);
    clients_run(few_or_many - roll(&own, 1u + few_or_many / 16u), seed + rounds * 1000u,
                milliseconds);
    pools_check();
    pools_close_all();
    check_tallies();
    left[rounds].heap = heap_in_use();
    left[rounds].threads = threads_alive();
    rounds++;
}

static uint64_t operations(void)
{
    uint64_t sum = 0u;
    int what;

    for (what = N_ACQUIRE; what <= N_STRANGERS; what++) {
        sum += what == N_LEASES || what == N_JOBS ? 0u : counted(what);
    }
    return sum;
}

static uint64_t killed(void)
{
    return counted(N_ENDED_BY_EXIT) + counted(N_ENDED_BY_CANCEL);
}

static void say_progress(uint64_t start_ms)
{
    (void)printf("%5" PRIu64 " s: %" PRIu64 " operations, %" PRIu64 " jobs, %" PRIu64
                 " workers killed, %u wrong, heap %" PRIu64 " B, %u threads\n",
                 (clock_ms() - start_ms) / 1000u, operations(), counted(N_JOBS), killed(),
                 (unsigned)wrongs, left[rounds - 1u].heap, (unsigned)left[rounds - 1u].threads);
    (void)fflush(stdout);
}

static void rounds_are_right(void)
{
    const uint64_t start_ms = clock_ms();
    const uint64_t end_ms = start_ms + total_s * UINT64_C(1000);
    const uint32_t most_s = ROUNDS_MOST / 2u * (ROUND_MS / 1000u);
    const uint32_t round_ms = total_s <= most_s ? ROUND_MS : total_s / (ROUNDS_MOST / 2u) * 1000u;
    uint64_t next_ms = start_ms + PROGRESS_S * UINT64_C(1000);

    crew_port_posix_use_caller(crew_call_cxx);
    {
        crew_boot_options options = CREW_BOOT_OPTIONS_INIT;

        options.port = stress_port();
        options.budget_mib = BUDGET_MIB;
        REQUIRE_EQ(crew_boot(&options), CREW_OK);
    }
    REQUIRE(pools_bytes() > BUDGET_BYTES);
    do {
        run_round(&climates[rounds % 4u], round_ms);
        if (clock_ms() >= next_ms) {
            say_progress(start_ms);
            next_ms += PROGRESS_S * UINT64_C(1000);
        }
    } while (rounds < 8u || (clock_ms() < end_ms && rounds < ROUNDS_MOST - 1u));
    say_progress(start_ms);
    (void)CHECK_EQ(wrongs, 0);
}

/* Every kind of thing has happened; else the sums above say little. */
static void everything_has_happened(void)
{
    static const int32_t met[] = { CREW_REFUSED_AT_CAPACITY,  CREW_REFUSED_OUT_OF_RESERVATION,
                                   CREW_REFUSED_SPAWN_FAILED, CREW_REFUSED_SHUTTING_DOWN,
                                   CREW_REFUSED_PEER_LIMIT,   CREW_REFUSED_TARGET_MEMORY };
    uint32_t i;
    int what;

    for (i = 0; i < sizeof(met) / sizeof(met[0]); i++) {
        (void)check_true(refusals[met[i]] > 0u, crew_status_text(met[i]), __FILE__, __LINE__);
    }
    for (what = 0; what < N_COUNTS; what++) {
        /* events are made once; there are too few of them to count on it */
        if (what != N_EVENT_FAILED) {
            (void)check_true(counted(what) > 0u, "a count is 0, see the table", __FILE__, __LINE__);
        }
    }
}

/* Means of the first and the last quarter of the rounds. */
static void heap_and_threads_are_flat(void)
{
    const uint32_t quarter = rounds / 4u;
    uint64_t first = 0u;
    uint64_t last = 0u;
    uint32_t i;

    REQUIRE(quarter > 0u);
    for (i = 0; i < quarter; i++) {
        first += left[i].heap;
        last += left[rounds - 1u - i].heap;
    }
    first /= quarter;
    last /= quarter;
    (void)printf("heap in use with everything closed: mean of the first quarter %" PRIu64
                 " B, of the last %" PRIu64 " B%s\n",
                 first, last, SANITIZED ? " (not known: the sanitizer's malloc)" : "");
    (void)printf("threads with everything closed: %u after the first round, %u after the last\n",
                 (unsigned)left[0].threads, (unsigned)left[rounds - 1u].threads);
    (void)CHECK(SANITIZED || last <= first + HEAP_NOISE);
    for (i = 1; i < rounds; i++) {
        (void)CHECK_EQ(left[i].threads, left[0].threads);
    }
}

/* After the seal no thread is made, whatever the clients do. */
static void sealed_round_makes_nothing(void)
{
    const uint32_t before = wrongs;
    uint64_t threads;

    now = sealed;
    pools_open_all();
    REQUIRE_EQ(crew_seal(), CREW_OK);
    threads = counted(N_THREADS);
    (void)alarm(HANG_S);
    clients_run(CLIENTS_MOST, seed, ROUND_MS);
    (void)CHECK_EQ(counted(N_THREADS), threads);
    pools_check();
    pools_close_all();
    check_tallies();
    (void)CHECK_EQ(wrongs, before);
    (void)CHECK(refusals[CREW_REFUSED_SEALED] > 0u);
    (void)CHECK_EQ(threads_alive(), left[0].threads);
}

/* ---- the figures ---- */

static const char *const names[N_COUNTS] = {
    [N_ACQUIRE] = "acquires asked",
    [N_LEASES] = "leases granted",
    [N_RUN] = "jobs offered",
    [N_JOBS] = "jobs taken",
    [N_JOIN] = "joins",
    [N_DETACH] = "detaches",
    [N_RELEASE] = "releases by the borrower",
    [N_TRIM] = "trims",
    [N_CLOSE] = "closes",
    [N_OPEN] = "opens",
    [N_CHARGE] = "charges and uncharges",
    [N_USAGE] = "looks at figures",
    [N_REPORT] = "reports",
    [N_STALE] = "uses of ended handles",
    [N_STRANGERS] = "uses of other clients' handles",
    [N_CLOSED] = "pools closed",
    [N_RETURNED] = "jobs that returned",
    [N_FAILED] = "jobs that threw",
    [N_DIED] = "jobs whose thread ended inside",
    [N_NOT_RUN] = "jobs taken and not run",
    [N_NOT_TAKEN] = "jobs not taken",
    [N_JOIN_TIMED_OUT] = "joins timed out",
    [N_JOIN_BUSY] = "joins that found another joiner",
    [N_RUN_BUSY] = "runs on a busy worker",
    [N_NO_CELL] = "runs with two results untaken",
    [N_LOST_LEASES] = "leases that ended under the borrower",
    [N_THREADS] = "threads made",
    [N_ENDED_ORDERLY] = "threads ended in order",
    [N_ENDED_BY_EXIT] = "threads ended by pthread_exit",
    [N_ENDED_BY_CANCEL] = "threads ended by pthread_cancel",
    [N_CANCELS] = "pthread_cancel called",
    [N_RETIRED] = "sets retired for a death or suspension",
    [N_THREAD_FAILED] = "thread creations made to fail",
    [N_EVENT_FAILED] = "event creations made to fail",
    [N_NO_MEMORY] = "memory questions answered no",
    [N_SUSPENDED] = "threads said to be suspended",
    [N_EXITS_BEGUN] = "jobs that called pthread_exit",
    [N_UNWOUND] = "jobs cancelled inside",
};

static void print_figures(void)
{
    int32_t kind;
    int what;

    (void)printf("stress: %u rounds, %" PRIu64 " operations\n", (unsigned)rounds, operations());
    for (what = 0; what < N_COUNTS; what++) {
        (void)printf("  %-40s %12" PRIu64 "\n", names[what], counted(what));
    }
    for (kind = 1; kind < (int32_t)CREW_REFUSAL_KINDS; kind++) {
        if (refusals[kind] > 0u) {
            (void)printf("  refused: %-31.31s %12" PRIu64 "\n", crew_status_text(kind),
                         refusals[kind]);
        }
    }
    (void)printf("kills survived: %" PRIu64 " (%" PRIu64 " pthread_exit, %" PRIu64
                 " pthread_cancel)\n",
                 killed(), counted(N_ENDED_BY_EXIT), counted(N_ENDED_BY_CANCEL));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    total_s = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : total_s;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : clock_ms() ^ (uint64_t)getpid() << 32;
    (void)printf("stress: %u s, seed %" PRIu64 "; budget %u MiB, all sets together %" PRIu64
                 " KiB\n",
                 (unsigned)total_s, seed, BUDGET_MIB, pools_bytes() / 1024u);
    (void)fflush(stdout);
    (void)signal(SIGALRM, out_of_time);
    RUN(rounds_are_right);
    RUN(heap_and_threads_are_flat);
    RUN(sealed_round_makes_nothing);
    print_figures();
    if (!SANITIZED) { /* which are too slow to meet everything in a short time */
        RUN(everything_has_happened);
    }
    return check_sum();
}
