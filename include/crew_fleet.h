/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from src/ffi/fleet by cbindgen. Change it there, then: make header. */

/*
 * Fleet leases: one table of limited things, shared by the processes of a machine. The conventions
 * are in crew.h; the table's shared memory is in crew_fleet_shm.h.
 */
#ifndef CREW_FLEET_H
#define CREW_FLEET_H

#include "crew.h"


// crew_fleet_port.look: no process holds the lane.
#define CREW_HOLD_FREE 0

// crew_fleet_port.look: a living process holds the lane.
#define CREW_HOLD_HELD 1

// crew_fleet_port.look: this target cannot tell. Report deaths with crew_fleet_node_dead then.
#define CREW_HOLD_UNKNOWN 2

// crew_fleet_options.node: any node that is free.
#define CREW_FLEET_ANY_NODE 4294967295

// The policy chose a candidate.
#define CREW_CHOICE_REUSE 1

// The policy chose to create a resource.
#define CREW_CHOICE_CREATE 2

// Nothing now, but a change may bring something.
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

// The policy refused: the plan's reason.
#define CREW_PLAN_REJECT 5

// Bytes of a resource's text, its NUL included: "63.1023.65535.1073741823".
#define CREW_RESOURCE_TEXT_BYTES 25

// What one table holds at most. All its processes bring the same numbers, or are refused.
// Initialise with CREW_FLEET_GEOMETRY_INIT: kind 1, 16 nodes, 64 resources, 256 executions, 64
// keys.
typedef struct crew_fleet_geometry {
    // sizeof(crew_fleet_geometry)
    uint32_t size;
    // A number for what the table is for, 1 to 63: it tells the table's ids from another table's.
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

// A table's port to its target. crew_fleet_shm.h has the one for shared memory, and NULL in the
// options is the one for the memory of one image. None of its functions may be NULL, call back
// into Crew, or block, except wait.
typedef struct crew_fleet_port {
    // sizeof(crew_fleet_port)
    uint32_t size;
    // The port's own: the first argument of each function.
    void *context;
    // Takes the lane if no process has it, without waiting: 1, else 0. The hold must end with the
    // process, however that ends.
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
    // Wakes all threads that wait for this word, in all processes.
    void (*wake)(void *context, uint32_t *word);
} crew_fleet_port;

// How to join a table. Initialise with CREW_FLEET_OPTIONS_INIT.
typedef struct crew_fleet_options {
    // sizeof(crew_fleet_options)
    uint32_t size;
    // CREW_FLEET_ANY_NODE, or the node to join as, below geometry's nodes.
    uint32_t node;
    // Copied.
    const struct crew_fleet_geometry *geometry;
    // The table's memory: zeros, or a table of this geometry. It must stay until crew_fleet_leave
    // has said CREW_OK, and only Crew may write into it until then.
    uint32_t *memory;
    // Bytes of memory, at least what crew_fleet_bytes says.
    size_t bytes;
    // The port, which must stay as long as memory. NULL: this image's own, for a table in memory
    // that no other process sees; all memberships in it must be made so. Its waits are events of
    // the port that crew_boot was given; the first join makes CREW_MAX_WAITERS of them.
    const struct crew_fleet_port *port;
    // NULL, or this node's name in reports: up to CREW_NAME_BYTES - 1 printable characters.
    // Copied.
    const char *name;
    // The system's number of this process, for reports.
    uint32_t process;
} crew_fleet_options;

// A membership of this process in one fleet's table.
typedef struct crew_fleet {
    // Crew's own.
    uint64_t bits;
} crew_fleet;

// One process in one node of the table, from its join to its end.
typedef struct crew_life {
    // The node: a lane of the table.
    uint32_t node;
    // The life in it, from 1 up.
    uint32_t incarnation;
} crew_life;

// A digest, made by the caller, of what a resource is usable for. Equal keys mean interchangeable
// resources. Text of up to 16 printable characters may be its own digest: the first character in
// the lowest byte of `low`, zeros behind the last; reports show it as text then.
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
    // The resource's name.
    struct crew_resource resource;
    // The life that owns it.
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
    // Units that a caller could reserve: none while it drains.
    uint32_t free;
    // The time of its last reservation, by the clock of the port; 0: never.
    uint32_t reserved_at_ms;
} crew_candidate;

