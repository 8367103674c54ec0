/* SPDX-License-Identifier: MIT OR Apache-2.0 */

/*
 * Crew: who may run, on which threads, in which memory, inside one IOC.
 *
 * A pool lends whole sets of persistent threads. A connection acquires a set, runs a job on each of
 * its members, and releases it:
 *
 *     crew_lease lease;
 *     crew_refusal why = CREW_REFUSAL_INIT;
 *     int32_t status = crew_acquire(pool, 0, &lease, &why);
 *     if (status != CREW_OK) { tell the client; return; }
 *     crew_run(lease, READER, "read", reader, connection, &job);
 *     ...
 *     crew_release(lease);
 *
 * A fleet is a table of limited things that the processes of a machine share (crew_fleet_...; the
 * policies' loop is in csrc/crew_fleet.h, the shared memory in csrc/crew_fleet_shm.h).
 *
 * CONVENTIONS, for every function unless it says otherwise
 *
 * Statuses.    Functions return an int32_t status: CREW_OK (0), a refusal (1 to 19: a result, the
 *              caller decides), an answer (20 to 39: what was found instead), or a caller's error
 *              (40 and up); a fleet's own are answers (100 to 119) and errors (120 and up). Numbers
 *              are never reused. On any status but CREW_OK nothing was changed.
 * Arguments.   Out-parameters come last and are written only on CREW_OK (a crew_refusal: only when
 *              refused). A NULL where none is allowed is CREW_NULL_ARGUMENT. Structs begin with their
 *              size; initialise them with their INIT macro, a size this library does not know is
 *              CREW_BAD_SIZE.
 * Handles.     Pools, leases, jobs, charges and fleets are 64-bit values, passed and copied by value.
 *              All zeros is never valid. A handle whose object has ended is CREW_STALE for ever (until
 *              2^29 later lives of the same slot; a fleet's: 2^20); what never was a handle of that
 *              kind is CREW_BAD_HANDLE. Nothing is read through a handle.
 * Text.        NUL-terminated, printable ASCII, within the bound that the function names; no more
 *              than the bound is read. Text is copied; the caller keeps its own.
 * Threads.     Every function may be called from any thread at any time, also from jobs, except
 *              where BOOT ONLY is said: call those from the thread that starts the process up. None
 *              may be called from an interrupt or a signal handler.
 * Blocking.    Only crew_acquire, crew_join, crew_fleet_wait, crew_fleet_wait_any (each with a
 *              time-out), crew_pool_close, crew_pool_trim and a growth that has to undo itself wait,
 *              each in a wait with a bound. No function spins on, or takes a lock of, another thread.
 * Memory.      crew_run, crew_join, crew_release, acquiring an idle set, and every crew_fleet_... call
 *              allocate nothing, ever. Only growth (crew_pool_open with prestart, crew_acquire when no set is idle,
 *              crew_seal) makes threads. Nothing is allocated by the library itself; its tables are
 *              static, their sizes are below.
 * Cancellation. No Rust frame is live while a job runs or a worker waits: a job may end its thread
 *              (pthread_exit, cancellation, task deletion) and loses nothing but its set. The calls
 *              into this library themselves must not be cancelled half way: csrc/worker.c disables
 *              cancellation around its own; other callers that may be cancelled do the same.
 * Time.        Milliseconds, unsigned; 0 never waits. Ages are seconds.
 */


#ifndef CREW_H
#define CREW_H

/* Generated from src/ffi by cbindgen. Change it there, then: make header. */

#include <stddef.h>
#include <stdint.h>
/** Pools open at one time. Set by CREW_MAX_POOLS when the library is built (1 to 64). */
#define CREW_MAX_POOLS 8
/** Sets of all pools together. Set by CREW_MAX_SETS when the library is built (1 to 1024). */
#define CREW_MAX_SETS 256
/** Workers (threads) of all pools together. Set by CREW_MAX_WORKERS when the library is built (1 to 8192). */
#define CREW_MAX_WORKERS 768
/** Threads waiting in acquire and close at one time. Set by CREW_MAX_WAITERS when the library is built (1 to 256). */
#define CREW_MAX_WAITERS 32
/** Charges for fixed threads held at one time. Set by CREW_MAX_CHARGES when the library is built (1 to 1024). */
#define CREW_MAX_CHARGES 64
/** Memberships in fleets' tables at one time. Set by CREW_MAX_FLEETS when the library is built (1 to 16). */
#define CREW_MAX_FLEETS 4


// Done.
#define CREW_OK 0

// Refused: all sets that the pool may have are busy. Raise the capacity, or accept it as the limit.
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

// Somebody else is at it: the worker has a job, another thread is joining the job, another
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

// A capacity is 0 or above CREW_MAX_SETS (of a fleet's resource: above 65,535), or prestart or keep are
// above it.
#define CREW_BAD_CAPACITY 47

// A roster has more than CREW_MAX_ROLES roles, or neither roles nor bytes.
#define CREW_BAD_ROSTER 48

// A budget's text is no positive whole number of MiB.
#define CREW_BAD_BUDGET 49

// A port lacks a function that it must have, or names an unknown target; or none was given, and this
// library has none built in.
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

// Somebody writes into the table who should not.
#define CREW_FLEET_CORRUPT 127

// A host with virtual memory: Linux. Default budget: none.
#define CREW_TARGET_HOST 0

// RTEMS. Default budget: 160 MiB.
#define CREW_TARGET_RTEMS 1

// A VxWorks real-time process. Default budget: 160 MiB (a guest of about 958 MB died at about 230 MiB).
#define CREW_TARGET_VXWORKS 2

