// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statuses.

use crate::sets::{
    AcquireError, CloseError, EAGAIN, EPIPE, JobError, OpenError, Refusal, RefusalKind, RunError,
};
use core::ffi::c_char;

/// Done.
pub const CREW_OK: i32 = 0;

/// Refused: all sets that the pool may have are busy. Raise the capacity, or accept it as the
/// limit.
pub const CREW_REFUSED_AT_CAPACITY: i32 = 1;
/// Refused: the process' account has not that many bytes left. More memory and a larger budget.
pub const CREW_REFUSED_OUT_OF_RESERVATION: i32 = 2;
/// Refused: the target made no thread. Memory.
pub const CREW_REFUSED_SPAWN_FAILED: i32 = 3;
/// Refused: the target made no kernel object for now. Try again.
pub const CREW_REFUSED_OBJECTS_EXHAUSTED: i32 = 4;
/// Refused: the pool is being closed.
pub const CREW_REFUSED_SHUTTING_DOWN: i32 = 5;
/// Refused: this peer has as many sets as one peer may.
pub const CREW_REFUSED_PEER_LIMIT: i32 = 6;
/// Refused: the target has not that much memory in one piece just now, whatever the account says.
pub const CREW_REFUSED_TARGET_MEMORY: i32 = 7;
/// Refused: no set is idle, and after crew_seal none is made. A larger keep or prestart.
pub const CREW_REFUSED_SEALED: i32 = 8;
/// Refused: CREW_MAX_WAITERS threads wait already.
pub const CREW_REFUSED_TOO_MANY_WAITERS: i32 = 9;

/// It had not happened within the time.
pub const CREW_TIMED_OUT: i32 = 20;
/// The job was not run and will not be: its set was retired or its worker is gone.
pub const CREW_NOT_RUN: i32 = 21;
/// Another caller is at it: the worker has a job, another thread is joining the job, another
/// administrative call is under way, or every unit of a resource is taken.
pub const CREW_BUSY: i32 = 22;
/// The handle's object has ended.
pub const CREW_STALE: i32 = 23;
/// The set died under this lease. There is nothing left to use or to give back.
pub const CREW_RETIRED: i32 = 24;
/// Two earlier joinable jobs of this worker have been neither joined nor detached.
pub const CREW_NO_JOB_CELL: i32 = 25;

/// A NULL where none is allowed.
pub const CREW_NULL_ARGUMENT: i32 = 40;
/// A struct's size is none that this library knows. Use the INIT macro of the same header.
pub const CREW_BAD_SIZE: i32 = 41;
/// Not a handle of this kind.
pub const CREW_BAD_HANDLE: i32 = 42;
/// The roster has no such role.
pub const CREW_BAD_ROLE: i32 = 43;
/// A text is empty, does not end within its bound, or is not printable ASCII.
pub const CREW_BAD_TEXT: i32 = 44;
/// A priority is above CREW_PRIORITY_MAX.
pub const CREW_BAD_PRIORITY: i32 = 45;
/// A stack is below CREW_STACK_MIN or above CREW_STACK_MAX.
pub const CREW_BAD_STACK: i32 = 46;
/// A capacity is 0 or above CREW_MAX_SETS (of a fleet's resource: above 65,535), or prestart or
/// keep are above it.
pub const CREW_BAD_CAPACITY: i32 = 47;
/// A roster has more than CREW_MAX_ROLES roles, or neither roles nor bytes.
pub const CREW_BAD_ROSTER: i32 = 48;
/// A budget's text is no positive whole number of MiB.
pub const CREW_BAD_BUDGET: i32 = 49;
/// A port lacks a function that it must have, or names an unknown target; or none was given, and
/// this library has none built in.
pub const CREW_BAD_PORT: i32 = 50;
/// crew_boot comes first.
pub const CREW_NOT_BOOTED: i32 = 51;
/// crew_boot was called before.
pub const CREW_ALREADY_BOOTED: i32 = 52;
/// crew_seal was called before; nothing is opened after it.
pub const CREW_ALREADY_SEALED: i32 = 53;
/// This build's tables (CREW_MAX_POOLS, _SETS, _WORKERS, _CHARGES, _FLEETS) have no room left.
pub const CREW_TABLE_FULL: i32 = 54;
/// A flag that this library does not know, or a reserved field that is not 0.
pub const CREW_BAD_FLAGS: i32 = 55;
/// A number out of its bounds: of bytes, a peer key of 0, a node, a choice.
pub const CREW_BAD_VALUE: i32 = 56;

