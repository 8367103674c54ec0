/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from src/ffi by cbindgen. Change it there, then: make header. */

/*
 * Crew: who may run, on which threads, in which memory, inside one IOC.
 *
 * This header has what all services share: the process with its port, its account and its report,
 * and the worker loop. It includes the header of each service.
 *
 * A pool lends whole sets of persistent threads (crew_pool.h). A connection acquires a set, runs a
 * job on each of its members, and releases it:
 *
 *     crew_lease lease;
 *     crew_refusal why = CREW_REFUSAL_INIT;
 *     int32_t status = crew_acquire(pool, 0, &lease, &why);
 *     if (status != CREW_OK) { tell the client; return; }
 *     crew_run(lease, READER, "read", reader, connection, &job);
 *     ...
 *     crew_release(lease);
 *
 * A fleet is a table of limited things that the processes of a machine share (crew_fleet.h; its
 * shared memory is in crew_fleet_shm.h).
 *
 * CONVENTIONS, for every function unless it says otherwise
 *
 * Statuses.    Functions return an int32_t status: CREW_OK (0), a refusal (1 to 19: a result, the
 *              caller decides), an answer (20 to 39: what was found instead), or a caller's error
 *              (40 and up); a fleet's own are answers (100 to 119) and errors (120 and up). Numbers
 *              are never reused. On any status but CREW_OK nothing was changed.
 * Arguments.   Out-parameters come last and are written only on CREW_OK (a crew_refusal: only when
 *              refused). A NULL where none is allowed is CREW_NULL_ARGUMENT. Structs begin with
 *              their size; initialise them with their INIT macro. A size that this library does not
 *              know is CREW_BAD_SIZE.
 * Handles.     Pools, leases, jobs, charges and fleets are 64-bit values, passed and copied by
 *              value. All zeros is never valid. A handle whose object has ended is CREW_STALE for
 *              ever (until 2^29 later lives of the same slot; a fleet's: 2^20); what never was a
 *              handle of that kind is CREW_BAD_HANDLE. Nothing is read through a handle.
 * Text.        NUL-terminated, printable ASCII, within the bound that the function names; no more
 *              than the bound is read. Text is copied; the caller keeps its own.
 * Threads.     Every function may be called from any thread at any time, also from jobs, except
 *              where BOOT ONLY is said: call those from the thread that starts the process up. None
 *              may be called from an interrupt or a signal handler.
 * Blocking.    Only crew_acquire, crew_join, crew_fleet_wait, crew_fleet_wait_any (each with a
 *              time-out), crew_pool_close, crew_pool_trim and a growth that has to undo itself
 *              wait, each with a bound. No function spins on, or takes a lock of, another thread.
 * Memory.      crew_run, crew_join, crew_release, acquiring an idle set, and every crew_fleet_...
 *              call allocate nothing, ever. Only growth (crew_pool_open with prestart, crew_acquire
 *              when no set is idle, crew_seal) makes threads. Nothing is allocated by the library
 *              itself; its tables are static, their sizes are below.
 * Cancellation. No Rust frame is live while a job runs or a worker waits: a job may end its thread
 *              (pthread_exit, cancellation, task deletion) and loses nothing but its set. The calls
 *              into this library themselves must not be cancelled half way: csrc/worker.c disables
 *              cancellation around its own; other callers that may be cancelled do the same.
 * Processes.   Crew is of one process. A child that was forked has the tables and none of their
 *              threads: it may exec or end, and must call no function of this library. The parent
 *              goes on as before. (A fleet is shared by processes, and each joins it for itself.)
 * Time.        Milliseconds, unsigned; 0 never waits. Ages are seconds.
 */
#ifndef CREW_H
#define CREW_H

#include <stddef.h>
#include <stdint.h>
/* Pools open at one time.
 * Set by CREW_MAX_POOLS when the library is built (1 to 64). */
#define CREW_MAX_POOLS 8
/* Sets of all pools together.
 * Set by CREW_MAX_SETS when the library is built (1 to 1024). */
#define CREW_MAX_SETS 256
/* Workers (threads) of all pools together.
 * Set by CREW_MAX_WORKERS when the library is built (1 to 8192). */
#define CREW_MAX_WORKERS 768
/* Threads waiting in acquire and close at one time.
 * Set by CREW_MAX_WAITERS when the library is built (1 to 256). */
#define CREW_MAX_WAITERS 32
/* Charges for fixed threads held at one time.
 * Set by CREW_MAX_CHARGES when the library is built (1 to 1024). */
