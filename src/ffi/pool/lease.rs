// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leases: acquire and release.

use super::crew_pool;
use crate::crew::CREW;
use crate::ffi::pointer::{Out, give, read, sized32, status};
use crate::ffi::status::{
    CREW_BAD_SIZE, CREW_BAD_VALUE, CREW_OK, CREW_REFUSED_SHUTTING_DOWN, CREW_REFUSED_SPAWN_FAILED,
    crew_status_errno, of_acquire, of_refusal, of_run,
};
use crate::sets::{AcquireError, EAGAIN, EPIPE, Refusal};
use crate::table::Handle;
use core::num::NonZeroU64;

/// The right to use one set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_lease {
    /// Crew's own.
    pub bits: u64,
}

/// Why there is no set. Initialise with CREW_REFUSAL_INIT. Fields that do not belong to the kind
/// are 0.
#[repr(C)]
pub struct crew_refusal {
    /// sizeof(crew_refusal)
    pub size: u32,
    /// One of CREW_REFUSED_..., the same as the status.
    pub kind: i32,
    /// AT_CAPACITY: the capacity in sets. PEER_LIMIT: the limit in sets. TOO_MANY_WAITERS: the
    /// bound.
    pub capacity: u32,
    /// SPAWN_FAILED: which role's thread.
    pub role: u32,
    /// SPAWN_FAILED: the system's error number; 0: the thread was made and ended before it was
    /// ready.
    pub os_error: i32,
    /// OBJECTS_EXHAUSTED: how many kernel objects the set needed.
    pub objects: u32,
    /// OUT_OF_RESERVATION: the set's bytes. TARGET_MEMORY: those of one of its threads.
    pub bytes_requested: u64,
    /// OUT_OF_RESERVATION: bytes held at that moment.
    pub bytes_held: u64,
    /// OUT_OF_RESERVATION: the budget in bytes.
    pub bytes_budget: u64,
}

sized32!(crew_refusal);

fn refusal_for_c(refusal: &Refusal) -> crew_refusal {
    let mut out = crew_refusal {
        size: size_of::<crew_refusal>() as u32,
        kind: of_refusal(refusal),
        capacity: 0,
        role: 0,
        os_error: 0,
        objects: 0,
        bytes_requested: 0,
        bytes_held: 0,
        bytes_budget: 0,
    };
    match *refusal {
        Refusal::AtCapacity { capacity: n }
        | Refusal::PeerLimit { limit: n }
        | Refusal::TooManyWaiters { bound: n } => out.capacity = n,
        Refusal::OutOfReservation(shortfall) => {
            out.bytes_requested = shortfall.requested as u64;
            out.bytes_held = shortfall.held as u64;
            out.bytes_budget = shortfall.budget as u64;
        }
        Refusal::SpawnFailed { os_error, role } => {
            out.os_error = os_error;
            out.role = role;
        }
        Refusal::ObjectsExhausted { objects } => out.objects = objects,
        Refusal::TargetMemory { requested } => out.bytes_requested = requested as u64,
        Refusal::ShuttingDown | Refusal::Sealed => {}
    }
    out
}

/// An errno for a refusal: the system's own for a failed thread creation, EPIPE for a pool that is
/// closing, EAGAIN for the rest; EINVAL for NULL or an unknown size.
///
/// # Safety
/// `refusal` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_refusal_errno(refusal: *const crew_refusal) -> i32 {
    // SAFETY: the caller's promise.
    let Ok(refusal) = (unsafe { read(refusal) }) else { return crew_status_errno(CREW_BAD_SIZE) };
    match refusal.kind {
        CREW_REFUSED_SPAWN_FAILED if refusal.os_error != 0 => refusal.os_error,
        CREW_REFUSED_SHUTTING_DOWN => EPIPE,
        _ => EAGAIN,
    }
}