// The right to ask a resource's owner to use it: a value that the holder brings to the owner in
// whatever way the two speak.
typedef struct crew_fleet_lease {
    // The reserved resource.
    struct crew_resource resource;
    // Strictly increasing for a resource: tells this reservation from every other one.
    uint64_t fence;
    // The life that reserved it.
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

// The resources that count against a key's max_live.
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
    // The most tries, each from a fresh look, while the caller loses one race after the other; 0
    // is 1.
    uint32_t attempts;
} crew_fleet_limits;

// A policy's view; it asks for more with crew_fleet_candidates and crew_fleet_budget.
typedef struct crew_fleet_view {
    // sizeof(crew_fleet_view)
    uint32_t size;
    // The bound that the caller of acquire set.
    uint32_t max_live;
    // The membership.
    struct crew_fleet fleet;
    // The key.
    struct crew_key key;
    // The key's count of changes before this look.
    uint32_t version;
    // The number of this try; the first is 0.
    uint32_t attempt;
} crew_fleet_view;

// A policy's choice. The policy gets it with kind CREW_CHOICE_WAIT.
typedef struct crew_fleet_choice {
    // sizeof(crew_fleet_choice)
    uint32_t size;
    // CREW_CHOICE_...
    uint32_t kind;
    // CREW_CHOICE_REUSE: which.
    struct crew_resource resource;
    // CREW_CHOICE_REJECT: the policy's own reason.
    uint32_t reason;
} crew_fleet_choice;

// What an acquire got. It is no mere advice: a reuse holds its reservation, a creation its claim.
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
    // Lives that were over, and that the sweep ended in the table.
    uint32_t lives;
    // Reservations, permits and executions that they left behind.
    uint32_t cells;
} crew_swept;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The bytes of memory that a table of this geometry takes, aligned to 4.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_FLEET_BAD_GEOMETRY.
//
// Pointers:
// `geometry` is NULL or valid; `bytes` is NULL or writable.
int32_t crew_fleet_bytes(const struct crew_fleet_geometry *geometry, size_t *bytes);

// The geometry that the table in `memory` was made with, so that a caller that was told
// CREW_FLEET_OTHER_GEOMETRY can say what differs. `geometry` comes initialised and is overwritten.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_BAD_VALUE (memory is not aligned),
// CREW_FLEET_NOT_A_TABLE, CREW_FLEET_OTHER_BYTE_ORDER, CREW_FLEET_OTHER_VERSION.
//
// Pointers:
// `memory` is NULL or readable for `bytes`; `geometry` is NULL or valid.
int32_t crew_fleet_geometry_of(const uint32_t *memory,
                               size_t bytes,
                               struct crew_fleet_geometry *geometry);