#define CREW_MAX_CHARGES 64
/* Memberships in fleets' tables at one time.
 * Set by CREW_MAX_FLEETS when the library is built (1 to 16). */
#define CREW_MAX_FLEETS 4
/* Events of a port that Crew makes in the life of a process, at most.
 * A port that has to have them ready has so many. */
#define CREW_MAX_EVENTS (CREW_MAX_WORKERS * (1 + CREW_JOBS_PER_WORKER) + 2 * CREW_MAX_WAITERS + 4)


// Done.
#define CREW_OK 0

// Refused: all sets that the pool may have are busy. Raise the capacity, or accept it as the
// limit.
#define CREW_REFUSED_AT_CAPACITY 1

// Refused: the process' account has not that many bytes left. More memory and a larger budget.
#define CREW_REFUSED_OUT_OF_RESERVATION 2

// Refused: the target made no thread. Memory.
#define CREW_REFUSED_SPAWN_FAILED 3

// Refused: the target made no kernel object for now. Try again.
#define CREW_REFUSED_OBJECTS_EXHAUSTED 4

// Refused: the pool is being closed.
#define CREW_REFUSED_SHUTTING_DOWN 5

// Refused: this peer has as many sets as one peer may.
#define CREW_REFUSED_PEER_LIMIT 6

// Refused: the target has not that much memory in one piece just now, whatever the account says.
#define CREW_REFUSED_TARGET_MEMORY 7

// Refused: no set is idle, and after crew_seal none is made. A larger keep or prestart.
#define CREW_REFUSED_SEALED 8

// Refused: CREW_MAX_WAITERS threads wait already.
#define CREW_REFUSED_TOO_MANY_WAITERS 9

// It had not happened within the time.
#define CREW_TIMED_OUT 20

// The job was not run and will not be: its set was retired or its worker is gone.
#define CREW_NOT_RUN 21

// Another caller is at it: the worker has a job, another thread is joining the job, another
// administrative call is under way, or every unit of a resource is taken.
#define CREW_BUSY 22

// The handle's object has ended.
#define CREW_STALE 23

// The set died under this lease. There is nothing left to use or to give back.
#define CREW_RETIRED 24

// Two earlier joinable jobs of this worker have been neither joined nor detached.
#define CREW_NO_JOB_CELL 25

// A NULL where none is allowed.
#define CREW_NULL_ARGUMENT 40

// A struct's size is none that this library knows. Use the INIT macro of the same header.
#define CREW_BAD_SIZE 41

// Not a handle of this kind.
#define CREW_BAD_HANDLE 42

// The roster has no such role.
#define CREW_BAD_ROLE 43

// A text is empty, does not end within its bound, or is not printable ASCII.
#define CREW_BAD_TEXT 44

// A priority is above CREW_PRIORITY_MAX.
#define CREW_BAD_PRIORITY 45

// A stack is below CREW_STACK_MIN or above CREW_STACK_MAX.
#define CREW_BAD_STACK 46

// A capacity is 0 or above CREW_MAX_SETS (of a fleet's resource: above 65,535), or prestart or
// keep are above it.
#define CREW_BAD_CAPACITY 47

// A roster has more than CREW_MAX_ROLES roles, or neither roles nor bytes.
#define CREW_BAD_ROSTER 48

// A budget's text is no positive whole number of MiB.
#define CREW_BAD_BUDGET 49

// A port lacks a function that it must have, or names an unknown target; or none was given, and
// this library has none built in.
#define CREW_BAD_PORT 50

// crew_boot comes first.
#define CREW_NOT_BOOTED 51

// crew_boot was called before.
#define CREW_ALREADY_BOOTED 52

// crew_seal was called before; nothing is opened after it.
#define CREW_ALREADY_SEALED 53

// This build's tables (CREW_MAX_POOLS, _SETS, _WORKERS, _CHARGES, _FLEETS) have no room left.
#define CREW_TABLE_FULL 54

// A flag that this library does not know, or a reserved field that is not 0.
#define CREW_BAD_FLAGS 55

// A number out of its bounds: of bytes, a peer key of 0, a node, a choice.
#define CREW_BAD_VALUE 56

// The resource takes no new leases.
#define CREW_FLEET_DRAINING 100

// The lease is not pending: accepted before, or too old.
#define CREW_FLEET_NOT_RESERVED 101

// The node has as many resources as the geometry allows.
#define CREW_FLEET_FULL 102

// As many keys were used as the geometry has. crew_fleet_reset, or a larger geometry.
#define CREW_FLEET_KEY_TABLE_FULL 103

// As many leases of the node are at work as the geometry allows; the lease stays reserved.
#define CREW_FLEET_TOO_MANY_EXECUTIONS 104

