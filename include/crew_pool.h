/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from src/ffi/pool by cbindgen. Change it there, then: make header. */

/* Pools of worker sets: open to close, leases, jobs, figures. The conventions are in crew.h. */
#ifndef CREW_POOL_H
#define CREW_POOL_H

#include "crew.h"


// Roles of one roster, at most.
#define CREW_MAX_ROLES 8

// Bytes of a pool's or role's name, its NUL included: what Linux and RTEMS keep of a thread's
// name.
#define CREW_NAME_BYTES 16

// The highest priority; 0 is the lowest. EPICS' scale.
#define CREW_PRIORITY_MAX 99

// The smallest stack in bytes.
#define CREW_STACK_MIN 4096

// The largest stack in bytes: 1 GiB.
#define CREW_STACK_MAX 1073741824

// Joinable jobs of one worker whose results have not been taken yet, at most.
#define CREW_JOBS_PER_WORKER 2

// Threads are named by their role alone, instead of "pool.slot-role".
#define CREW_POOL_ROLE_NAMES 1

// Bytes of a job's label, its NUL included.
#define CREW_LABEL_BYTES 24

// The job returned; its value counts.
#define CREW_JOB_RETURNED 0

// The job threw or panicked. Its worker lives.
#define CREW_JOB_FAILED 1

// The job's thread ended inside it.
#define CREW_JOB_DIED 2

// The job was never begun: its worker was gone.
#define CREW_JOB_NOT_RUN 3

// One more than the highest number of a refusal, those to come included.
#define CREW_REFUSAL_KINDS 16

// One role of a roster: what a member of a set is for.
typedef struct crew_role {
    // 1 to CREW_NAME_BYTES - 1 printable characters without blanks. Roles are known by their
    // number: two of one name are accepted, and have threads of one name.
    const char *name;
    // CREW_STACK_MIN to CREW_STACK_MAX. Charged to the account for as long as the thread exists.
    uint32_t stack_bytes;
    // 0 to CREW_PRIORITY_MAX.
    uint32_t priority;
} crew_role;

// What a pool shall be. Initialise with CREW_POOL_OPTIONS_INIT. Everything is copied.
typedef struct crew_pool_options {
    // sizeof(crew_pool_options)
    uint32_t size;
    // CREW_POOL_... or 0.
    uint32_t flags;
    // 1 to CREW_NAME_BYTES - 1 printable characters without blanks. Pools are known by their
    // handles: two of one name are accepted, and reports and log lines do not tell them apart.
    const char *name;
    // The members of a set, in order: role 0 first.
    const struct crew_role *roles;
    // How many. 0: the pool makes no threads; each lease reserves extra_bytes, that is all.
    uint32_t role_count;
    // The most sets: 1 to CREW_MAX_SETS.
    uint32_t capacity;
    // Sets made by crew_pool_open: 0 to capacity.
    uint32_t prestart;
    // Idle sets that are never given back: 0 to capacity.
    uint32_t keep;
    // Idle sets above keep are given back after having been idle this long, in seconds (it may
    // take up to twice as long). 0: never.
    uint32_t idle_age_s;
    // Sets busy for longer are counted as overdue, in seconds. 0: never.
    uint32_t busy_age_s;
    // The most sets of one peer (crew_acquire_peer). 0: no limit.
    uint32_t per_peer;
    // 0.
    uint32_t reserved;
    // Bytes reserved with each set beyond its threads.
    uint64_t extra_bytes;
} crew_pool_options;

// A pool.
typedef struct crew_pool {
    // Crew's own.
    uint64_t bits;
} crew_pool;

// Why there is no set. Initialise with CREW_REFUSAL_INIT. Fields that do not belong to the kind
// are 0.
typedef struct crew_refusal {
    // sizeof(crew_refusal)
    uint32_t size;
    // One of CREW_REFUSED_..., the same as the status.
    int32_t kind;
    // AT_CAPACITY: the capacity in sets. PEER_LIMIT: the limit in sets. TOO_MANY_WAITERS: the
    // bound.
    uint32_t capacity;
    // SPAWN_FAILED: which role's thread.
    uint32_t role;
    // SPAWN_FAILED: the system's error number; 0: the thread was made and ended before it was
    // ready.
    int32_t os_error;
    // OBJECTS_EXHAUSTED: how many kernel objects the set needed.
    uint32_t objects;
    // OUT_OF_RESERVATION: the set's bytes. TARGET_MEMORY: those of one of its threads.
    uint64_t bytes_requested;
    // OUT_OF_RESERVATION: bytes held at that moment.
    uint64_t bytes_held;
    // OUT_OF_RESERVATION: the budget in bytes.
    uint64_t bytes_budget;
} crew_refusal;