/// Borrows a whole set: an idle one, else a new one. The borrower gives its members jobs (crew_run)
/// and releases it (crew_release).
///
/// timeout_ms 0 refuses at once. Otherwise it waits, first come, first served, for a set, a slot or
/// bytes; the refusal after the time is the last one met. Leasing an idle set takes tens of
/// nanoseconds and allocates nothing. Making one asks the account, the target, and makes threads.
///
/// Any CREW_REFUSED_... (and *refusal, unless NULL, says why, with its numbers), CREW_STALE (the
/// pool has been closed), CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
///
/// # Safety
/// `lease` is NULL or writable, `refusal` NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_acquire(
    pool: crew_pool,
    timeout_ms: u32,
    lease: *mut crew_lease,
    refusal: *mut crew_refusal,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { acquire(pool, None, timeout_ms, lease, refusal) }
}

/// As crew_acquire, for a peer: a number by which the caller tells its clients apart (a client
/// host's address, for example). With the pool's per_peer set, one peer never has more sets than
/// that; a set counts for its peer until it is idle again. A peer at its limit is refused for that,
/// whatever else may be missing, before anything is taken, so it is in no other peer's way. The
/// count looks at every set of the pool.
///
/// As crew_acquire; CREW_REFUSED_PEER_LIMIT; CREW_BAD_VALUE: the peer is 0.
///
/// # Safety
/// As crew_acquire.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_acquire_peer(
    pool: crew_pool,
    peer: u64,
    timeout_ms: u32,
    lease: *mut crew_lease,
    refusal: *mut crew_refusal,
) -> i32 {
    let Some(peer) = NonZeroU64::new(peer) else { return CREW_BAD_VALUE };
    // SAFETY: the caller's promise.
    unsafe { acquire(pool, Some(peer), timeout_ms, lease, refusal) }
}

/// # Safety
/// As `crew_acquire`.
unsafe fn acquire(
    pool: crew_pool,
    peer: Option<NonZeroU64>,
    timeout_ms: u32,
    lease: *mut crew_lease,
    refusal: *mut crew_refusal,
) -> i32 {
    // SAFETY: the caller's promise.
    let checked = unsafe { Out::new(lease).and_then(|it| Ok((it, Out::sized_or_null(refusal)?))) };
    let (lease, refusal) = match checked {
        Ok(both) => both,
        Err(status) => return status,
    };
    match CREW.sets().acquire(Handle::from_bits(pool.bits), peer, timeout_ms) {
        Ok(handle) => {
            lease.write(crew_lease { bits: handle.bits() });
            CREW_OK
        }
        Err(error) => {
            if let (AcquireError::Refused(why), Some(refusal)) = (&error, refusal) {
                refusal.write(refusal_for_c(why));
            }
            of_acquire(&error)
        }
    }
}

/// Gives the set back. It is lent again when all its jobs have returned; release does not wait for
/// them. Exactly one release of a lease succeeds.
///
/// A set that died under the lease and has not been taken apart yet is released like any other;
/// once it has been, the answer is CREW_RETIRED: its slot is back already, and nothing is left to
/// give.
///
/// CREW_STALE (released before), CREW_RETIRED, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_release(lease: crew_lease) -> i32 {
    status(CREW.sets().release(Handle::from_bits(lease.bits)).map_err(of_run))
}

/// The port's number of the thread of a member, as its thread_create stored it. Under the POSIX
/// port it is the pthread_t. Under the EPICS port it is a record of the port's own, and
/// crewPortEpicsId (crewPortEpics.h) gives the epicsThreadId to it. Valid while the lease is and
/// the thread lives.
///
/// CREW_NOT_RUN (the thread has ended), CREW_STALE, CREW_RETIRED, CREW_BAD_HANDLE, CREW_BAD_ROLE,
/// CREW_NULL_ARGUMENT.
///
/// # Safety
/// `thread` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_lease_thread(
    lease: crew_lease,
    role: u32,
    thread: *mut usize,
) -> i32 {
    let look =
        || CREW.sets().thread_of(Handle::from_bits(lease.bits), role as usize).map_err(of_run);
    // SAFETY: the caller's promise.
    unsafe { give(thread, look) }
}