/// The resource takes no new leases.
pub const CREW_FLEET_DRAINING: i32 = 100;
/// The lease is not pending: accepted before, or too old.
pub const CREW_FLEET_NOT_RESERVED: i32 = 101;
/// The node has as many resources as the geometry allows.
pub const CREW_FLEET_FULL: i32 = 102;
/// As many keys were used as the geometry has. crew_fleet_reset, or a larger geometry.
pub const CREW_FLEET_KEY_TABLE_FULL: i32 = 103;
/// As many leases of the node are at work as the geometry allows; the lease stays reserved.
pub const CREW_FLEET_TOO_MANY_EXECUTIONS: i32 = 104;
/// As many resources live or are being created under the key as may.
pub const CREW_FLEET_BUDGET_SPENT: i32 = 105;
/// Every node of the table, or the one that was asked for, is taken.
pub const CREW_FLEET_NO_LANE: i32 = 106;
/// Too many processes have joined since the last reset. crew_fleet_reset.
pub const CREW_FLEET_NO_MORE_LIVES: i32 = 107;
/// This node's life was ended by a report or sweep. Leave and join again.
pub const CREW_FLEET_LIFE_ENDED: i32 = 108;
/// The node that was reported dead is alive.
pub const CREW_FLEET_ALIVE: i32 = 109;
/// The table is being reset. Try again.
pub const CREW_FLEET_RESETTING: i32 = 110;
/// The table was reset meanwhile; nothing was done. Look again.
pub const CREW_FLEET_WAS_RESET: i32 = 111;
/// Another one was faster. Look again.
pub const CREW_FLEET_LOST_RACE: i32 = 112;
/// The system refused shared memory, a descriptor or a thread; errno says why.
pub const CREW_FLEET_SYSTEM: i32 = 113;

/// Only the resource's owner may.
pub const CREW_FLEET_NOT_OWNER: i32 = 120;
/// A number of a geometry is out of its bounds.
pub const CREW_FLEET_BAD_GEOMETRY: i32 = 121;
/// The memory is smaller than such a table.
pub const CREW_FLEET_TOO_SMALL: i32 = 122;
/// The memory holds something else than a table.
pub const CREW_FLEET_NOT_A_TABLE: i32 = 123;
/// A table of a processor of the other byte order.
pub const CREW_FLEET_OTHER_BYTE_ORDER: i32 = 124;
/// A table of another version of Crew.
pub const CREW_FLEET_OTHER_VERSION: i32 = 125;
/// A table with other numbers than these.
pub const CREW_FLEET_OTHER_GEOMETRY: i32 = 126;
/// A writer that is not Crew has changed the table.
pub const CREW_FLEET_CORRUPT: i32 = 127;

/// The numbers kept for refusals.
const FIRST_REFUSAL: i32 = CREW_REFUSED_AT_CAPACITY;
const LAST_REFUSAL: i32 = 19;
const _: () = assert!(RefusalKind::COUNT as i32 - 1 <= LAST_REFUSAL);
/// The numbers kept for a fleet's answers: what may be another one the next time.
const FIRST_FLEET_ANSWER: i32 = CREW_FLEET_DRAINING;
const LAST_FLEET_ANSWER: i32 = 119;
const _: () = assert!(CREW_FLEET_SYSTEM <= LAST_FLEET_ANSWER);

const EBUSY: i32 = 16;
const EINVAL: i32 = 22;