// The right to use one set.
typedef struct crew_lease {
    // Crew's own.
    uint64_t bits;
} crew_lease;

// A joinable job.
typedef struct crew_job {
    // Crew's own.
    uint64_t bits;
} crew_job;

// What a joined job left. Initialise with CREW_RESULT_INIT.
typedef struct crew_result {
    // sizeof(crew_result)
    uint32_t size;
    // One of CREW_JOB_...
    int32_t outcome;
    // CREW_JOB_RETURNED: what the function returned; else 0.
    int32_t value;
} crew_result;

// A pool's figures. Each is exact; together they are exact only while nothing changes. It is the
// same struct in Rust and in C, where CREW_USAGE_INIT initialises it.
typedef struct crew_usage {
    // sizeof(crew_usage)
    uint32_t size;
    // The most sets.
    uint32_t capacity;
    // Sets that exist, those being made or ended included.
    uint32_t created;
    // Of those, the ones that are not idle.
    uint32_t busy;
    // Of those, the ones that wait to be leased.
    uint32_t idle;
    // Threads that wait to acquire a set.
    uint32_t waiting;
    // The most sets that existed at one time.
    uint32_t created_high_water;
    // The most sets that were in use at one time, by the highest slot lent: the lowest idle one is
    // always the one that is lent.
    uint32_t busy_high_water;
    // Leases granted so far; wraps.
    uint32_t leases;
    // Threads made so far; wraps.
    uint32_t threads_created;
    // Sets retired because a member's thread ended or was suspended.
    uint32_t retirements;
    // Members that are suspended now.
    uint32_t suspended;
    // Sets busy for longer than the pool's busy_age_s.
    uint32_t overdue;
    // Seconds since the longest busy set was leased; 0: none is busy for a second yet.
    uint32_t oldest_busy_s;
    // Refusals so far; the index is the kind's number (CREW_REFUSED_...).
    uint32_t refused[CREW_REFUSAL_KINDS];
    // The most stack that a thread of each role was seen to use, in bytes; 0: the target cannot
    // tell, or no report looked while one ran.
    uint32_t stack_used[CREW_MAX_ROLES];
} crew_usage;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Opens a pool, and makes its prestarted sets. BOOT ONLY.
//
// CREW_NOT_BOOTED, CREW_ALREADY_SEALED, CREW_BUSY (another administrative call is under way, or
// the end of a close that may make the room which is missing), CREW_BAD_SIZE, CREW_BAD_FLAGS,
// CREW_BAD_TEXT, CREW_BAD_ROSTER, CREW_BAD_STACK, CREW_BAD_PRIORITY, CREW_BAD_CAPACITY,
// CREW_BAD_VALUE (the bytes of all sets together), CREW_TABLE_FULL, or the refusal of a set to be
// prestarted: then every set made before it has been taken back; threads that did not end within a
// second keep the pool's place in the tables until they have ended and another pool is opened.
//
// Pointers:
// `options` is NULL or valid, and what it points to is as its fields say; `pool` is NULL or
// writable.
int32_t crew_pool_open(const struct crew_pool_options *options, struct crew_pool *pool);

// Gives idle sets back until keep of them are left; waits at most a second for their threads to
// end, so that the bytes are on the account again when it returns.
//
// CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_pool_trim(struct crew_pool pool, uint32_t keep);

// Refuses new leases, stops the workers of every set, leased or not, and joins them. A worker
// inside a job stops after it: ask your connections to end first. Leases that are out end with
// their set; a set without threads ends when its lease is released. When it returns CREW_OK every
// byte is back on the account.
//
// CREW_TIMED_OUT: some sets are still there (crew_pool_usage says how many); the pool goes on
// closing, call again. CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_pool_close(struct crew_pool pool, uint32_t timeout_ms);

// An errno for a refusal: the system's own for a failed thread creation, EPIPE for a pool that is
// closing, EAGAIN for the rest; EINVAL for NULL or an unknown size.
//
// Pointers:
// `refusal` is NULL or valid.
int32_t crew_refusal_errno(const struct crew_refusal *refusal);

// Borrows a whole set: an idle one, else a new one. The borrower gives its members jobs (crew_run)
// and releases it (crew_release).
//
// timeout_ms 0 refuses at once. Otherwise it waits, first come, first served, for a set, a slot or
// bytes; the refusal after the time is the last one met. Leasing an idle set takes tens of
// nanoseconds and allocates nothing. Making one asks the account, the target, and makes threads.
//
// Any CREW_REFUSED_... (and *refusal, unless NULL, says why, with its numbers), CREW_STALE (the
// pool has been closed), CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `lease` is NULL or writable, `refusal` NULL or valid.
int32_t crew_acquire(struct crew_pool pool,
                     uint32_t timeout_ms,
                     struct crew_lease *lease,
                     struct crew_refusal *refusal);