// As many resources live or are being created under the key as may.
#define CREW_FLEET_BUDGET_SPENT 105

// Every node of the table, or the one that was asked for, is taken.
#define CREW_FLEET_NO_LANE 106

// Too many processes have joined since the last reset. crew_fleet_reset.
#define CREW_FLEET_NO_MORE_LIVES 107

// This node's life was ended by a report or sweep. Leave and join again.
#define CREW_FLEET_LIFE_ENDED 108

// The node that was reported dead is alive.
#define CREW_FLEET_ALIVE 109

// The table is being reset. Try again.
#define CREW_FLEET_RESETTING 110

// The table was reset meanwhile; nothing was done. Look again.
#define CREW_FLEET_WAS_RESET 111

// Another one was faster. Look again.
#define CREW_FLEET_LOST_RACE 112

// The system refused shared memory, a descriptor or a thread; errno says why.
#define CREW_FLEET_SYSTEM 113

// Only the resource's owner may.
#define CREW_FLEET_NOT_OWNER 120

// A number of a geometry is out of its bounds.
#define CREW_FLEET_BAD_GEOMETRY 121

// The memory is smaller than such a table.
#define CREW_FLEET_TOO_SMALL 122

// The memory holds something else than a table.
#define CREW_FLEET_NOT_A_TABLE 123

// A table of a processor of the other byte order.
#define CREW_FLEET_OTHER_BYTE_ORDER 124

// A table of another version of Crew.
#define CREW_FLEET_OTHER_VERSION 125

// A table with other numbers than these.
#define CREW_FLEET_OTHER_GEOMETRY 126

// A writer that is not Crew has changed the table.
#define CREW_FLEET_CORRUPT 127

// A host with virtual memory: Linux. Default budget: none.
#define CREW_TARGET_HOST 0

// RTEMS. Default budget: 160 MiB.
#define CREW_TARGET_RTEMS 1

// A VxWorks real-time process. Default budget: 160 MiB (a guest of about 958 MB died at about 230
// MiB).
#define CREW_TARGET_VXWORKS 2

// A log line for the record.
#define CREW_SEVERITY_INFO 0

// A log line worth a look.
#define CREW_SEVERITY_MINOR 1

// A log line about something lost or limited.
#define CREW_SEVERITY_MAJOR 2

// The most bytes read of a budget's text, its NUL included.
#define CREW_TEXT_BYTES 128

// No budget was asked for.
#define CREW_VERDICT_UNBOUNDED 0

// The target has the budget.
#define CREW_VERDICT_CONFIRMED 1

// The target had less; what it confirmed was adopted.
#define CREW_VERDICT_CLAMPED 2

// Nothing on this target can tell.
#define CREW_VERDICT_UNVERIFIABLE 3

// The target refused even 8 MiB, which were adopted all the same.
#define CREW_VERDICT_FLOOR_HELD 4

// Call function(argument), then crew_worker_done.
#define CREW_WORK_RUN 0

// Wait for the event, at most timeout_ms, then ask again.
#define CREW_WORK_WAIT 1

// End the thread.
#define CREW_WORK_STOP 2

// What a thread shall be.
typedef struct crew_thread_spec {
    // Its name, shorter than CREW_NAME_BYTES. Valid during the call only.
    const char *name;
    // Its stack in bytes, CREW_STACK_MIN to CREW_STACK_MAX.
    uint32_t stack_bytes;
    // 0 (lowest) to CREW_PRIORITY_MAX, on EPICS' scale.
    uint32_t priority;
    // What the thread passes to the worker loop (crew_worker.h).
    uint32_t worker;
} crew_thread_spec;

// A place for one thread to wait. Lives in Crew's tables as long as the process: a port makes its
// object once and never destroys it.
typedef struct crew_event {
    // The port's own; access it with atomic operations (a futex, for example). Begins as 0.
    uint32_t word;
    // Crew's own.
    uint32_t crew_private;
    // The port's own object. Begins as NULL.
    void *object;
} crew_event;