/// One line for a status, in English, static, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn crew_status_text(status: i32) -> *const c_char {
    let text = match status {
        CREW_OK => c"ok",
        CREW_REFUSED_AT_CAPACITY => c"refused: at capacity, every set the pool may have is busy",
        CREW_REFUSED_OUT_OF_RESERVATION => {
            c"refused: out of reservation, the memory budget is held"
        }
        CREW_REFUSED_SPAWN_FAILED => c"refused: spawn failed, the target made no thread",
        CREW_REFUSED_OBJECTS_EXHAUSTED => c"refused: the target made no kernel object, try again",
        CREW_REFUSED_SHUTTING_DOWN => c"refused: shutting down, the pool is being closed",
        CREW_REFUSED_PEER_LIMIT => c"refused: peer limit, this peer has all the sets one may have",
        CREW_REFUSED_TARGET_MEMORY => c"refused: the target has not enough memory in one piece now",
        CREW_REFUSED_SEALED => c"refused: sealed, no set is idle and none is made any more",
        CREW_REFUSED_TOO_MANY_WAITERS => c"refused: too many threads wait already",
        CREW_TIMED_OUT => c"timed out",
        CREW_NOT_RUN => c"not run: the set was retired or its worker is gone",
        CREW_BUSY => c"busy: somebody else is at it",
        CREW_STALE => c"stale: what the handle named has ended",
        CREW_RETIRED => c"retired: the set died under this lease",
        CREW_NO_JOB_CELL => c"two earlier jobs of this worker were neither joined nor detached",
        CREW_NULL_ARGUMENT => c"a NULL argument",
        CREW_BAD_SIZE => c"a struct of unknown size: initialise it with its INIT macro",
        CREW_BAD_HANDLE => c"not a handle of this kind",
        CREW_BAD_ROLE => c"the roster has no such role",
        CREW_BAD_TEXT => c"a text is empty, too long, or not printable",
        CREW_BAD_PRIORITY => c"a priority is above 99",
        CREW_BAD_STACK => c"a stack is too small or too large",
        CREW_BAD_CAPACITY => c"capacity out of range, or prestart or keep above it",
        CREW_BAD_ROSTER => c"too many roles, or neither roles nor bytes",
        CREW_BAD_BUDGET => c"a budget is a positive whole number of MiB",
        CREW_BAD_PORT => c"the port lacks a function, names an unknown target, or is missing",
        CREW_NOT_BOOTED => c"crew_boot comes first",
        CREW_ALREADY_BOOTED => c"booted already: set the budget before the first pool",
        CREW_ALREADY_SEALED => c"sealed already: open pools before the seal",
        CREW_TABLE_FULL => c"no room in this build's tables: rebuild with larger CREW_MAX_ numbers",
        CREW_BAD_FLAGS => c"an unknown flag, or a reserved field that is not 0",
        CREW_BAD_VALUE => c"a number out of its bounds",
        // Short: they are in every image, and its 32 KiB are promised. (A table of their own that
        // only fleets refer to is no way out: a linker keeps or drops all C strings of the archive
        // together.)
        CREW_FLEET_DRAINING => c"draining",
        CREW_FLEET_NOT_RESERVED => c"not reserved",
        CREW_FLEET_FULL => c"full: larger geometry",
        CREW_FLEET_KEY_TABLE_FULL => c"key table full",
        CREW_FLEET_TOO_MANY_EXECUTIONS => c"too many executions",
        CREW_FLEET_BUDGET_SPENT => c"creation budget spent",
        CREW_FLEET_NO_LANE => c"every node is taken",
        CREW_FLEET_NO_MORE_LIVES => c"no more lives: reset",
        CREW_FLEET_LIFE_ENDED => c"life ended: join again",
        CREW_FLEET_ALIVE => c"it is alive",
        CREW_FLEET_RESETTING => c"being reset, try again",
        CREW_FLEET_WAS_RESET => c"was reset, look again",
        CREW_FLEET_LOST_RACE => c"lost a race",
        CREW_FLEET_SYSTEM => c"the system refused",
        CREW_FLEET_NOT_OWNER => c"not owner",
        CREW_FLEET_BAD_GEOMETRY => c"bad geometry",
        CREW_FLEET_TOO_SMALL => c"memory too small",
        CREW_FLEET_NOT_A_TABLE => c"not a table",
        CREW_FLEET_OTHER_BYTE_ORDER => c"other byte order",
        CREW_FLEET_OTHER_VERSION => c"other version of Crew",
        CREW_FLEET_OTHER_GEOMETRY => c"other geometry",
        CREW_FLEET_CORRUPT => c"corrupt table",
        _ => c"unknown status",
    };
    text.as_ptr()
}

