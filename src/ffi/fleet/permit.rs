// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claims to create.

use super::{crew_fleet, crew_key, crew_permit, enter, of_error};
use crate::ffi::pointer::{give, status};
use crate::fleet::{Claim, CreationBudget};

/// Claims the right to create a resource under the key, if fewer than `max_live` live or are being
/// created in the whole fleet. Register the resource, then crew_fleet_finish; without that the
/// permit ends with this membership.
///
/// CREW_FLEET_BUDGET_SPENT, CREW_BUSY (8 are being created under the key, whatever max_live),
/// CREW_FLEET_KEY_TABLE_FULL, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET,
/// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `permit` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_claim(
    fleet: crew_fleet,
    key: crew_key,
    max_live: u32,
    permit: *mut crew_permit,
) -> i32 {
    let claim = || {
        let node = enter(fleet)?;
        let granted = node.claim_create(key.into(), max_live).map_err(of_error)?;
        Ok(crew_permit { bits: granted.into_claim().bits() })
    };
    // SAFETY: the caller's promise.
    unsafe { give(permit, claim) }
}

/// Ends a permit: its resource is registered, or never will be. Once.
///
/// CREW_STALE (it has ended), CREW_FLEET_NOT_OWNER, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_finish(fleet: crew_fleet, permit: crew_permit) -> i32 {
    let claim = Claim::from_bits(permit.bits);
    status(enter(fleet).and_then(|node| node.finish(claim).map_err(of_error)))
}

/// The resources that count against a key's max_live.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_key_budget {
    /// Resources that live, and do not drain.
    pub live: u32,
    /// Permits that have not ended.
    pub creating: u32,
}

/// How many resources live under the key, and how many are being created.
///
/// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `budget` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_budget(
    fleet: crew_fleet,
    key: crew_key,
    budget: *mut crew_key_budget,
) -> i32 {
    let look = || {
        let CreationBudget { live, creating } =
            enter(fleet)?.budget(key.into()).map_err(of_error)?;
        Ok(crew_key_budget { live, creating })
    };
    // SAFETY: the caller's promise.
    unsafe { give(budget, look) }
}
