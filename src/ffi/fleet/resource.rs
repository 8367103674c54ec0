// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register, drain, unregister; candidates.

use super::*;
use crate::fleet::Candidate;

/// Registers a resource of this node with room for `capacity` leases at a time; 1 is exclusive.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_CAPACITY (1 to 65,535), CREW_FLEET_FULL (the geometry's resources),
/// CREW_FLEET_KEY_TABLE_FULL; CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET,
/// CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `resource` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_register(
    fleet: crew_fleet,
    key: crew_key,
    capacity: u32,
    resource: *mut crew_resource,
) -> i32 {
    let register = || {
        let id = enter(fleet)?.register(key.into(), capacity).map_err(of_error)?;
        Ok(id.into())
    };
    // SAFETY: the caller's promise.
    unsafe { give(resource, register) }
}

/// Ends a resource: leases and executions of it are stale from here on. Owner only.
///
/// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_unregister(fleet: crew_fleet, resource: crew_resource) -> i32 {
    status(enter(fleet).and_then(|node| node.unregister(resource.into()).map_err(of_error)))
}

/// No new leases of the resource from here on. What is reserved is still accepted, and what is at work
/// ends at its own pace. Twice is once. Owner only.
///
/// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_drain(fleet: crew_fleet, resource: crew_resource) -> i32 {
    status(enter(fleet).and_then(|node| node.drain(resource.into()).map_err(of_error)))
}

/// A resource under a key, as it was at one moment.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_candidate {
    /// Its name.
    pub resource: crew_resource,
    /// Who owns it.
    pub owner: crew_life,
    /// 1: this membership's own life does; else 0.
    pub local: u32,
    /// 1: it takes no new leases; else 0.
    pub draining: u32,
    /// Units in all.
    pub capacity: u32,
    /// Units reserved, and not yet accepted.
    pub reserved: u32,
    /// Units at work.
    pub active: u32,
    /// Units that could be reserved: none while it drains.
    pub free: u32,
    /// When it was reserved last, by the clock of the port; 0: never.
    pub reserved_at_ms: u32,
}

impl From<Candidate> for crew_candidate {
    fn from(candidate: Candidate) -> Self {
        Self {
            resource: candidate.id.into(),
            owner: candidate.owner.into(),
            local: candidate.local.into(),
            draining: candidate.draining.into(),
            capacity: candidate.capacity,
            reserved: candidate.reserved,
            active: candidate.active,
            free: candidate.free,
            reserved_at_ms: candidate.reserved_at_ms.unwrap_or(0),
        }
    }
}

/// The resources under the key, in the table's order, the first `room` of them into `buffer`; *count is
/// how many there were. A snapshot, never a reservation. What a dead process owned is taken back when it
/// is met. Looking uses no key up.
///
/// CREW_NULL_ARGUMENT (count; buffer, unless room is 0), CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `buffer` is writable for `room` candidates; `count` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_candidates(
    fleet: crew_fleet,
    key: crew_key,
    buffer: *mut crew_candidate,
    room: u32,
    count: *mut u32,
) -> i32 {
    let look = || {
        if buffer.is_null() && room > 0 {
            return Err(CREW_NULL_ARGUMENT);
        }
        let node = enter(fleet)?;
        let mut found = 0;
        for candidate in node.candidates(key.into()) {
            if found < room {
                // SAFETY: within the caller's buffer.
                unsafe { buffer.add(found as usize).write(candidate.into()) }
            }
            found += 1;
        }
        Ok(found)
    };
    // SAFETY: the caller's promise.
    unsafe { give(count, look) }
}
