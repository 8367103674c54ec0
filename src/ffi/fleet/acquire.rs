// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two halves of an acquire, and the policies between them. The loop is csrc/fleet_acquire.c: a policy
//! is called from C, with nothing of the core on the stack and nothing held.

use super::*;
use crate::fleet::{Choice, Limits, Plan, local_first, local_only};
use core::ffi::c_void;

/// The bounds of one acquire. Initialise with CREW_FLEET_LIMITS_INIT.
#[repr(C)]
pub struct crew_fleet_limits {
    /// sizeof(crew_fleet_limits)
    pub size: u32,
    /// Resources under the key that may live or be created, in the whole fleet.
    pub max_live: u32,
    /// How often a race that was lost is tried again from a fresh look, the first time included; 0 is 1.
    pub attempts: u32,
}

// SAFETY: `repr(C)`, and its first field is its size.
unsafe impl Sized32 for crew_fleet_limits {}

/// What a policy looks at; it asks for more with crew_fleet_candidates and crew_fleet_budget.
#[repr(C)]
pub struct crew_fleet_view {
    /// sizeof(crew_fleet_view)
    pub size: u32,
    /// What the caller of acquire allows.
    pub max_live: u32,
    /// The membership.
    pub fleet: crew_fleet,
    /// The key.
    pub key: crew_key,
    /// The key's count of changes before this look.
    pub version: u32,
    /// Of the attempts, this one; the first is 0.
    pub attempt: u32,
}

// SAFETY: `repr(C)`, and its first field is its size.
unsafe impl Sized32 for crew_fleet_view {}

/// The policy chose a candidate.
pub const CREW_CHOICE_REUSE: u32 = 1;
/// The policy chose to create a resource.
pub const CREW_CHOICE_CREATE: u32 = 2;
/// Nothing now; something may come.
pub const CREW_CHOICE_WAIT: u32 = 3;
/// Nothing, for a reason of the policy's own.
pub const CREW_CHOICE_REJECT: u32 = 4;

/// What a policy chose. It is given with kind CREW_CHOICE_WAIT.
#[repr(C)]
pub struct crew_fleet_choice {
    /// sizeof(crew_fleet_choice)
    pub size: u32,
    /// CREW_CHOICE_...
    pub kind: u32,
    /// CREW_CHOICE_REUSE: which.
    pub resource: crew_resource,
    /// CREW_CHOICE_REJECT: why, the policy's own.
    pub reason: u32,
}

// SAFETY: `repr(C)`, and its first field is its size.
unsafe impl Sized32 for crew_fleet_choice {}

/// A reuse of a resource of this node's own: the plan's lease holds its reservation.
pub const CREW_PLAN_LOCAL_REUSE: u32 = 1;
/// A reuse of another node's: the plan's lease holds its reservation.
pub const CREW_PLAN_REMOTE_REUSE: u32 = 2;
/// Create a resource: the plan's permit is claimed.
pub const CREW_PLAN_CREATE: u32 = 3;
/// Wait until the key's count is no longer the plan's version (crew_fleet_wait).
pub const CREW_PLAN_WAIT: u32 = 4;
/// The policy said no: the plan's reason.
pub const CREW_PLAN_REJECT: u32 = 5;

/// What an acquire got. Nothing in it is advice: a reuse holds its reservation, a creation its claim.
/// Initialise with CREW_FLEET_PLAN_INIT.
#[repr(C)]
pub struct crew_fleet_plan {
    /// sizeof(crew_fleet_plan)
    pub size: u32,
    /// CREW_PLAN_...
    pub kind: u32,
    /// CREW_PLAN_LOCAL_REUSE, CREW_PLAN_REMOTE_REUSE.
    pub lease: crew_fleet_lease,
    /// CREW_PLAN_CREATE.
    pub permit: crew_permit,
    /// CREW_PLAN_WAIT.
    pub version: u32,
    /// CREW_PLAN_REJECT.
    pub reason: u32,
}

// SAFETY: `repr(C)`, and its first field is its size.
unsafe impl Sized32 for crew_fleet_plan {}

/// Looks: the first half of an acquire, for csrc/fleet_acquire.c and loops like it.
///
/// CREW_FLEET_LIFE_ENDED, CREW_FLEET_RESETTING, CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT,
/// CREW_BAD_SIZE.
///
/// # Safety
/// `limits` and `view` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_look(
    fleet: crew_fleet,
    key: crew_key,
    limits: *const crew_fleet_limits,
    attempt: u32,
    view: *mut crew_fleet_view,
) -> i32 {
    // SAFETY: the caller's promise.
    if let Err(status) = unsafe { check_size(limits).and(check_size(view)) } {
        return status;
    }
    // SAFETY: not NULL, of the right size, and the caller's promise.
    let max_live = unsafe { (*limits).max_live };
    let look = || {
        let version = enter(fleet)?.look(key.into()).map_err(of_error)?;
        let size = size_of::<crew_fleet_view>() as u32;
        Ok(crew_fleet_view { size, max_live, fleet, key, version, attempt })
    };
    // SAFETY: the caller's promise.
    unsafe { give(view, look) }
}

