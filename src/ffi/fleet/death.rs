// SPDX-License-Identifier: MIT OR Apache-2.0
//! Owners, deaths, sweeps, reset.

use super::*;
use crate::fleet::Swept;

/// Who owns a resource or permit, sorted, the first `room` of them into `buffer`; *count is how many
/// there were. Says who is in the table, not who is alive.
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
    let look = || {
        if buffer.is_null() && room > 0 {
            return Err(CREW_NULL_ARGUMENT);
        }
        let node = enter(fleet)?;
        let found = node.each_owner(|index, life| {
            if index < room as usize {
                // SAFETY: within the caller's buffer.
                unsafe { buffer.add(index).write(life.into()) }
            }
        });
        Ok(found as u32)
    };
    // SAFETY: the caller's promise.
    unsafe { give(count, look) }
}

/// Reports that a life has ended: closes what it owned and ends its permits. Another life of the node is
/// untouched. Needed only where the port cannot tell by itself (CREW_HOLD_UNKNOWN).
///
/// CREW_FLEET_ALIVE (the port knows better), CREW_FLEET_LIFE_ENDED (the reporter's own),
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
    /// Lives that had ended, and were ended in the table.
    pub lives: u32,
    /// Reservations, permits and executions that were left behind.
    pub cells: u32,
}

/// Takes back everything that has lost its owner. From time to time, so that a death is noticed also
/// where nobody meets it.
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

/// Clears the table for everybody: resources, leases, permits, keys. The nodes stay members; all that
/// they held is stale.
///
/// CREW_FLEET_RESETTING (another one is at it), CREW_FLEET_LIFE_ENDED, CREW_STALE, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_reset(fleet: crew_fleet) -> i32 {
    status(enter(fleet).and_then(|node| node.reset_all().map_err(of_error)))
}