// As crew_acquire, for a peer: a number by which the caller tells its clients apart (a client
// host's address, for example). With the pool's per_peer set, one peer never has more sets than
// that; a set counts for its peer until it is idle again. A peer at its limit is refused for that,
// whatever else may be missing, before anything is taken, so it is in no other peer's way. The
// count looks at every set of the pool.
//
// As crew_acquire; CREW_REFUSED_PEER_LIMIT; CREW_BAD_VALUE: the peer is 0.
//
// Pointers:
// As crew_acquire.
int32_t crew_acquire_peer(struct crew_pool pool,
                          uint64_t peer,
                          uint32_t timeout_ms,
                          struct crew_lease *lease,
                          struct crew_refusal *refusal);

// Gives the set back. It is lent again when all its jobs have returned; release does not wait for
// them. Exactly one release of a lease succeeds.
//
// A set that died under the lease and has not been taken apart yet is released like any other;
// once it has been, the answer is CREW_RETIRED: its slot is back already, and nothing is left to
// give.
//
// CREW_STALE (released before), CREW_RETIRED, CREW_BAD_HANDLE.
int32_t crew_release(struct crew_lease lease);

// The port's number of the thread of a member, as its thread_create stored it. Under the POSIX
// port it is the pthread_t. Under the EPICS port it is a record of the port's own, and
// crewPortEpicsId (crewPortEpics.h) gives the epicsThreadId to it. Valid while the lease is and
// the thread lives.
//
// CREW_NOT_RUN (the thread has ended), CREW_STALE, CREW_RETIRED, CREW_BAD_HANDLE, CREW_BAD_ROLE,
// CREW_NULL_ARGUMENT.
//
// Pointers:
// `thread` is NULL or writable.
int32_t crew_lease_thread(struct crew_lease lease, uint32_t role, size_t *thread);

// Gives the worker of a role one job. A worker has one job at a time. The argument is the caller's
// to keep alive until the job has ended. The label names the job in reports and logs.
//
// With job NULL the job is detached: a failure is logged under its label. Otherwise *job is to be
// joined (crew_join) or detached (crew_detach); its result is kept until then, also beyond the
// lease.
//
// CREW_NOT_RUN: the set was retired or the worker is gone; the function will not be called (a
// detached job's is logged too). CREW_BUSY: the worker has a job. CREW_NO_JOB_CELL: the results of
// CREW_JOBS_PER_WORKER earlier jobs of this worker are still kept. CREW_STALE: the lease has
// ended. CREW_BAD_HANDLE, CREW_BAD_ROLE, CREW_NULL_ARGUMENT, CREW_BAD_TEXT (label: 1 to
// CREW_LABEL_BYTES - 1 printable characters).
//
// Pointers:
// `label` is NULL or readable up to its NUL or bound; `job` is NULL or writable; calling
// `function` with `argument` on another thread is sound.
int32_t crew_run(struct crew_lease lease,
                 uint32_t role,
                 const char *label,
                 crew_function function,
                 void *argument,
                 struct crew_job *job);

// Waits at most timeout_ms for the job's end and takes its result; the job's handle is stale then.
// When the last job of a released lease has been joined, the next crew_acquire gets the set.
// Do not join a job from itself: that waits for the whole time.
//
// CREW_TIMED_OUT (the job goes on, join again), CREW_BUSY (another thread is joining it),
// CREW_STALE (joined or detached before), CREW_BAD_HANDLE, CREW_BAD_SIZE.
//
// Pointers:
// `result` is NULL (the result is dropped) or valid.
int32_t crew_join(struct crew_job job, uint32_t timeout_ms, struct crew_result *result);

// No caller will ask for the job's result: a failure is logged instead. The handle is stale then.
//
// CREW_BUSY (another thread is joining it), CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_detach(struct crew_job job);

// A pool's figures. Looks at each of its threads: a suspended one retires its set.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `usage` is NULL or valid.
int32_t crew_pool_usage(struct crew_pool pool, struct crew_usage *usage);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* Initialisers of the structs that begin with their size; the rest is 0. */
#define CREW_POOL_OPTIONS_INIT \
    { (uint32_t)sizeof(crew_pool_options), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_REFUSAL_INIT { (uint32_t)sizeof(crew_refusal), 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_RESULT_INIT { (uint32_t)sizeof(crew_result), 0, 0 }
#define CREW_USAGE_INIT \
    { (uint32_t)sizeof(crew_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 } }

#endif /* CREW_POOL_H */