// A log line for the record.
#define CREW_SEVERITY_INFO 0

// A log line worth a look.
#define CREW_SEVERITY_MINOR 1

// A log line about something lost or limited.
#define CREW_SEVERITY_MAJOR 2

// The most bytes read of a budget's text, its NUL included.
#define CREW_TEXT_BYTES 128

// Roles of one roster, at most.
#define CREW_MAX_ROLES 8

// Bytes of a pool's or role's name, its NUL included: what Linux and RTEMS keep of a thread's name.
#define CREW_NAME_BYTES 16

// The highest priority; 0 is the lowest. EPICS' scale.
#define CREW_PRIORITY_MAX 99

// The smallest stack in bytes.
#define CREW_STACK_MIN 4096

// The largest stack in bytes: 1 GiB.
#define CREW_STACK_MAX 1073741824

// Joinable jobs of one worker whose results nobody has taken yet, at most.
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

// One more than the highest number of a refusal.
#define CREW_REFUSAL_KINDS 16

// Call function(argument), then crew_worker_done.
#define CREW_WORK_RUN 0

// Wait for the event, at most timeout_ms, then ask again.
#define CREW_WORK_WAIT 1

// End the thread.
#define CREW_WORK_STOP 2

// crew_fleet_port.look: nobody holds the lane.
#define CREW_HOLD_FREE 0

// crew_fleet_port.look: a living process holds the lane.
#define CREW_HOLD_HELD 1

// crew_fleet_port.look: this target cannot tell. Deaths are reported with crew_fleet_node_dead then.
#define CREW_HOLD_UNKNOWN 2

// crew_fleet_options.node: any node that is free.
#define CREW_FLEET_ANY_NODE 4294967295

// The policy chose a candidate.
#define CREW_CHOICE_REUSE 1

// The policy chose to create a resource.
#define CREW_CHOICE_CREATE 2

// Nothing now; something may come.
#define CREW_CHOICE_WAIT 3

// Nothing, for a reason of the policy's own.
#define CREW_CHOICE_REJECT 4

// A reuse of a resource of this node's own: the plan's lease holds its reservation.
#define CREW_PLAN_LOCAL_REUSE 1

// A reuse of another node's: the plan's lease holds its reservation.
#define CREW_PLAN_REMOTE_REUSE 2

// Create a resource: the plan's permit is claimed.
#define CREW_PLAN_CREATE 3

// Wait until the key's count is no longer the plan's version (crew_fleet_wait).
#define CREW_PLAN_WAIT 4

// The policy said no: the plan's reason.
#define CREW_PLAN_REJECT 5

// Bytes of a resource's text, its NUL included: "63.1023.65535.1073741823".
#define CREW_RESOURCE_TEXT_BYTES 25