// Opens the table in `memory`, makes it there if there are only zeros, and joins it: this process
// is one of its nodes until crew_fleet_leave. First takes back what an earlier process in the same
// node left. A child process that was forked and runs on without exec must not use its parent's
// membership.
//
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_BAD_TEXT (name), CREW_BAD_VALUE (memory is not aligned,
// or there is no such node), CREW_BAD_PORT (a function is missing); CREW_FLEET_BAD_GEOMETRY,
// CREW_FLEET_TOO_SMALL, CREW_FLEET_NOT_A_TABLE, CREW_FLEET_OTHER_BYTE_ORDER,
// CREW_FLEET_OTHER_VERSION, CREW_FLEET_OTHER_GEOMETRY; CREW_TABLE_FULL (CREW_MAX_FLEETS
// memberships); CREW_FLEET_NO_LANE (the node, or every node, is taken), CREW_FLEET_NO_MORE_LIVES,
// CREW_FLEET_RESETTING. With this image's own port also CREW_NOT_BOOTED, CREW_BUSY (another
// administrative call is under way), CREW_REFUSED_OBJECTS_EXHAUSTED (the target made no event).
//
// Pointers:
// `options` is NULL or valid, and what it points to is as its fields say; `fleet` is NULL or
// writable.
int32_t crew_fleet_join(const struct crew_fleet_options *options, struct crew_fleet *fleet);

// Leaves the table: closes everything that this node owns and ends its permits, as its death
// would. While another thread's call on this membership is under way nothing is freed: the answer
// is CREW_BUSY, new calls are CREW_STALE from then on, and waits inside are woken and end so. Call
// again until it says CREW_OK; then memory and port are the caller's again.
//
// CREW_BUSY, CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_fleet_leave(struct crew_fleet fleet);

// The life that this membership is.
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

// Ends a resource: its leases and executions are stale from here on. Owner only.
//
// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
int32_t crew_fleet_unregister(struct crew_fleet fleet, struct crew_resource resource);

// Gives no new leases of the resource from here on. The owner still accepts those that are
// reserved, and the work ends at its own pace. Twice is once. Owner only.
//
// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
int32_t crew_fleet_drain(struct crew_fleet fleet, struct crew_resource resource);

// Writes the resources under the key into `buffer`, in the table's order, as many as fit; *count
// is how many there were. A snapshot, never a reservation. The look takes back the resources of
// dead processes that it finds. It uses no key up.
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

// Reserves one unit of the resource: the right to ask its owner. Any member may do so, the owner
// too. A lease that is not brought to its owner keeps its unit until the owner ages it
// (crew_fleet_reconcile).
//
// CREW_BUSY (no unit is free, or 8 reservations of it are pending that the owner has not
// accepted), CREW_FLEET_DRAINING, CREW_STALE, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING,
// CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `lease` is NULL or writable.
int32_t crew_fleet_reserve(struct crew_fleet fleet,
                           struct crew_resource resource,
                           struct crew_fleet_lease *lease);

// Whether the lease is still pending: CREW_OK, or CREW_FLEET_NOT_RESERVED if its owner has
// accepted or aged it or its resource has ended. Any member may ask.
//
// CREW_FLEET_NOT_RESERVED, CREW_STALE (the membership), CREW_BAD_HANDLE (the membership, or a life
// that no node can have), CREW_NULL_ARGUMENT.
//
// Pointers:
// `lease` is NULL or valid.
int32_t crew_fleet_is_current(struct crew_fleet fleet, const struct crew_fleet_lease *lease);

// Accepts a lease that was brought to its owner: its unit is at work from here on, until
// crew_fleet_complete. The owner only, once for each reservation, in any order; also while it
// drains.
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

// The work has ended: gives its unit back and wakes the key's waiters. Once. No other call makes
// room, because only the owner knows when the work has ended.
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

// The owner corrects the table by what it knows: units whose execution was lost are given back,
// and reservations older than `grace_ms` that were not brought to it end, one by one; a late
// accept of one is CREW_FLEET_NOT_RESERVED. Does nothing to running work.
//
// The owner counts its work (`active_now`) and reads crew_fleet_active (`active_then`) at one
// moment, under the lock that keeps its own count and its calls of accept and complete together.
// Only the difference is applied, so an accept or complete meanwhile is not lost. The same number
// twice corrects nothing and only ages.
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
// created in the whole fleet. Register the resource, then crew_fleet_finish; without that the
// permit ends with this membership.
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

// The key's count of changes that can make a "no" a "yes": a resource came, went or drains, a unit
// came back, an owner that was far behind accepted, a creation ended. It wraps. 0 for a key that
// was never used.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `version` is NULL or writable.
int32_t crew_fleet_version(struct crew_fleet fleet, struct crew_key key, uint32_t *version);

// Waits until the key's count is no longer `since`, at most timeout_ms (24 days at most); *version
// is the count then. Any number of changes end the wait once. A change before the wait counts, and
// so does one just as its time is over. It may end though nothing useful has changed.
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

// Begins to watch the whole table: *since is for crew_fleet_wait_any. Any change after this call
// ends that wait. So watch, try, and wait if the try fails.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `since` is NULL or writable.
int32_t crew_fleet_watch(struct crew_fleet fleet, uint32_t *since);

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

// Carries out the choice: the second half of an acquire.
//
// CREW_FLEET_LOST_RACE: another asker was faster; look again, or wait for view's version.
// CREW_BAD_VALUE (no kind of choice), CREW_FLEET_KEY_TABLE_FULL, CREW_FLEET_LIFE_ENDED,
// CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET, CREW_STALE (the membership), CREW_BAD_HANDLE,
// CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `view`, `choice` and `plan` are NULL or valid.
int32_t crew_fleet_carry_out(const struct crew_fleet_view *view,
                             const struct crew_fleet_choice *choice,
                             struct crew_fleet_plan *plan);

// A policy: a resource of this node's own with room, else another node's, else create within the
// budget, else wait. `context` is not used.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `view` and `choice` are NULL or valid.
int32_t crew_fleet_local_first(void *context,
                               const struct crew_fleet_view *view,
                               struct crew_fleet_choice *choice);

// A policy: a resource of this node's own with room, else create within the budget, else wait.
// `context` is not used.
//
// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
//
// Pointers:
// `view` and `choice` are NULL or valid.
int32_t crew_fleet_local_only(void *context,
                              const struct crew_fleet_view *view,
                              struct crew_fleet_choice *choice);

// Writes the lives that own a resource or permit into `buffer`, sorted, as many as fit; *count is
// how many there were. The table does not say whether they are alive.
//
// CREW_NULL_ARGUMENT (count; buffer, unless room is 0), CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// `buffer` is writable for `room` lives; `count` is NULL or writable.
int32_t crew_fleet_owners(struct crew_fleet fleet,
                          struct crew_life *buffer,
                          uint32_t room,
                          uint32_t *count);

// Reports that a life has ended: closes what it owned and ends its permits. Another life of the
// node is untouched. Needed only if the port cannot tell by itself (CREW_HOLD_UNKNOWN).
//
// CREW_FLEET_ALIVE (the port says that it goes on), CREW_FLEET_LIFE_ENDED (the reporter's own),
// CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE.
int32_t crew_fleet_node_dead(struct crew_fleet fleet, struct crew_life life);

// Takes back everything that has lost its owner. Call it from time to time: otherwise a death is
// noticed only when another process finds something of the dead one.
//
// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
//
// Pointers:
// `swept` is NULL or writable.
int32_t crew_fleet_sweep(struct crew_fleet fleet, struct crew_swept *swept);

// Clears the table for every node: resources, leases, permits, keys. The nodes stay members; what
// they held is stale.
//
// CREW_FLEET_RESETTING (another process resets it), CREW_FLEET_LIFE_ENDED, CREW_STALE,
// CREW_BAD_HANDLE.
int32_t crew_fleet_reset(struct crew_fleet fleet);

// Prints the table's nodes and what each holds, since when. Level 0: a line of figures, and one
// for each node: name, process, life, whether it is alive. 1: the resources of each node too: key,
// units reserved, at work, in all; and each key: how often it has changed, whether a caller has
// waited for it since. 2 and above: each pending reservation (its holder and age), execution and
// permit too. Crew is on the stack while `sink` runs, as with crew_report: it must return.
//
// CREW_NULL_ARGUMENT (sink), CREW_STALE, CREW_BAD_HANDLE.
//
// Pointers:
// Calling `sink` with `context` is sound.
int32_t crew_fleet_report(struct crew_fleet fleet, uint32_t level, crew_sink sink, void *context);

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

/* Initialisers of the structs that begin with their size. */
#define CREW_FLEET_GEOMETRY_INIT { (uint32_t)sizeof(crew_fleet_geometry), 1, 16, 64, 256, 64 }
#define CREW_FLEET_OPTIONS_INIT \
    { (uint32_t)sizeof(crew_fleet_options), CREW_FLEET_ANY_NODE, NULL, NULL, 0, NULL, NULL, 0 }
#define CREW_FLEET_LIMITS_INIT { (uint32_t)sizeof(crew_fleet_limits), 1, 4 }
#define CREW_FLEET_VIEW_INIT \
    { (uint32_t)sizeof(crew_fleet_view), 0, { 0 }, { 0, 0 }, 0, 0 }
#define CREW_FLEET_CHOICE_INIT { (uint32_t)sizeof(crew_fleet_choice), CREW_CHOICE_WAIT, { 0 }, 0 }
#define CREW_FLEET_PLAN_INIT \
    { (uint32_t)sizeof(crew_fleet_plan), 0, { { 0 }, 0, { 0, 0 } }, { 0 }, 0, 0 }

#include "crew_fleet_acquire.h"

#endif /* CREW_FLEET_H */