// What a target must offer: a table of functions. Must live as long as the process. Functions may
// be called from any thread. None may call back into Crew or block, except event_wait: not for
// another thread's end, not for the reader of a log. Those that may be NULL say so.
typedef struct crew_port {
    // sizeof(crew_port)
    uint32_t size;
    // One of CREW_TARGET_...
    uint32_t target;
    // What one thread costs beyond its declared stack, in bytes, when this port makes it. C
    // threads: 0 on every target known.
    size_t thread_overhead_bytes;
    // Passed to every function as its first argument; the port's own.
    void *context;
    // Makes a thread that runs the worker loop for spec->worker, and stores in *thread the number
    // that names it to this port. Returns 0, or the system's error number and leaves nothing
    // behind.
    int32_t (*thread_create)(void *context, const struct crew_thread_spec *spec, size_t *thread);
    // Called once the thread's exit hook has begun: joins it if it has ended. 1: it is gone, its
    // stack included. 0: not yet, ask again: thread-specific destructors of others may still run
    // for as long as they take. A port whose system has only a join that waits lends the thread
    // the caller's priority while it does.
    int32_t (*thread_reap)(void *context, size_t thread);
    // 1: the thread was suspended by its system and will not return. May be NULL.
    int32_t (*thread_suspended)(void *context, size_t thread);
    // Makes what the event needs. Once per event, for CREW_MAX_EVENTS events at most in the life
    // of the process. Returns 0, or the system's error number; it may be asked again later.
    int32_t (*event_create)(void *context, struct crew_event *event);
    // Waits until the event is posted, and takes the post (1), or until the time is over (0). May
    // return early with 0.
    int32_t (*event_wait)(void *context, struct crew_event *event, uint32_t timeout_ms);
    // Posts the event; posts may coalesce.
    void (*event_post)(void *context, struct crew_event *event);
    // Milliseconds of a clock that never goes back.
    uint64_t (*clock_ms)(void *context);
    // Whether the target has that many bytes in one piece for thread stacks right now: 1 yes, 0
    // no, -1 cannot tell. On 0, *basis is static text that says what refused and reads well after
    // "the target". A stack that comes free only when the next thread is made (RTEMS) is freed
    // before the answer. Must be cheap and must not allocate: it is asked for each thread of a
    // growth.
    int32_t (*memory_has)(void *context, size_t bytes, const char **basis);
    // The most stack the thread has used so far in bytes; 0: cannot tell. May be NULL.
    size_t (*stack_used)(void *context, size_t thread);
    // Says one line (no newline in it) to the operator. Must not allocate after boot, nor wait: a
    // line that would have to wait is queued, or lost and counted.
    void (*log)(void *context, int32_t severity, const char *text);
} crew_port;

// What crew_boot needs. Initialise with CREW_BOOT_OPTIONS_INIT.
typedef struct crew_boot_options {
    // sizeof(crew_boot_options)
    uint32_t size;
    // The budget asked for in MiB; 0: the target's default (none on a host, 160 MiB elsewhere).
    uint32_t budget_mib;
    // NULL, or an operator's text instead of budget_mib (on hosts by convention the environment
    // variable CREW_BUDGET_MIB). A text that is no positive whole number is ignored with a log
    // line, and the default stands.
    const char *budget_text;
    // Where threads, events and answers come from. Must live as long as the process. NULL: the
    // port that this library was built with (its `std` feature), else CREW_BAD_PORT.
    const struct crew_port *port;
} crew_boot_options;

// The memory of a fixed thread on the account.
typedef struct crew_charge_handle {
    // Crew's own.
    uint64_t bits;
} crew_charge_handle;

// The account's figures. Initialise with CREW_ACCOUNT_INIT.
typedef struct crew_account {
    // sizeof(crew_account)
    uint32_t size;
    // One of CREW_VERDICT_...
    uint32_t verdict;
    // The budget in bytes; UINT64_MAX: no limit.
    uint64_t budget_bytes;
    // The budget that was asked for in bytes; UINT64_MAX: no limit.
    uint64_t asked_bytes;
    // Bytes held now.
    uint64_t held_bytes;
    // The most that was ever held.
    uint64_t high_water_bytes;
    // Of the bytes held now, those of fixed threads.
    uint64_t fixed_bytes;
    // How often the account refused a set; wraps.
    uint32_t refusals;
    // Charges held now.
    uint32_t charges;
} crew_account;

// Takes one line of a report, without newline. Must return; may be called many times.
typedef void (*crew_sink)(void *context, const char *line);

// What a worker runs: called once with the argument given to crew_run, on the worker's thread. It
// may do anything that a thread of the system may, end its thread included (that retires the set).
typedef int32_t (*crew_function)(void *argument);

// What a worker shall do now.
typedef struct crew_work {
    // CREW_WORK_RUN: the job.
    crew_function function;
    // CREW_WORK_RUN: its argument.
    void *argument;
    // CREW_WORK_WAIT: the worker's own event.
    struct crew_event *event;
    // CREW_WORK_WAIT: the bound, in ms.
    uint32_t wait_ms;
} crew_work;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// One line for a status, in English, static, never NULL.
const char *crew_status_text(int32_t status);

