// SPDX-License-Identifier: MIT OR Apache-2.0
//! The account, and charges for fixed threads.

use super::pointer::{give, give_sized, sized32};
use super::status::{
    CREW_BAD_HANDLE, CREW_BAD_VALUE, CREW_NOT_BOOTED, CREW_OK, CREW_STALE, CREW_TABLE_FULL,
};
use crate::account::{Account, verdict::Verdict};
use crate::crew::CREW;
use crate::table::Handle;

/// The memory of a fixed thread on the account.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_charge_handle {
    /// Crew's own.
    pub bits: u64,
}

/// Puts the memory of a fixed thread (a scan band, an acceptor) on the account until crew_uncharge.
/// The budget does not refuse it: the bytes held may pass the budget, and sets are refused the
/// sooner.
///
/// CREW_NOT_BOOTED, CREW_NULL_ARGUMENT, CREW_BAD_VALUE (0, or more than an address space holds),
/// CREW_TABLE_FULL (CREW_MAX_CHARGES).
///
/// # Safety
/// `charge` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_charge(bytes: u64, charge: *mut crew_charge_handle) -> i32 {
    let put_on = || {
        if CREW.host.port().is_none() {
            return Err(CREW_NOT_BOOTED);
        }
        let bytes = usize::try_from(bytes).ok().filter(|&n| n > 0).ok_or(CREW_BAD_VALUE)?;
        match CREW.host.charge(bytes) {
            Ok(handle) => Ok(crew_charge_handle { bits: handle.bits() }),
            Err(None) => Err(CREW_TABLE_FULL),
            Err(Some(_)) => Err(CREW_BAD_VALUE),
        }
    };
    // SAFETY: the caller's promise.
    unsafe { give(charge, put_on) }
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

sized32!(crew_account);

/// The account's figures.
///
/// CREW_NOT_BOOTED, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
///
/// # Safety
/// `usage` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_account_usage(usage: *mut crew_account) -> i32 {
    let bytes = |n: usize| if n == Account::UNBOUNDED { u64::MAX } else { n as u64 };
    let look = || {
        let account = CREW.account_usage().ok_or(CREW_NOT_BOOTED)?;
        Ok(crew_account {
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
        })
    };
    // SAFETY: the caller's promise.
    unsafe { give_sized(usage, look) }
}