// What a thread shall be.
typedef struct crew_thread_spec {
    // Its name, shorter than CREW_NAME_BYTES. Valid during the call only.
    const char *name;
    // Its stack in bytes, CREW_STACK_MIN to CREW_STACK_MAX.
    uint32_t stack_bytes;
    // 0 (lowest) to CREW_PRIORITY_MAX, on EPICS' scale.
    uint32_t priority;
    // What the thread passes to the worker loop (csrc/crew_worker.h).
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
// be called from any thread. None may call back into Crew or block, except event_wait. Those that
// may be NULL say so.
typedef struct crew_port {
    // sizeof(crew_port)
    uint32_t size;
    // One of CREW_TARGET_...
    uint32_t target;
    // What one thread costs beyond its declared stack, in bytes, when this port makes it. C threads:
    // 0 on every target known.
    size_t thread_overhead_bytes;
    // Passed to every function as its first argument; the port's own.
    void *context;
    // Makes a thread that runs the worker loop for spec->worker, and stores in *thread the number
    // that names it to this port. Returns 0, or the system's error number and leaves nothing behind.
    int32_t (*thread_create)(void *context, const struct crew_thread_spec *spec, size_t *thread);
    // Called once the thread's exit hook has begun: joins it. 1: it is gone, its stack included.
    // 0: not yet, ask again. A port that can only wait for the thread's last instructions lends it
    // the caller's priority while it does.
    int32_t (*thread_reap)(void *context, size_t thread);
    // 1: the thread was suspended by its system and will not return. May be NULL.
    int32_t (*thread_suspended)(void *context, size_t thread);
    // Makes what the event needs. Once per event. Returns 0, or the system's error number; it may
    // be asked again later.
    int32_t (*event_create)(void *context, struct crew_event *event);
    // Waits until the event is posted, and takes the post (1), or until the time is over (0). May
    // return early with 0.
    int32_t (*event_wait)(void *context, struct crew_event *event, uint32_t timeout_ms);
    // Posts the event; posts may coalesce.
    void (*event_post)(void *context, struct crew_event *event);
    // Milliseconds of a clock that never goes back.
    uint64_t (*clock_ms)(void *context);
    // Whether the target has that many bytes in one piece for thread stacks right now: 1 yes, 0 no,
    // -1 cannot tell. On 0, *basis is static text that says what refused and reads well after "the
    // target". A stack that comes free only when the next thread is made (RTEMS) is freed before the
    // answer. Must be cheap and must not allocate: it is asked for each thread of a growth.
    int32_t (*memory_has)(void *context, size_t bytes, const char **basis);
    // The most stack the thread has used so far in bytes; 0: cannot tell. May be NULL.
    size_t (*stack_used)(void *context, size_t thread);
    // Says one line (no newline in it) to the operator. Must not allocate after boot.
    void (*log)(void *context, int32_t severity, const char *text);
} crew_port;

// What crew_boot needs. Initialise with CREW_BOOT_OPTIONS_INIT.
typedef struct crew_boot_options {
    // sizeof(crew_boot_options)
    uint32_t size;
    // The budget asked for in MiB; 0: the target's default (none on a host, 160 MiB elsewhere).
    uint32_t budget_mib;
    // NULL, or an operator's text instead of budget_mib (on hosts by convention the environment
    // variable CREW_BUDGET_MIB). What is no positive whole number is ignored with a log line, and
    // the default stands.
    const char *budget_text;
    // Where threads, events and answers come from. Must live as long as the process. NULL: the port
    // that this library was built with (its `std` feature), else CREW_BAD_PORT.
    const struct crew_port *port;
} crew_boot_options;

// One role of a roster: what a member of a set is for.
typedef struct crew_role {
    // 1 to CREW_NAME_BYTES - 1 printable characters without blanks.
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
    // 1 to CREW_NAME_BYTES - 1 printable characters without blanks.
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
    // Idle sets above keep are given back after having been idle this long, in seconds (it may take
    // up to twice as long). 0: never.
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

// Why there is no set. Initialise with CREW_REFUSAL_INIT. Fields that do not belong to the kind are 0.
typedef struct crew_refusal {
    // sizeof(crew_refusal)
    uint32_t size;
    // One of CREW_REFUSED_..., the same as the status.
    int32_t kind;
    // AT_CAPACITY: the capacity in sets. PEER_LIMIT: the limit in sets. TOO_MANY_WAITERS: the bound.
    uint32_t capacity;
    // SPAWN_FAILED: which role's thread.
    uint32_t role;
    // SPAWN_FAILED: the system's error number; 0: the thread was made and ended before it was ready.
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

// What a worker runs: called once with the argument given to crew_run, on the worker's thread. It
// may do anything that a thread of the system may, end its thread included (that retires the set).
typedef int32_t (*crew_function)(void *argument);

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

// A pool's figures. Initialise with CREW_USAGE_INIT. Each is exact; together they are exact only
// while nothing changes.
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
    // Threads that wait in crew_acquire.
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
    // Sets busy for longer than busy_age_s.
    uint32_t overdue;
    // Seconds since the longest busy set was leased; 0: none is busy for a second yet.
    uint32_t oldest_busy_s;
    // Refusals so far; the index is the kind (CREW_REFUSED_...).
    uint32_t refused[CREW_REFUSAL_KINDS];
    // The most stack that a thread of each role was seen to use, in bytes; 0: not known.
    uint32_t stack_used[CREW_MAX_ROLES];
} crew_usage;

// Takes one line of a report, without newline. Must return; may be called many times.
typedef void (*crew_sink)(void *context, const char *line);

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

// What one table holds at most. All its processes bring the same numbers, or are refused. Initialise
// with CREW_FLEET_GEOMETRY_INIT: kind 1, 16 nodes, 64 resources, 256 executions, 64 keys.
typedef struct crew_fleet_geometry {
    // sizeof(crew_fleet_geometry)
    uint32_t size;
    // What the table is for, 1 to 63: tells its ids from another table's.
    uint32_t kind;
    // Processes at one time, 1 to 1,024.
    uint32_t nodes;
    // Resources of one node, a power of two up to 65,536.
    uint32_t resources;
    // Leases of one node's resources at work at one time, a power of two up to 65,536.
    uint32_t executions;
    // Keys, a power of two up to 1,048,576. They are used up until crew_fleet_reset.
    uint32_t keys;
} crew_fleet_geometry;

// What a table needs from its target. csrc/crew_fleet_shm.h has the one for shared memory, and NULL in
// the options is the one for the memory of one image. None of its functions may be NULL, call back into
// Crew, or block, except wait.
typedef struct crew_fleet_port {
    // sizeof(crew_fleet_port)
    uint32_t size;
    // Passed to every function as its first argument; the port's own.
    void *context;
    // Takes the lane if nobody has it, at once: 1, else 0. What holds it goes away with the process,
    // however that ends.
    int32_t (*hold)(void *context, uint32_t node);
    // Gives the lane back.
    void (*let_go)(void *context, uint32_t node);
    // Whether some process has the lane: CREW_HOLD_...
    int32_t (*look)(void *context, uint32_t node);
    // Milliseconds of a clock that never goes back, and that counts from the same instant for all
    // processes that share the table. It may wrap.
    uint32_t (*clock_ms)(void *context);
    // Sleeps while the word has this value, at most timeout_ms; it may return early: 1. 0: as many
    // threads wait already as can. The word is read by atomic operations.
    int32_t (*wait)(void *context, uint32_t *word, uint32_t value, uint32_t timeout_ms);
    // Wakes everybody who waits for this word, in all processes.
    void (*wake)(void *context, uint32_t *word);
} crew_fleet_port;

// How to join a table. Initialise with CREW_FLEET_OPTIONS_INIT.
typedef struct crew_fleet_options {
    // sizeof(crew_fleet_options)
    uint32_t size;
    // CREW_FLEET_ANY_NODE, or the node to be, below geometry's nodes.
    uint32_t node;
    // Copied.
    const struct crew_fleet_geometry *geometry;
    // Where the table is: zeros, or a table of this geometry. It must stay until crew_fleet_leave has
    // said CREW_OK, in all that time written by nobody but Crew.
    uint32_t *memory;
    // Bytes of memory, at least what crew_fleet_bytes says.
    size_t bytes;
    // What tells who lives and how to wait. Must stay as long as memory. NULL: this image's own, for
    // a table in memory that no other process sees; all memberships in it must be made so. Its waits
    // are events of the port that crew_boot was given; the first join makes CREW_MAX_WAITERS of them.
    const struct crew_fleet_port *port;
    // NULL, or what reports call this node: up to CREW_NAME_BYTES - 1 printable characters. Copied.
    const char *name;
    // The system's number of this process, for reports.
    uint32_t process;
} crew_fleet_options;

// A membership of this process in one fleet's table.
typedef struct crew_fleet {
    // Crew's own.
    uint64_t bits;
} crew_fleet;

// Which life of which node's process.
typedef struct crew_life {
    // The node: a lane of the table.
    uint32_t node;
    // The life in it, from 1 up.
    uint32_t incarnation;
} crew_life;

// What a resource is usable for: a digest, the caller's. Equal keys mean interchangeable resources.
// Text of up to 16 printable characters may be its own digest: the first character in the lowest byte
// of `low`, zeros behind the last; reports show it as text then.
typedef struct crew_key {
    // The lower 64 bits, which must be spread well.
    uint64_t low;
    // The upper 64 bits.
    uint64_t high;
} crew_key;

// Names a registered resource, in any process of the fleet. Zero names nothing.
typedef struct crew_resource {
    // Prints with crew_resource_print; may be sent as it is.
    uint64_t bits;
} crew_resource;

// A resource under a key, as it was at one moment.
typedef struct crew_candidate {
    // Its name.
    struct crew_resource resource;
    // Who owns it.
    struct crew_life owner;
    // 1: this membership's own life does; else 0.
    uint32_t local;
    // 1: it takes no new leases; else 0.
    uint32_t draining;
    // Units in all.
    uint32_t capacity;
    // Units reserved, and not yet accepted.
    uint32_t reserved;
    // Units at work.
    uint32_t active;
    // Units that could be reserved: none while it drains.
    uint32_t free;
    // When it was reserved last, by the clock of the port; 0: never.
    uint32_t reserved_at_ms;
} crew_candidate;

// The right to ask a resource's owner to use it. A value that travels to the owner in whatever way
// the two speak.
typedef struct crew_fleet_lease {
    // What was reserved.
    struct crew_resource resource;
    // Strictly increasing for a resource: tells this reservation from every other one.
    uint64_t fence;
    // Who reserved it.
    struct crew_life holder;
} crew_fleet_lease;

// A unit at work.
typedef struct crew_execution {
    // Crew's own.
    uint64_t bits;
} crew_execution;

// What a reconciliation did.
typedef struct crew_reconciled {
    // Reservations that were too old, and are gone.
    uint32_t aged;
    // Units at work now.
    uint32_t active;
} crew_reconciled;

// The right to create one resource under a key.
typedef struct crew_permit {
    // Crew's own.
    uint64_t bits;
} crew_permit;

// What counts against a key's max_live.
typedef struct crew_key_budget {
    // Resources that live, and do not drain.
    uint32_t live;
    // Permits that have not ended.
    uint32_t creating;
} crew_key_budget;

// The bounds of one acquire. Initialise with CREW_FLEET_LIMITS_INIT.
typedef struct crew_fleet_limits {
    // sizeof(crew_fleet_limits)
    uint32_t size;
    // Resources under the key that may live or be created, in the whole fleet.
    uint32_t max_live;
    // How often a race that was lost is tried again from a fresh look, the first time included; 0 is 1.
    uint32_t attempts;
} crew_fleet_limits;

// What a policy looks at; it asks for more with crew_fleet_candidates and crew_fleet_budget.
typedef struct crew_fleet_view {
    // sizeof(crew_fleet_view)
    uint32_t size;
    // What the caller of acquire allows.
    uint32_t max_live;
    // The membership.
    struct crew_fleet fleet;
    // The key.
    struct crew_key key;
    // The key's count of changes before this look.
    uint32_t version;
    // Of the attempts, this one; the first is 0.
    uint32_t attempt;
} crew_fleet_view;

// What a policy chose. It is given with kind CREW_CHOICE_WAIT.
typedef struct crew_fleet_choice {
    // sizeof(crew_fleet_choice)
    uint32_t size;
    // CREW_CHOICE_...
    uint32_t kind;
    // CREW_CHOICE_REUSE: which.
    struct crew_resource resource;
    // CREW_CHOICE_REJECT: why, the policy's own.
    uint32_t reason;
} crew_fleet_choice;

// What an acquire got. Nothing in it is advice: a reuse holds its reservation, a creation its claim.
// Initialise with CREW_FLEET_PLAN_INIT.
typedef struct crew_fleet_plan {
    // sizeof(crew_fleet_plan)
    uint32_t size;
    // CREW_PLAN_...
    uint32_t kind;
    // CREW_PLAN_LOCAL_REUSE, CREW_PLAN_REMOTE_REUSE.
    struct crew_fleet_lease lease;
    // CREW_PLAN_CREATE.
    struct crew_permit permit;
    // CREW_PLAN_WAIT.
    uint32_t version;
    // CREW_PLAN_REJECT.
    uint32_t reason;
} crew_fleet_plan;

// What a sweep found.
typedef struct crew_swept {
    // Lives that had ended, and were ended in the table.
    uint32_t lives;
    // Reservations, permits and executions that were left behind.
    uint32_t cells;
} crew_swept;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// One line for a status, in English, static, never NULL.
const char *crew_status_text(int32_t status);

// An errno for callers that only pass errors on; 0 for CREW_OK. EAGAIN for what may pass, EPIPE for
// what has ended, EBUSY, EINVAL for a caller's error. Several statuses share a number: who must tell
// them apart looks at the status. CREW_REFUSED_SPAWN_FAILED is EAGAIN here; its own number is in
// the refusal (crew_refusal_errno).
int32_t crew_status_errno(int32_t status);

// Opens the account, asks the target whether it has the budget, and says what there is to say: the
// budget is a ceiling that the target confirms, clamps (halving, not below 8 MiB), or cannot tell.
// BOOT ONLY, once, before everything else.
//
// CREW_ALREADY_BOOTED, CREW_BUSY (another thread boots), CREW_BAD_SIZE, CREW_BAD_PORT,
// CREW_REFUSED_OBJECTS_EXHAUSTED (the target made no event; try again).
//
// Pointers:
// `options` is NULL or valid, and what it points to is as its fields say.
int32_t crew_boot(const struct crew_boot_options *options);

// Makes sets until every pool has as many as it keeps, then forbids growth and new pools: from here
// on Crew touches no heap and makes no thread (a growth that another thread has begun is finished). A pool whose connections must all be served after
// the seal is opened with keep or prestart equal to its capacity. BOOT ONLY, after the last pool.
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

// Opens a pool, and makes its prestarted sets. BOOT ONLY.
//
// CREW_NOT_BOOTED, CREW_ALREADY_SEALED, CREW_BUSY (another administrative call is under way, or the
// end of a close that may make the room which is missing), CREW_BAD_SIZE, CREW_BAD_FLAGS, CREW_BAD_TEXT,
// CREW_BAD_ROSTER, CREW_BAD_STACK, CREW_BAD_PRIORITY, CREW_BAD_CAPACITY, CREW_BAD_VALUE (the bytes
// of all sets together), CREW_TABLE_FULL, or the refusal of a set to be prestarted: then every set
// made before it has been taken back; threads that did not end within a second keep the pool's
// place in the tables until they have ended and another pool is opened.
//
// Pointers:
// `options` is NULL or valid, and what it points to is as its fields say; `pool` is NULL or writable.
int32_t crew_pool_open(const struct crew_pool_options *options,
                       struct crew_pool *pool);

// Gives idle sets back until keep of them are left; waits at most a second for their threads to
// end, so that the bytes are on the account again when it returns.
//
// CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_pool_trim(struct crew_pool pool, uint32_t keep);

// Refuses new leases, stops the workers of every set, leased or not, and joins them. A worker inside
// a job stops after it: ask your connections to end first. Leases that are out end with their set;
// a set without threads ends when its lease is released.
// When it returns CREW_OK every byte is back on the account.
//
// CREW_TIMED_OUT: some sets are still there (crew_pool_usage says how many); the pool goes on
// closing, call again. CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_pool_close(struct crew_pool pool,
                        uint32_t timeout_ms);

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
// Any CREW_REFUSED_... (and *refusal, unless NULL, says why, with its numbers), CREW_STALE (the pool
// has been closed), CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `lease` is NULL or writable, `refusal` NULL or valid.
int32_t crew_acquire(struct crew_pool pool,
                     uint32_t timeout_ms,
                     struct crew_lease *lease,
                     struct crew_refusal *refusal);

// As crew_acquire, for a peer: a number that names who the set is for (a client host's address, for
// example). With the pool's per_peer set, one peer never has more sets than that; a set counts for
// its peer until it is idle again. The count looks at every set of the pool.
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
// A set that died under the lease and has not been taken apart yet is released like any other; once
// it has been, the answer is CREW_RETIRED: its slot is back already, and nothing is left to give.
//
// CREW_STALE (released before), CREW_RETIRED, CREW_BAD_HANDLE.
int32_t crew_release(struct crew_lease lease);

// The port's number of the thread of a member (what its thread_create stored): an epicsThreadId
// under the EPICS port, a pthread_t under the POSIX port. Valid while the lease is and the thread
// lives.
//
// CREW_NOT_RUN (the thread has ended), CREW_STALE, CREW_RETIRED, CREW_BAD_HANDLE, CREW_BAD_ROLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `thread` is NULL or writable.
int32_t crew_lease_thread(struct crew_lease lease,
                          uint32_t role,
                          size_t *thread);

// Gives the worker of a role one job. A worker has one job at a time. The argument is the caller's
// to keep alive until the job has ended. The label names the job in reports and logs.
//
// With job NULL the job is detached: a failure is logged under its label. Otherwise *job is to be
// joined (crew_join) or detached (crew_detach); its result is kept until then, also beyond the
// lease.
//
// CREW_NOT_RUN: the set was retired or the worker is gone; the function will not be called (a
// detached job's is logged too). CREW_BUSY: the worker has a job. CREW_NO_JOB_CELL: the results of
// CREW_JOBS_PER_WORKER earlier jobs of this worker are still kept. CREW_STALE: the lease has ended.
// CREW_BAD_HANDLE, CREW_BAD_ROLE, CREW_NULL_ARGUMENT, CREW_BAD_TEXT (label: 1 to
// CREW_LABEL_BYTES - 1 printable characters).
//
// Pointers:
// `label` is NULL or readable up to its NUL or bound; `job` is NULL or writable; calling `function`
// with `argument` on another thread is sound.
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

// Nobody will ask for the job's result: a failure is logged instead. The handle is stale then.
//
// CREW_BUSY (another thread is joining it), CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_detach(struct crew_job job);

// Puts the memory of a fixed thread (a scan band, an acceptor) on the account until crew_uncharge.
// It is not refused for the budget: what is held may pass it, and sets are refused the sooner.
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

// A pool's figures. Looks at each of its threads: a suspended one retires its set.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `usage` is NULL or valid.
int32_t crew_pool_usage(struct crew_pool pool, struct crew_usage *usage);

// Prints who holds what, since when, and what was refused and why. Level 0: a line for the account
// and one for each pool. 1: roles, stacks and refusals by kind too. 2 and above: every busy set.
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
// once, on the worker's own thread, as the last it has to do with Crew.
void crew_worker_exited(uint32_t worker);

// Bytes of memory that a table of this geometry takes, aligned to 4.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_FLEET_BAD_GEOMETRY.
//
// Pointers:
// `geometry` is NULL or valid; `bytes` is NULL or writable.
int32_t crew_fleet_bytes(const struct crew_fleet_geometry *geometry, size_t *bytes);

// What the table in `memory` was made with: for who was told CREW_FLEET_OTHER_GEOMETRY, to say what
// differs. `geometry` comes initialised and is overwritten.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_BAD_VALUE (memory is not aligned), CREW_FLEET_NOT_A_TABLE,
// CREW_FLEET_OTHER_BYTE_ORDER, CREW_FLEET_OTHER_VERSION.
//
// Pointers:
// `memory` is NULL or readable for `bytes`; `geometry` is NULL or valid.
int32_t crew_fleet_geometry_of(const uint32_t *memory,
                               size_t bytes,
                               struct crew_fleet_geometry *geometry);

// Opens the table in `memory`, makes it there if there are only zeros, and joins it: this process is
// one of its nodes until crew_fleet_leave. What an earlier process in the same node left is taken back.
// A child process that was forked and runs on without exec must not use its parent's membership.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_BAD_TEXT (name), CREW_BAD_VALUE (memory is not aligned, or
// there is no such node), CREW_BAD_PORT (a function is missing); CREW_FLEET_BAD_GEOMETRY,
// CREW_FLEET_TOO_SMALL, CREW_FLEET_NOT_A_TABLE, CREW_FLEET_OTHER_BYTE_ORDER, CREW_FLEET_OTHER_VERSION,
// CREW_FLEET_OTHER_GEOMETRY; CREW_TABLE_FULL (CREW_MAX_FLEETS memberships);
// CREW_FLEET_NO_LANE (the node, or every node, is taken), CREW_FLEET_NO_MORE_LIVES,
// CREW_FLEET_RESETTING. With this image's own port also CREW_NOT_BOOTED, CREW_BUSY (another
// administrative call is under way), CREW_REFUSED_OBJECTS_EXHAUSTED (the target made no event).
//
// Pointers:
// `options` is NULL or valid, and what it points to is as its fields say; `fleet` is NULL or writable.
int32_t crew_fleet_join(const struct crew_fleet_options *options,
                        struct crew_fleet *fleet);

// Leaves the table: closes all that this node owns and ends its permits, as its death would. While
// another thread's call on this membership is under way nothing is freed: CREW_BUSY; new calls are
// CREW_STALE from then on, waits are woken and end so. Call again until it says CREW_OK; then memory
// and port are the caller's again.
//
// CREW_BUSY, CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_fleet_leave(struct crew_fleet fleet);

// Which life of which node this process is.
//
// CREW_NULL_ARGUMENT, CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `life` is NULL or writable.
int32_t crew_fleet_life(struct crew_fleet fleet, struct crew_life *life);

// Registers a resource of this node with room for `capacity` leases at a time; 1 is exclusive.
//
// CREW_NULL_ARGUMENT, CREW_BAD_CAPACITY (1 to 65,535), CREW_FLEET_FULL (the geometry's resources),
// CREW_FLEET_KEY_TABLE_FULL; CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET,
// CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `resource` is NULL or writable.
int32_t crew_fleet_register(struct crew_fleet fleet,
                            struct crew_key key,
                            uint32_t capacity,
                            struct crew_resource *resource);

// Ends a resource: leases and executions of it are stale from here on. Owner only.
//
// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
int32_t crew_fleet_unregister(struct crew_fleet fleet, struct crew_resource resource);

// No new leases of the resource from here on. What is reserved is still accepted, and what is at work
// ends at its own pace. Twice is once. Owner only.
//
// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
int32_t crew_fleet_drain(struct crew_fleet fleet,
                         struct crew_resource resource);

// The resources under the key, in the table's order, the first `room` of them into `buffer`; *count is
// how many there were. A snapshot, never a reservation. What a dead process owned is taken back when it
// is met. Looking uses no key up.
//
// CREW_NULL_ARGUMENT (count; buffer, unless room is 0), CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `buffer` is writable for `room` candidates; `count` is NULL or writable.
int32_t crew_fleet_candidates(struct crew_fleet fleet,
                              struct crew_key key,
                              struct crew_candidate *buffer,
                              uint32_t room,
                              uint32_t *count);

// Reserves one unit of the resource: the right to ask its owner. Any member may, the owner too. A lease
// that is not brought to its owner keeps its unit until the owner ages it (crew_fleet_reconcile).
//
// CREW_BUSY (no unit is free, or 8 reservations of it are pending that the owner has not accepted),
// CREW_FLEET_DRAINING, CREW_STALE, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE,
// CREW_NULL_ARGUMENT.
//
// Pointers:
// `lease` is NULL or writable.
int32_t crew_fleet_reserve(struct crew_fleet fleet,
                           struct crew_resource resource,
                           struct crew_fleet_lease *lease);

// Whether the lease is still pending: CREW_OK, or CREW_FLEET_NOT_RESERVED when it was accepted or aged
// or its resource has ended. Any member may ask.
//
// CREW_FLEET_NOT_RESERVED, CREW_STALE (the membership), CREW_BAD_HANDLE (the membership, or a life that
// no node can have), CREW_NULL_ARGUMENT.
//
// Pointers:
// `lease` is NULL or valid.
int32_t crew_fleet_is_current(struct crew_fleet fleet,
                              const struct crew_fleet_lease *lease);

// Takes the lease that somebody has brought: its unit is at work from here on, until
// crew_fleet_complete. The owner only, once per reservation, in any order; also while draining.
//
// CREW_FLEET_NOT_RESERVED (accepted before, or aged), CREW_STALE (the resource has ended),
// CREW_FLEET_NOT_OWNER, CREW_FLEET_TOO_MANY_EXECUTIONS (the geometry's; the lease stays reserved),
// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `lease` is NULL or valid; `execution` is NULL or writable.
int32_t crew_fleet_accept(struct crew_fleet fleet,
                          const struct crew_fleet_lease *lease,
                          struct crew_execution *execution);

// The work has ended: gives its unit back and wakes who waits for the key. Once. The only call that
// makes room, because only the owner knows when the work has ended.
//
// CREW_STALE (completed before, its resource has ended, or a reconciliation took the unit away),
// CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
int32_t crew_fleet_complete(struct crew_fleet fleet, struct crew_execution execution);

// The resource's units at work, as the table counts them.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `active` is NULL or writable.
int32_t crew_fleet_active(struct crew_fleet fleet, struct crew_resource resource, uint32_t *active);

// The owner sets right what the table believes: units whose execution was lost are given back, and
// reservations older than `grace_ms` that nobody brought are gone, one by one; a late accept of one is
// CREW_FLEET_NOT_RESERVED. Says nothing about running work.
//
// The owner counts what is really at work (`active_now`) and reads crew_fleet_active (`active_then`) at
// the same moment, under whatever keeps its own count and its calls of accept and complete together. The
// difference is applied, so what is accepted or completed meanwhile is not lost. The same number twice
// corrects nothing and only ages.
//
// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE,
// CREW_NULL_ARGUMENT.
//
// Pointers:
// `result` is NULL or writable.
int32_t crew_fleet_reconcile(struct crew_fleet fleet,
                             struct crew_resource resource,
                             uint32_t active_then,
                             uint32_t active_now,
                             uint32_t grace_ms,
                             struct crew_reconciled *result);

// Claims the right to create a resource under the key, if fewer than `max_live` live or are being
// created in the whole fleet. Register the resource, then crew_fleet_finish; without that the permit
// ends with this membership.
//
// CREW_FLEET_BUDGET_SPENT, CREW_BUSY (8 are being created under the key, whatever max_live),
// CREW_FLEET_KEY_TABLE_FULL, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET,
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `permit` is NULL or writable.
int32_t crew_fleet_claim(struct crew_fleet fleet,
                         struct crew_key key,
                         uint32_t max_live,
                         struct crew_permit *permit);

// Ends a permit: its resource is registered, or never will be. Once.
//
// CREW_STALE (it has ended), CREW_FLEET_NOT_OWNER, CREW_BAD_HANDLE.
int32_t crew_fleet_finish(struct crew_fleet fleet, struct crew_permit permit);

// How many resources live under the key, and how many are being created.
//
// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `budget` is NULL or writable.
int32_t crew_fleet_budget(struct crew_fleet fleet,
                          struct crew_key key,
                          struct crew_key_budget *budget);

// How often something under the key has changed that can make a "no" a "yes": a resource came, went or
// drains, a unit came back, a creation ended. It wraps. 0 for a key that was never used.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `version` is NULL or writable.
int32_t crew_fleet_version(struct crew_fleet fleet,
                           struct crew_key key,
                           uint32_t *version);

// Waits until the key's count is no longer `since`, at most timeout_ms (24 days at most); *version is it
// then. Any number of changes wake once; one before the wait, or just as its time was over, counts. It
// may end though nothing useful has changed.
//
// CREW_TIMED_OUT, CREW_REFUSED_TOO_MANY_WAITERS, CREW_STALE (also when crew_fleet_leave was called
// meanwhile), CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `version` is NULL or writable.
int32_t crew_fleet_wait(struct crew_fleet fleet,
                        struct crew_key key,
                        uint32_t since,
                        uint32_t timeout_ms,
                        uint32_t *version);

// Begins to watch the whole table: *since is what crew_fleet_wait_any takes. Whatever changes after this
// call ends that wait, so try what is to be tried in between.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `since` is NULL or writable.
int32_t crew_fleet_watch(struct crew_fleet fleet,
                         uint32_t *since);

// Waits until anything has changed since crew_fleet_watch, at most timeout_ms.
//
// As crew_fleet_wait.
//
// Pointers:
// `now` is NULL or writable.
int32_t crew_fleet_wait_any(struct crew_fleet fleet,
                            uint32_t since,
                            uint32_t timeout_ms,
                            uint32_t *now);

// Looks: the first half of an acquire, for csrc/fleet_acquire.c and loops like it.
//
// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT,
// CREW_BAD_SIZE.
//
// Pointers:
// `limits` and `view` are NULL or valid.
int32_t crew_fleet_look(struct crew_fleet fleet,
                        struct crew_key key,
                        const struct crew_fleet_limits *limits,
                        uint32_t attempt,
                        struct crew_fleet_view *view);

// Carries out what was chosen: the second half of an acquire.
//
// CREW_FLEET_LOST_RACE: another one was faster; look again, or wait for view's version.
// CREW_BAD_VALUE (no kind of choice), CREW_FLEET_KEY_TABLE_FULL, CREW_FLEET_LIFE_ENDED,
// CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET, CREW_STALE (the membership), CREW_BAD_HANDLE,
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `view`, `choice` and `plan` are NULL or valid.
int32_t crew_fleet_carry_out(const struct crew_fleet_view *view,
                             const struct crew_fleet_choice *choice,
                             struct crew_fleet_plan *plan);

// A policy: a resource of this node's own with room, else another one's, else create within the budget,
// else wait. `context` is not used.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `view` and `choice` are NULL or valid.
int32_t crew_fleet_local_first(void *context,
                               const struct crew_fleet_view *view,
                               struct crew_fleet_choice *choice);

// A policy: a resource of this node's own with room, else create within the budget, else wait. `context`
// is not used.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `view` and `choice` are NULL or valid.
int32_t crew_fleet_local_only(void *context,
                              const struct crew_fleet_view *view,
                              struct crew_fleet_choice *choice);

// Who owns a resource or permit, sorted, the first `room` of them into `buffer`; *count is how many
// there were. Says who is in the table, not who is alive.
//
// CREW_NULL_ARGUMENT (count; buffer, unless room is 0), CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `buffer` is writable for `room` lives; `count` is NULL or writable.
int32_t crew_fleet_owners(struct crew_fleet fleet,
                          struct crew_life *buffer,
                          uint32_t room,
                          uint32_t *count);

// Reports that a life has ended: closes what it owned and ends its permits. Another life of the node is
// untouched. Needed only where the port cannot tell by itself (CREW_HOLD_UNKNOWN).
//
// CREW_FLEET_ALIVE (the port knows better), CREW_FLEET_LIFE_ENDED (the reporter's own),
// CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_fleet_node_dead(struct crew_fleet fleet,
                             struct crew_life life);