/// An errno for callers that only pass errors on; 0 for CREW_OK. EAGAIN for what may pass, EPIPE
/// for what has ended, EBUSY, EINVAL for a caller's error. Several statuses share a number: a
/// caller that must tell them apart looks at the status. CREW_REFUSED_SPAWN_FAILED is EAGAIN here;
/// its own number is in the refusal (crew_refusal_errno).
#[unsafe(no_mangle)]
pub extern "C" fn crew_status_errno(status: i32) -> i32 {
    match status {
        CREW_OK => 0,
        CREW_REFUSED_SHUTTING_DOWN
        | CREW_NOT_RUN
        | CREW_STALE
        | CREW_RETIRED
        | CREW_FLEET_LIFE_ENDED => EPIPE,
        CREW_BUSY | CREW_ALREADY_BOOTED | CREW_ALREADY_SEALED => EBUSY,
        FIRST_REFUSAL..=LAST_REFUSAL
        | FIRST_FLEET_ANSWER..=LAST_FLEET_ANSWER
        | CREW_TIMED_OUT
        | CREW_NO_JOB_CELL
        | CREW_TABLE_FULL => EAGAIN,
        _ => EINVAL,
    }
}

pub(super) fn of_refusal(refusal: &Refusal) -> i32 {
    refusal.kind() as i32
}

pub(super) fn of_acquire(error: &AcquireError) -> i32 {
    match error {
        AcquireError::Refused(refusal) => of_refusal(refusal),
        AcquireError::Stale => CREW_STALE,
        AcquireError::BadHandle => CREW_BAD_HANDLE,
    }
}

pub(super) fn of_open(error: &OpenError) -> i32 {
    match error {
        OpenError::NotBooted => CREW_NOT_BOOTED,
        OpenError::Sealed => CREW_ALREADY_SEALED,
        OpenError::Busy => CREW_BUSY,
        OpenError::BadText => CREW_BAD_TEXT,
        OpenError::BadRoster => CREW_BAD_ROSTER,
        OpenError::BadStack => CREW_BAD_STACK,
        OpenError::BadPriority => CREW_BAD_PRIORITY,
        OpenError::BadCapacity => CREW_BAD_CAPACITY,
        OpenError::BadBytes => CREW_BAD_VALUE,
        OpenError::TableFull => CREW_TABLE_FULL,
        OpenError::Refused(refusal) => of_refusal(refusal),
    }
}

pub(super) fn of_close(error: CloseError) -> i32 {
    match error {
        CloseError::TimedOut(_) => CREW_TIMED_OUT,
        CloseError::Stale => CREW_STALE,
        CloseError::BadHandle => CREW_BAD_HANDLE,
    }
}

pub(super) fn of_run(error: RunError) -> i32 {
    match error {
        RunError::NotRun => CREW_NOT_RUN,
        RunError::Busy => CREW_BUSY,
        RunError::Stale => CREW_STALE,
        RunError::Retired => CREW_RETIRED,
        RunError::BadHandle => CREW_BAD_HANDLE,
        RunError::BadRole => CREW_BAD_ROLE,
        RunError::NoJobCell => CREW_NO_JOB_CELL,
    }
}

pub(super) fn of_job(error: JobError) -> i32 {
    match error {
        JobError::TimedOut => CREW_TIMED_OUT,
        JobError::Busy => CREW_BUSY,
        JobError::Stale => CREW_STALE,
        JobError::BadHandle => CREW_BAD_HANDLE,
    }
}

// The kinds of a refusal are its statuses.
const _: () = {
    assert!(RefusalKind::AtCapacity as i32 == CREW_REFUSED_AT_CAPACITY);
    assert!(RefusalKind::OutOfReservation as i32 == CREW_REFUSED_OUT_OF_RESERVATION);
    assert!(RefusalKind::SpawnFailed as i32 == CREW_REFUSED_SPAWN_FAILED);
    assert!(RefusalKind::ObjectsExhausted as i32 == CREW_REFUSED_OBJECTS_EXHAUSTED);
    assert!(RefusalKind::ShuttingDown as i32 == CREW_REFUSED_SHUTTING_DOWN);
    assert!(RefusalKind::PeerLimit as i32 == CREW_REFUSED_PEER_LIMIT);
    assert!(RefusalKind::TargetMemory as i32 == CREW_REFUSED_TARGET_MEMORY);
    assert!(RefusalKind::Sealed as i32 == CREW_REFUSED_SEALED);
    assert!(RefusalKind::TooManyWaiters as i32 == CREW_REFUSED_TOO_MANY_WAITERS);
};