/// Carries out what was chosen: the second half of an acquire.
///
/// CREW_FLEET_LOST_RACE: another one was faster; look again, or wait for view's version.
/// CREW_BAD_VALUE (no kind of choice), CREW_FLEET_KEY_TABLE_FULL, CREW_FLEET_LIFE_ENDED,
/// CREW_FLEET_RESETTING, CREW_FLEET_WAS_RESET, CREW_STALE (the membership), CREW_BAD_HANDLE,
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
///
/// # Safety
/// `view`, `choice` and `plan` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_carry_out(
    view: *const crew_fleet_view,
    choice: *const crew_fleet_choice,
    plan: *mut crew_fleet_plan,
) -> i32 {
    // SAFETY: the caller's promise.
    let sizes = unsafe { check_size(view).and(check_size(choice)).and(check_size(plan)) };
    if let Err(status) = sizes {
        return status;
    }
    // SAFETY: not NULL, of the right size, and the caller's promise.
    let (view, choice) = unsafe { (&*view, &*choice) };
    // SAFETY: the caller's promise.
    unsafe { give(plan, || carry_out(view, choice)) }
}

fn carry_out(view: &crew_fleet_view, choice: &crew_fleet_choice) -> Result<crew_fleet_plan, i32> {
    let choice = match choice.kind {
        CREW_CHOICE_REUSE => Choice::Reuse(choice.resource.into()),
        CREW_CHOICE_CREATE => Choice::Create,
        CREW_CHOICE_WAIT => Choice::Wait,
        CREW_CHOICE_REJECT => Choice::Reject(choice.reason),
        _ => return Err(CREW_BAD_VALUE),
    };
    let node = enter(view.fleet)?;
    let carried_out = node.carry_out(view.key.into(), view.max_live, view.version, choice);
    let nobody = crew_life { node: 0, incarnation: 0 };
    let mut plan = crew_fleet_plan {
        size: size_of::<crew_fleet_plan>() as u32,
        kind: CREW_PLAN_WAIT,
        lease: crew_fleet_lease { resource: crew_resource { bits: 0 }, fence: 0, holder: nobody },
        permit: crew_permit { bits: 0 },
        version: 0,
        reason: 0,
    };
    match carried_out.map_err(of_error)?.ok_or(CREW_FLEET_LOST_RACE)? {
        Plan::LocalReuse(lease) => {
            (plan.kind, plan.lease) = (CREW_PLAN_LOCAL_REUSE, lease.into());
        }
        Plan::RemoteReuse(lease) => {
            (plan.kind, plan.lease) = (CREW_PLAN_REMOTE_REUSE, lease.into());
        }
        Plan::Create(permit) => {
            plan.kind = CREW_PLAN_CREATE;
            plan.permit.bits = permit.into_claim().bits();
        }
        Plan::Wait(version) => plan.version = version,
        Plan::Reject(reason) => (plan.kind, plan.reason) = (CREW_PLAN_REJECT, reason),
    }
    Ok(plan)
}

/// A policy: a resource of this node's own with room, else another one's, else create within the budget,
/// else wait. `context` is not used.
///
/// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
///
/// # Safety
/// `view` and `choice` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_local_first(
    context: *mut c_void,
    view: *const crew_fleet_view,
    choice: *mut crew_fleet_choice,
) -> i32 {
    let _ = context;
    // SAFETY: the caller's promise.
    unsafe { choose(view, choice, local_first) }
}

/// A policy: a resource of this node's own with room, else create within the budget, else wait. `context`
/// is not used.
///
/// CREW_STALE, CREW_BAD_HANDLE, CREW_NULL_ARGUMENT, CREW_BAD_SIZE.
///
/// # Safety
/// `view` and `choice` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_local_only(
    context: *mut c_void,
    view: *const crew_fleet_view,
    choice: *mut crew_fleet_choice,
) -> i32 {
    let _ = context;
    // SAFETY: the caller's promise.
    unsafe { choose(view, choice, local_only) }
}

/// # Safety
/// `view` and `choice` are NULL or valid.
unsafe fn choose(
    view: *const crew_fleet_view,
    choice: *mut crew_fleet_choice,
    policy: impl FnOnce(&crate::fleet::View<'_, '_>) -> Choice,
) -> i32 {
    // SAFETY: the caller's promise.
    if let Err(status) = unsafe { check_size(view).and(check_size(choice)) } {
        return status;
    }
    // SAFETY: not NULL, of the right size, and the caller's promise.
    let view = unsafe { &*view };
    let choose = || {
        let node = enter(view.fleet)?;
        let limits = Limits { max_live: view.max_live, attempts: 1 };
        let (kind, resource, reason) = match policy(&node.view(view.key.into(), limits)) {
            Choice::Reuse(id) => (CREW_CHOICE_REUSE, id.bits(), 0),
            Choice::Create => (CREW_CHOICE_CREATE, 0, 0),
            Choice::Wait => (CREW_CHOICE_WAIT, 0, 0),
            Choice::Reject(reason) => (CREW_CHOICE_REJECT, 0, reason),
        };
        let size = size_of::<crew_fleet_choice>() as u32;
        Ok(crew_fleet_choice { size, kind, resource: crew_resource { bits: resource }, reason })
    };
    // SAFETY: the caller's promise.
    unsafe { give(choice, choose) }
}