// Takes back everything that has lost its owner. From time to time, so that a death is noticed also
// where nobody meets it.
//
// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `swept` is NULL or writable.
int32_t crew_fleet_sweep(struct crew_fleet fleet, struct crew_swept *swept);

// Clears the table for everybody: resources, leases, permits, keys. The nodes stay members; all that
// they held is stale.
//
// CREW_FLEET_RESETTING (another one is at it), CREW_FLEET_LIFE_ENDED, CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_fleet_reset(struct crew_fleet fleet);

// Prints who is in the table and who holds what, since when. Level 0: a line of figures, and one for
// each node: name, process, life, whether it is alive. 1: the resources of each node too: key, units
// reserved, at work, in all; and each key: how often it has changed, whether it was waited for since. 2
// and above: each pending reservation (by whom, since when), execution and permit too. Crew is on the stack while `sink` runs, as with crew_report: it must return.
//
// CREW_NULL_ARGUMENT (sink), CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// Calling `sink` with `context` is sound.
int32_t crew_fleet_report(struct crew_fleet fleet,
                          uint32_t level,
                          crew_sink sink,
                          void *context);

// Writes the resource as kind.node.slot.generation.
//
// CREW_NULL_ARGUMENT, CREW_BAD_VALUE (room is below CREW_RESOURCE_TEXT_BYTES), CREW_BAD_HANDLE.
//
// Pointers:
// `text` is NULL or writable for `room` bytes.
int32_t crew_resource_print(struct crew_resource resource, char *text, size_t room);

