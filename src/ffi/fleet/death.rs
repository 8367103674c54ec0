// SPDX-License-Identifier: MIT OR Apache-2.0
//! Owners, deaths, sweeps, reset.

use super::{Buffer, crew_fleet, crew_life, enter, give_many, of_error};
use crate::ffi::pointer::{give, status};
use crate::fleet::Swept;

/// Writes the lives that own a resource or permit into `buffer`, sorted, as many as fit; *count is
/// how many there were. The table does not say whether they are alive.
///
/// CREW_NULL_ARGUMENT (count; buffer, unless room is 0), CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `buffer` is writable for `room` lives; `count` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_owners(
    fleet: crew_fleet,
    buffer: *mut crew_life,
    room: u32,
    count: *mut u32,
) -> i32 {
    let fill = |buffer: &mut Buffer<crew_life>| {
        enter(fleet)?.each_owner(|_, life| buffer.put(life.into()));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { give_many(buffer, room, count, fill) }
}

/// Reports that a life has ended: closes what it owned and ends its permits. Another life of the
/// node is untouched. Needed only if the port cannot tell by itself (CREW_HOLD_UNKNOWN).
///
/// CREW_FLEET_ALIVE (the port says that it goes on), CREW_FLEET_LIFE_ENDED (the reporter's own),
/// CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_node_dead(fleet: crew_fleet, life: crew_life) -> i32 {
    let report = || {
        let life = life.try_into()?;
        enter(fleet)?.node_dead(life).map_err(of_error)
    };
    status(report())
}

/// What a sweep found.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_swept {
    /// Lives that were over, and that the sweep ended in the table.
    pub lives: u32,
    /// Reservations, permits and executions that they left behind.
    pub cells: u32,
}

/// Takes back everything that has lost its owner. Call it from time to time: otherwise a death is
/// noticed only when another process finds something of the dead one.
///
/// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `swept` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_sweep(fleet: crew_fleet, swept: *mut crew_swept) -> i32 {
    let sweep = || {
        let Swept { lives, cells } = enter(fleet)?.sweep().map_err(of_error)?;
        Ok(crew_swept { lives, cells })
    };
    // SAFETY: the caller's promise.
    unsafe { give(swept, sweep) }
}

/// Clears the table for every node: resources, leases, permits, keys. The nodes stay members; what
/// they held is stale.
///
/// CREW_FLEET_RESETTING (another process resets it), CREW_FLEET_LIFE_ENDED, CREW_STALE,
/// CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_reset(fleet: crew_fleet) -> i32 {
    status(enter(fleet).and_then(|node| node.reset_all().map_err(of_error)))
}
