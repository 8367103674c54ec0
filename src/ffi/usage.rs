// SPDX-License-Identifier: MIT OR Apache-2.0
//! The account, charges for fixed threads, figures, the report.

use super::status::of_close;
use super::*;
use crate::account::{Account, verdict::Verdict};
use crate::limits::{MAX_ROLES, TEXT_BYTES};
use crate::sets::RefusalKind;
use crate::table::Handle;
use core::ffi::{c_char, c_void};

/// The memory of a fixed thread on the account.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_charge_handle {
    /// Crew's own.
    pub bits: u64,
}

/// Puts the memory of a fixed thread (a scan band, an acceptor) on the account until crew_uncharge.
/// It is not refused for the budget: what is held may pass it, and sets are refused the sooner.
///
/// CREW_NOT_BOOTED, CREW_NULL_ARGUMENT, CREW_BAD_VALUE (0, or more than an address space holds),
/// CREW_TABLE_FULL (CREW_MAX_CHARGES).
///
/// # Safety
/// `charge` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_charge(bytes: u64, charge: *mut crew_charge_handle) -> i32 {
    if charge.is_null() {
        return CREW_NULL_ARGUMENT;
    }
    if CREW.host.port().is_none() {
        return CREW_NOT_BOOTED;
    }
    let Some(bytes) = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0) else {
        return CREW_BAD_VALUE;
    };
    match CREW.host.charge(bytes) {
        Ok(handle) => {
            // SAFETY: not NULL, and the caller's promise.
            unsafe { *charge = crew_charge_handle { bits: handle.bits() } };
            CREW_OK
        }
        Err(None) => CREW_TABLE_FULL,
        Err(Some(_)) => CREW_BAD_VALUE,
    }
}

/// The fixed thread has ended: its bytes go back, once.
///
/// CREW_STALE (taken back before), CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_uncharge(charge: crew_charge_handle) -> i32 {
    let handle = Handle::from_bits(charge.bits);
    if !CREW.host.is_charge(handle) {
        CREW_BAD_HANDLE
    } else if CREW.uncharge(handle) {
        CREW_OK
    } else {
        CREW_STALE
    }
}

/// No budget was asked for.
pub const CREW_VERDICT_UNBOUNDED: u32 = 0;
/// The target has the budget.
pub const CREW_VERDICT_CONFIRMED: u32 = 1;
/// The target had less; what it confirmed was adopted.
pub const CREW_VERDICT_CLAMPED: u32 = 2;
/// Nothing on this target can tell.
pub const CREW_VERDICT_UNVERIFIABLE: u32 = 3;
/// The target refused even 8 MiB, which were adopted all the same.
pub const CREW_VERDICT_FLOOR_HELD: u32 = 4;

/// The account's figures. Initialise with CREW_ACCOUNT_INIT.
#[repr(C)]
pub struct crew_account {
    /// sizeof(crew_account)
    pub size: u32,
    /// One of CREW_VERDICT_...
    pub verdict: u32,
    /// The budget in bytes; UINT64_MAX: no limit.
    pub budget_bytes: u64,
    /// The budget that was asked for in bytes; UINT64_MAX: no limit.
    pub asked_bytes: u64,
    /// Bytes held now.
    pub held_bytes: u64,
    /// The most that was ever held.
    pub high_water_bytes: u64,
    /// Of the bytes held now, those of fixed threads.
    pub fixed_bytes: u64,
    /// How often the account refused a set; wraps.
    pub refusals: u32,
    /// Charges held now.
    pub charges: u32,
}

// SAFETY: `repr(C)`, and its first field is its size.
unsafe impl Sized32 for crew_account {}

/// The account's figures.
///
/// CREW_NOT_BOOTED, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
///
/// # Safety
/// `usage` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_account_usage(usage: *mut crew_account) -> i32 {
    // SAFETY: the caller's promise.
    if let Err(status) = unsafe { check_size(usage) } {
        return status;
    }
    let Some(account) = CREW.account_usage() else { return CREW_NOT_BOOTED };
    let bytes = |n: usize| if n == Account::UNBOUNDED { u64::MAX } else { n as u64 };
    // SAFETY: not NULL, of the right size, and the caller's promise.
    unsafe {
        *usage = crew_account {
            size: size_of::<crew_account>() as u32,
            verdict: match account.verdict {
                Verdict::Unbounded => CREW_VERDICT_UNBOUNDED,
                Verdict::Confirmed => CREW_VERDICT_CONFIRMED,
                Verdict::Clamped { .. } => CREW_VERDICT_CLAMPED,
                Verdict::Unverifiable { .. } => CREW_VERDICT_UNVERIFIABLE,
                Verdict::FloorHeld { .. } => CREW_VERDICT_FLOOR_HELD,
            },
            budget_bytes: bytes(account.budget),
            asked_bytes: account.asked_mib.map_or(u64::MAX, |mib| u64::from(mib) << 20),
            held_bytes: account.held as u64,
            high_water_bytes: account.high_water as u64,
            fixed_bytes: account.fixed as u64,
            refusals: account.refusals,
            charges: CREW.charges() as u32,
        };
    }
    CREW_OK
}

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

// SAFETY: `repr(C)`, and its first field is its size.
unsafe impl Sized32 for crew_usage {}

/// A pool's figures. Looks at each of its threads: a suspended one retires its set.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `usage` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_pool_usage(pool: crew_pool, usage: *mut crew_usage) -> i32 {
    // SAFETY: the caller's promise.
    if let Err(status) = unsafe { check_size(usage) } {
        return status;
    }
    let figures = match CREW.sets().usage(Handle::from_bits(pool.bits)) {
        Ok(figures) => figures,
        Err(error) => return of_close(error),
    };
    let mut refused = [0; CREW_REFUSAL_KINDS as usize];
    refused[..RefusalKind::COUNT].copy_from_slice(&figures.refused);
    // SAFETY: not NULL, of the right size, and the caller's promise.
    unsafe {
        *usage = crew_usage {
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
        };
    }
    CREW_OK
}
const _: () = assert!(MAX_ROLES == CREW_MAX_ROLES as usize);

/// Takes one line of a report, without newline. Must return; may be called many times.
pub type crew_sink = Option<unsafe extern "C" fn(context: *mut c_void, line: *const c_char)>;

/// Prints who holds what, since when, and what was refused and why. Level 0: a line for the account
/// and one for each pool. 1: roles, stacks and refusals by kind too. 2 and above: every busy set.
///
/// CREW_NULL_ARGUMENT (sink).
///
/// # Safety
/// Calling `sink` with `context` is sound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_report(level: u32, sink: crew_sink, context: *mut c_void) -> i32 {
    let Some(sink) = sink else { return CREW_NULL_ARGUMENT };
    CREW.report(level, &mut |line| {
        with_c_text(line, |line| {
            // SAFETY: the caller's promise.
            unsafe { sink(context, line) }
        });
    });
    CREW_OK
}

/// `text` with a NUL behind it, for the time of the call.
pub(super) fn with_c_text(text: &str, call: impl FnOnce(*const c_char)) {
    let mut bytes = [0u8; TEXT_BYTES * 2 + 1];
    for (to, from) in bytes[..TEXT_BYTES * 2].iter_mut().zip(text.bytes()) {
        *to = from;
    }
    call(bytes.as_ptr().cast());
}
