// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reserve, accept, complete, reconcile.

use super::{crew_execution, crew_fleet, crew_fleet_lease, crew_resource, enter, of_error};
use crate::ffi::pointer::{give, status};
use crate::ffi::status::{CREW_FLEET_NOT_RESERVED, CREW_NULL_ARGUMENT};
use crate::fleet::{Counted, Execution, FleetLease, Reconciled};

/// Reserves one unit of the resource: the right to ask its owner. Any member may do so, the owner
/// too. A lease that is not brought to its owner keeps its unit until the owner ages it
/// (crew_fleet_reconcile).
///
/// CREW_BUSY (no unit is free, or 8 reservations of it are pending that the owner has not
/// accepted), CREW_FLEET_DRAINING, CREW_STALE, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING,
/// CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `lease` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_reserve(
    fleet: crew_fleet,
    resource: crew_resource,
    lease: *mut crew_fleet_lease,
) -> i32 {
    let reserve = || {
        let reserved = enter(fleet)?.reserve(resource.into()).map_err(of_error)?;
        Ok(reserved.into())
    };
    // SAFETY: the caller's promise.
    unsafe { give(lease, reserve) }
}

/// Whether the lease is still pending: CREW_OK, or CREW_FLEET_NOT_RESERVED if its owner has
/// accepted or aged it or its resource has ended. Any member may ask.
///
/// CREW_FLEET_NOT_RESERVED, CREW_STALE (the membership), CREW_BAD_HANDLE (the membership, or a life
/// that no node can have), CREW_NULL_ARGUMENT.
///
/// # Safety
/// `lease` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_is_current(
    fleet: crew_fleet,
    lease: *const crew_fleet_lease,
) -> i32 {
    // SAFETY: the caller's promise.
    let lease = unsafe { read_lease(lease) };
    status(lease.and_then(|lease| {
        let current = enter(fleet)?.is_current(&lease);
        if current { Ok(()) } else { Err(CREW_FLEET_NOT_RESERVED) }
    }))
}

/// # Safety
/// `lease` is NULL or valid.
unsafe fn read_lease(lease: *const crew_fleet_lease) -> Result<FleetLease, i32> {
    if lease.is_null() {
        return Err(CREW_NULL_ARGUMENT);
    }
    // SAFETY: not NULL, and the caller's promise.
    unsafe { *lease }.try_into()
}

/// Accepts a lease that was brought to its owner: its unit is at work from here on, until
/// crew_fleet_complete. The owner only, once for each reservation, in any order; also while it
/// drains.
///
/// CREW_FLEET_NOT_RESERVED (accepted before, or aged), CREW_STALE (the resource has ended),
/// CREW_FLEET_NOT_OWNER, CREW_FLEET_TOO_MANY_EXECUTIONS (the geometry's; the lease stays reserved),
/// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `lease` is NULL or valid; `execution` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_accept(
    fleet: crew_fleet,
    lease: *const crew_fleet_lease,
    execution: *mut crew_execution,
) -> i32 {
    let accept = || {
        // SAFETY: the caller's promise.
        let lease = unsafe { read_lease(lease) }?;
        let accepted = enter(fleet)?.accept(&lease).map_err(of_error)?;
        Ok(crew_execution { bits: accepted.bits() })
    };
    // SAFETY: the caller's promise.
    unsafe { give(execution, accept) }
}

/// The work has ended: gives its unit back and wakes the key's waiters. Once. No other call makes
/// room, because only the owner knows when the work has ended.
///
/// CREW_STALE (completed before, its resource has ended, or a reconciliation took the unit away),
/// CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_complete(fleet: crew_fleet, execution: crew_execution) -> i32 {
    let execution = Execution::from_bits(execution.bits);
    status(enter(fleet).and_then(|node| node.complete(execution).map_err(of_error)))
}

/// The resource's units at work, as the table counts them.
///
/// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `active` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_active(
    fleet: crew_fleet,
    resource: crew_resource,
    active: *mut u32,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { give(active, || enter(fleet)?.active(resource.into()).map_err(of_error)) }
}

/// What a reconciliation did.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_reconciled {
    /// Reservations that were too old, and are gone.
    pub aged: u32,
    /// Units at work now.
    pub active: u32,
}

/// The owner corrects the table by what it knows: units whose execution was lost are given back,
/// and reservations older than `grace_ms` that were not brought to it end, one by one; a late
/// accept of one is CREW_FLEET_NOT_RESERVED. Does nothing to running work.
///
/// The owner counts its work (`active_now`) and reads crew_fleet_active (`active_then`) at one
/// moment, under the lock that keeps its own count and its calls of accept and complete together.
/// Only the difference is applied, so an accept or complete meanwhile is not lost. The same number
/// twice corrects nothing and only ages.
///
/// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE,
/// CREW_NULL_ARGUMENT.
///
/// # Safety
/// `result` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_reconcile(
    fleet: crew_fleet,
    resource: crew_resource,
    active_then: u32,
    active_now: u32,
    grace_ms: u32,
    result: *mut crew_reconciled,
) -> i32 {
    let reconcile = || {
        let counted = Counted { table: active_then, really: active_now };
        let Reconciled { aged, active } =
            enter(fleet)?.reconcile(resource.into(), counted, grace_ms).map_err(of_error)?;
        Ok(crew_reconciled { aged, active })
    };
    // SAFETY: the caller's promise.
    unsafe { give(result, reconcile) }
}