// An errno for callers that only pass errors on; 0 for CREW_OK. EAGAIN for what may pass, EPIPE
// for what has ended, EBUSY, EINVAL for a caller's error. Several statuses share a number: a
// caller that must tell them apart looks at the status. CREW_REFUSED_SPAWN_FAILED is EAGAIN here;
// its own number is in the refusal (crew_refusal_errno).
int32_t crew_status_errno(int32_t status);

// Opens the account, asks the target whether it has the budget, and logs the answer: the budget is
// a ceiling that the target confirms, clamps (halving, not below 8 MiB), or cannot tell. BOOT
// ONLY, once, before everything else.
//
// CREW_ALREADY_BOOTED, CREW_BUSY (another thread boots), CREW_BAD_SIZE, CREW_BAD_PORT,
// CREW_REFUSED_OBJECTS_EXHAUSTED (the target made no event; try again).
//
// Pointers:
// `options` is NULL or valid, and what it points to is as its fields say.
int32_t crew_boot(const struct crew_boot_options *options);

// Makes sets until every pool has as many as it keeps, then forbids growth and new pools: from
// here on Crew touches no heap and makes no thread (a growth that another thread has begun is
// finished). A pool that must serve all its connections after the seal is opened with keep or
// prestart equal to its capacity. BOOT ONLY, after the last pool.
//
// CREW_NOT_BOOTED, CREW_ALREADY_SEALED, CREW_BUSY, or the refusal of a set that could not be made;
// nothing is sealed then.
int32_t crew_seal(void);

// Reads an operator's budget: a positive whole number of MiB, blanks around it allowed. At most
// CREW_TEXT_BYTES are read.
//
// CREW_NULL_ARGUMENT, CREW_BAD_TEXT (no end), CREW_BAD_BUDGET.
//
// Pointers:
// `text` is NULL or readable up to its NUL or bound; `mib` is NULL or writable.
int32_t crew_budget_parse(const char *text, uint32_t *mib);

// Puts the memory of a fixed thread (a scan band, an acceptor) on the account until crew_uncharge.
// The budget does not refuse it: the bytes held may pass the budget, and sets are refused the
// sooner.
//
// CREW_NOT_BOOTED, CREW_NULL_ARGUMENT, CREW_BAD_VALUE (0, or more than an address space holds),
// CREW_TABLE_FULL (CREW_MAX_CHARGES).
//
// Pointers:
// `charge` is NULL or writable.
int32_t crew_charge(uint64_t bytes, struct crew_charge_handle *charge);

// The fixed thread has ended: its bytes go back, once.
//
// CREW_STALE (taken back before), CREW_BAD_HANDLE.
int32_t crew_uncharge(struct crew_charge_handle charge);

// The account's figures.
//
// CREW_NOT_BOOTED, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `usage` is NULL or valid.
int32_t crew_account_usage(struct crew_account *usage);

// Prints the holders, what each holds and since when, and the refusals with their reasons. Level
// 0: a line for the account and one for each pool. 1: roles, stacks and refusals by kind too. 2
// and above: every busy set.
//
// CREW_NULL_ARGUMENT (sink).
//
// Pointers:
// Calling `sink` with `context` is sound.
int32_t crew_report(uint32_t level, crew_sink sink, void *context);

// What the worker shall do now: one of CREW_WORK_... For the loop in csrc/worker.c only, on the
// worker's own thread. Never blocks, never calls back. A number that is no worker's, or a NULL, is
// CREW_WORK_STOP.
//
// Pointers:
// `work` is NULL or writable.
int32_t crew_worker_next(uint32_t worker, struct crew_work *work);

// The job that crew_worker_next gave has ended: outcome CREW_JOB_RETURNED or CREW_JOB_FAILED. For
// the loop in csrc/worker.c only, on the worker's own thread. Never blocks.
void crew_worker_done(uint32_t worker, int32_t outcome, int32_t value);

// The worker's thread ends, for whatever reason. From the thread-exit hook in csrc/worker.c only,
// once, on the worker's own thread, as the last thing that the thread has to do with Crew.
void crew_worker_exited(uint32_t worker);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* Initialisers of the structs that begin with their size; the rest is 0. */
#define CREW_BOOT_OPTIONS_INIT { (uint32_t)sizeof(crew_boot_options), 0, NULL, NULL }
#define CREW_ACCOUNT_INIT { (uint32_t)sizeof(crew_account), 0, 0, 0, 0, 0, 0, 0, 0 }

#include "crew_pool.h"
#include "crew_fleet.h"

#endif /* CREW_H */
