// SPDX-License-Identifier: MIT OR Apache-2.0
//! `crew_pool.h`: pools, leases, jobs. Here: open, trim, close.

// The order of the header's sections; the blank lines keep it.
mod lease;

mod job;

mod usage;

pub use job::*;
pub use lease::*;
pub use usage::*;

use super::pointer::{Out, read, read_array, read_text, sized32, status};
use super::status::{CREW_BAD_FLAGS, CREW_BAD_ROSTER, CREW_BAD_VALUE, of_close, of_open};
use crate::crew::CREW;
use crate::limits::{JOBS_PER_WORKER, MAX_ROLES, NAME_BYTES, PRIORITY_MAX, STACK_MAX, STACK_MIN};
use crate::sets::{PoolOptions, Role};
use crate::table::Handle;
use core::ffi::c_char;

/// Roles of one roster, at most.
pub const CREW_MAX_ROLES: u32 = 8;
/// Bytes of a pool's or role's name, its NUL included: what Linux and RTEMS keep of a thread's
/// name.
pub const CREW_NAME_BYTES: u32 = 16;
/// The highest priority; 0 is the lowest. EPICS' scale.
pub const CREW_PRIORITY_MAX: u32 = 99;
/// The smallest stack in bytes.
pub const CREW_STACK_MIN: u32 = 4096;
/// The largest stack in bytes: 1 GiB.
pub const CREW_STACK_MAX: u32 = 1073741824;
/// Joinable jobs of one worker whose results have not been taken yet, at most.
pub const CREW_JOBS_PER_WORKER: u32 = 2;
const _: () = {
    assert!(CREW_MAX_ROLES as usize == MAX_ROLES && CREW_NAME_BYTES as usize == NAME_BYTES);
    assert!(CREW_PRIORITY_MAX == PRIORITY_MAX && CREW_STACK_MIN as usize == STACK_MIN);
    assert!(CREW_STACK_MAX as usize == STACK_MAX);
    assert!(CREW_JOBS_PER_WORKER as usize == JOBS_PER_WORKER);
};

/// Threads are named by their role alone, instead of "pool.slot-role".
pub const CREW_POOL_ROLE_NAMES: u32 = 1;

/// A pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_pool {
    /// Crew's own.
    pub bits: u64,
}

/// One role of a roster: what a member of a set is for.
#[repr(C)]
pub struct crew_role {
    /// 1 to CREW_NAME_BYTES - 1 printable characters without blanks. Roles are known by their
    /// number: two of one name are accepted, and have threads of one name.
    pub name: *const c_char,
    /// CREW_STACK_MIN to CREW_STACK_MAX. Charged to the account for as long as the thread exists.
    pub stack_bytes: u32,
    /// 0 to CREW_PRIORITY_MAX.
    pub priority: u32,
}

/// What a pool shall be. Initialise with CREW_POOL_OPTIONS_INIT. Everything is copied.
#[repr(C)]
pub struct crew_pool_options {
    /// sizeof(crew_pool_options)
    pub size: u32,
    /// CREW_POOL_... or 0.
    pub flags: u32,
    /// 1 to CREW_NAME_BYTES - 1 printable characters without blanks. Pools are known by their
    /// handles: two of one name are accepted, and reports and log lines do not tell them apart.
    pub name: *const c_char,
    /// The members of a set, in order: role 0 first.
    pub roles: *const crew_role,
    /// How many. 0: the pool makes no threads; each lease reserves extra_bytes, that is all.
    pub role_count: u32,
    /// The most sets: 1 to CREW_MAX_SETS.
    pub capacity: u32,
    /// Sets made by crew_pool_open: 0 to capacity.
    pub prestart: u32,
    /// Idle sets that are never given back: 0 to capacity.
    pub keep: u32,
    /// Idle sets above keep are given back after having been idle this long, in seconds (it may
    /// take up to twice as long). 0: never.
    pub idle_age_s: u32,
    /// Sets busy for longer are counted as overdue, in seconds. 0: never.
    pub busy_age_s: u32,
    /// The most sets of one peer (crew_acquire_peer). 0: no limit.
    pub per_peer: u32,
    /// 0.
    pub reserved: u32,
    /// Bytes reserved with each set beyond its threads.
    pub extra_bytes: u64,
}

