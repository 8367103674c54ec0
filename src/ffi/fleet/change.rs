// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of changes, and waiting for one.

use super::{crew_fleet, crew_key, enter, of_error};
use crate::ffi::pointer::give;
use crate::ffi::status::CREW_TIMED_OUT;
use crate::fleet::{Error, Wait};

/// The key's count of changes that can make a "no" a "yes": a resource came, went or drains, a unit
/// came back, an owner that was far behind accepted, a creation ended. It wraps. 0 for a key that
/// was never used.
///
/// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `version` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_version(
    fleet: crew_fleet,
    key: crew_key,
    version: *mut u32,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { give(version, || Ok(enter(fleet)?.version(key.into()))) }
}

/// Waits until the key's count is no longer `since`, at most timeout_ms (24 days at most); *version
/// is the count then. Any number of changes end the wait once. A change before the wait counts, and
/// so does one just as its time is over. It may end though nothing useful has changed.
///
/// CREW_TIMED_OUT, CREW_REFUSED_TOO_MANY_WAITERS, CREW_STALE (also when crew_fleet_leave was called
/// meanwhile), CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `version` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_wait(
    fleet: crew_fleet,
    key: crew_key,
    since: u32,
    timeout_ms: u32,
    version: *mut u32,
) -> i32 {
    let wait = || {
        let node = enter(fleet)?;
        let goes_on = || node.visit.goes_on();
        of_wait(node.wait_while(key.into(), since, timeout_ms, goes_on))
    };
    // SAFETY: the caller's promise.
    unsafe { give(version, wait) }
}

fn of_wait(ended: Result<Wait, Error>) -> Result<u32, i32> {
    match ended.map_err(of_error)? {
        Wait::Changed(now) => Ok(now),
        Wait::TimedOut => Err(CREW_TIMED_OUT),
    }
}

/// Begins to watch the whole table: *since is for crew_fleet_wait_any. Any change after this call
/// ends that wait. So watch, try, and wait if the try fails.
///
/// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT.
///
/// # Safety
/// `since` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_watch(fleet: crew_fleet, since: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { give(since, || Ok(enter(fleet)?.watch())) }
}

/// Waits until anything has changed since crew_fleet_watch, at most timeout_ms.
///
/// As crew_fleet_wait.
///
/// # Safety
/// `now` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_wait_any(
    fleet: crew_fleet,
    since: u32,
    timeout_ms: u32,
    now: *mut u32,
) -> i32 {
    let wait = || {
        let node = enter(fleet)?;
        of_wait(node.wait_any_while(since, timeout_ms, || node.visit.goes_on()))
    };
    // SAFETY: the caller's promise.
    unsafe { give(now, wait) }
}
