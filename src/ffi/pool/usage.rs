// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pool's figures.

use super::{CREW_MAX_ROLES, crew_pool};
use crate::ffi::CREW;
use crate::ffi::pointer::{give_sized, sized32};
use crate::ffi::status::of_close;
use crate::sets::RefusalKind;
use crate::table::Handle;

/// One more than the highest number of a refusal.
pub const CREW_REFUSAL_KINDS: u32 = 16;
const _: () = assert!(RefusalKind::COUNT <= CREW_REFUSAL_KINDS as usize);

/// A pool's figures. Initialise with CREW_USAGE_INIT. Each is exact; together they are exact only
/// while nothing changes.
#[repr(C)]
pub struct crew_usage {
    /// sizeof(crew_usage)
    pub size: u32,
    /// The most sets.
    pub capacity: u32,
    /// Sets that exist, those being made or ended included.
    pub created: u32,
    /// Of those, the ones that are not idle.
    pub busy: u32,
    /// Of those, the ones that wait to be leased.
    pub idle: u32,
    /// Threads that wait in crew_acquire.
    pub waiting: u32,
    /// The most sets that existed at one time.
    pub created_high_water: u32,
    /// The most sets that were in use at one time, by the highest slot lent: the lowest idle one is
    /// always the one that is lent.
    pub busy_high_water: u32,
    /// Leases granted so far; wraps.
    pub leases: u32,
    /// Threads made so far; wraps.
    pub threads_created: u32,
    /// Sets retired because a member's thread ended or was suspended.
    pub retirements: u32,
    /// Members that are suspended now.
    pub suspended: u32,
    /// Sets busy for longer than busy_age_s.
    pub overdue: u32,
    /// Seconds since the longest busy set was leased; 0: none is busy for a second yet.
    pub oldest_busy_s: u32,
    /// Refusals so far; the index is the kind (CREW_REFUSED_...).
    pub refused: [u32; CREW_REFUSAL_KINDS as usize],
    /// The most stack that a thread of each role was seen to use, in bytes; 0: not known.
    pub stack_used: [u32; CREW_MAX_ROLES as usize],
}

sized32!(crew_usage);

/// A pool's figures. Looks at each of its threads: a suspended one retires its set.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `usage` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_pool_usage(pool: crew_pool, usage: *mut crew_usage) -> i32 {
    let look = || {
        let figures = CREW.usage(Handle::from_bits(pool.bits)).map_err(of_close)?;
        let mut refused = [0; CREW_REFUSAL_KINDS as usize];
        refused[..RefusalKind::COUNT].copy_from_slice(&figures.refused);
        Ok(crew_usage {
            size: size_of::<crew_usage>() as u32,
            capacity: figures.capacity,
            created: figures.created,
            busy: figures.busy,
            idle: figures.idle,
            waiting: figures.waiting,
            created_high_water: figures.created_high_water,
            busy_high_water: figures.busy_high_water,
            leases: figures.leases,
            threads_created: figures.threads_created,
            retirements: figures.retirements,
            suspended: figures.suspended,
            overdue: figures.overdue,
            oldest_busy_s: figures.oldest_busy_s,
            refused,
            stack_used: figures.stack_used.map(|bytes| bytes as u32),
        })
    };
    // SAFETY: the caller's promise.
    unsafe { give_sized(usage, look) }
}