sized32!(crew_pool_options);

/// Opens a pool, and makes its prestarted sets. BOOT ONLY.
///
/// CREW_NOT_BOOTED, CREW_ALREADY_SEALED, CREW_BUSY (another administrative call is under way, or
/// the end of a close that may make the room which is missing), CREW_BAD_SIZE, CREW_BAD_FLAGS,
/// CREW_BAD_TEXT, CREW_BAD_ROSTER, CREW_BAD_STACK, CREW_BAD_PRIORITY, CREW_BAD_CAPACITY,
/// CREW_BAD_VALUE (the bytes of all sets together), CREW_TABLE_FULL, or the refusal of a set to be
/// prestarted: then every set made before it has been taken back; threads that did not end within a
/// second keep the pool's place in the tables until they have ended and another pool is opened.
///
/// # Safety
/// `options` is NULL or valid, and what it points to is as its fields say; `pool` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_pool_open(
    options: *const crew_pool_options,
    pool: *mut crew_pool,
) -> i32 {
    // SAFETY: the caller's promise.
    status(unsafe { open(options, pool) })
}

/// # Safety
/// As `crew_pool_open`.
unsafe fn open(options: *const crew_pool_options, pool: *mut crew_pool) -> Result<(), i32> {
    // SAFETY: the caller's promise.
    let (options, pool) = unsafe { (read(options)?, Out::new(pool)?) };
    if options.flags & !CREW_POOL_ROLE_NAMES != 0 || options.reserved != 0 {
        return Err(CREW_BAD_FLAGS);
    }
    let count = options.role_count as usize;
    if count > MAX_ROLES {
        return Err(CREW_BAD_ROSTER);
    }
    // SAFETY: the caller's promise: the fields are what they say.
    let (roster, name) =
        unsafe { (read_array(options.roles, count)?, read_text(options.name, NAME_BYTES)?) };
    let mut roles = [Role { name: "", stack_bytes: 0, priority: 0 }; MAX_ROLES];
    for (role, from) in roles.iter_mut().zip(roster) {
        // SAFETY: the caller's promise.
        let name = unsafe { read_text(from.name, NAME_BYTES) }?;
        *role = Role { name, stack_bytes: from.stack_bytes as usize, priority: from.priority };
    }
    let options = PoolOptions {
        name,
        roles: &roles[..count],
        capacity: options.capacity,
        prestart: options.prestart,
        keep: options.keep,
        idle_age_s: options.idle_age_s,
        busy_age_s: options.busy_age_s,
        per_peer: options.per_peer,
        extra_bytes: usize::try_from(options.extra_bytes).map_err(|_| CREW_BAD_VALUE)?,
        role_names: options.flags & CREW_POOL_ROLE_NAMES != 0,
    };
    let handle = CREW.sets().open(&options).map_err(|error| of_open(&error))?;
    pool.write(crew_pool { bits: handle.bits() });
    Ok(())
}

/// Gives idle sets back until keep of them are left; waits at most a second for their threads to
/// end, so that the bytes are on the account again when it returns.
///
/// CREW_STALE, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_pool_trim(pool: crew_pool, keep: u32) -> i32 {
    status(CREW.sets().trim(Handle::from_bits(pool.bits), keep).map_err(of_close))
}

/// Refuses new leases, stops the workers of every set, leased or not, and joins them. A worker
/// inside a job stops after it: ask your connections to end first. Leases that are out end with
/// their set; a set without threads ends when its lease is released. When it returns CREW_OK every
/// byte is back on the account.
///
/// CREW_TIMED_OUT: some sets are still there (crew_pool_usage says how many); the pool goes on
/// closing, call again. CREW_STALE, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_pool_close(pool: crew_pool, timeout_ms: u32) -> i32 {
    status(CREW.sets().close(Handle::from_bits(pool.bits), timeout_ms).map_err(of_close))
}
