// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register, drain, unregister; candidates.

use super::{Buffer, crew_fleet, crew_key, crew_life, crew_resource, enter, give_many, of_error};
use crate::ffi::pointer::{give, status};
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

/// Ends a resource: its leases and executions are stale from here on. Owner only.
///
/// CREW_STALE, CREW_FLEET_NOT_OWNER, CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_unregister(fleet: crew_fleet, resource: crew_resource) -> i32 {
    status(enter(fleet).and_then(|node| node.unregister(resource.into()).map_err(of_error)))
}

/// Gives no new leases of the resource from here on. The owner still accepts those that are
/// reserved, and the work ends at its own pace. Twice is once. Owner only.
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
    /// The resource's name.
    pub resource: crew_resource,
    /// The life that owns it.
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
    /// Units that a caller could reserve: none while it drains.
    pub free: u32,
    /// The time of its last reservation, by the clock of the port; 0: never.
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

/// Writes the resources under the key into `buffer`, in the table's order, as many as fit; *count
/// is how many there were. A snapshot, never a reservation. The look takes back the resources of
/// dead processes that it finds. It uses no key up.
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
    let fill = |buffer: &mut Buffer<crew_candidate>| {
        let node = enter(fleet)?;
        node.candidates(key.into()).for_each(|candidate| buffer.put(candidate.into()));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { give_many(buffer, room, count, fill) }
}