// Reads a resource from what crew_resource_print wrote. At most CREW_TEXT_BYTES are read.
//
// CREW_NULL_ARGUMENT, CREW_BAD_TEXT.
//
// Pointers:
// `text` is NULL or readable up to its NUL or bound; `resource` is NULL or writable.
int32_t crew_resource_parse(const char *text, struct crew_resource *resource);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CREW_H */

/* Initialisers of the structs that begin with their size; the rest is 0. */
#define CREW_BOOT_OPTIONS_INIT { (uint32_t)sizeof(crew_boot_options), 0, NULL, NULL }
#define CREW_POOL_OPTIONS_INIT \
    { (uint32_t)sizeof(crew_pool_options), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_REFUSAL_INIT { (uint32_t)sizeof(crew_refusal), 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_RESULT_INIT { (uint32_t)sizeof(crew_result), 0, 0 }
#define CREW_ACCOUNT_INIT { (uint32_t)sizeof(crew_account), 0, 0, 0, 0, 0, 0, 0, 0 }
#define CREW_USAGE_INIT \
    { (uint32_t)sizeof(crew_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 } }
#define CREW_FLEET_GEOMETRY_INIT { (uint32_t)sizeof(crew_fleet_geometry), 1, 16, 64, 256, 64 }
#define CREW_FLEET_OPTIONS_INIT \
    { (uint32_t)sizeof(crew_fleet_options), CREW_FLEET_ANY_NODE, NULL, NULL, 0, NULL, NULL, 0 }
#define CREW_FLEET_LIMITS_INIT { (uint32_t)sizeof(crew_fleet_limits), 1, 4 }
#define CREW_FLEET_VIEW_INIT \
    { (uint32_t)sizeof(crew_fleet_view), 0, { 0 }, { 0, 0 }, 0, 0 }
#define CREW_FLEET_CHOICE_INIT { (uint32_t)sizeof(crew_fleet_choice), CREW_CHOICE_WAIT, { 0 }, 0 }
#define CREW_FLEET_PLAN_INIT \
    { (uint32_t)sizeof(crew_fleet_plan), 0, { { 0 }, 0, { 0, 0 } }, { 0 }, 0, 0 }
