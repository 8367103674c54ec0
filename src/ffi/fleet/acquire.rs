// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two halves of an acquire, and the policies between them. The loop is csrc/fleet_acquire.c: C
//! calls the policy, with no frame of the core on the stack and no membership held.

use super::{
    crew_fleet, crew_fleet_lease, crew_key, crew_life, crew_permit, crew_resource, enter, of_error,
};
use crate::ffi::pointer::{Out, read, sized32, status};
use crate::ffi::status::{CREW_BAD_VALUE, CREW_FLEET_LOST_RACE};
use crate::fleet::{Choice, Limits, Plan, View, local_first, local_only};
use core::ffi::c_void;

/// The bounds of one acquire. Initialise with CREW_FLEET_LIMITS_INIT.
#[repr(C)]
pub struct crew_fleet_limits {
    /// sizeof(crew_fleet_limits)
    pub size: u32,
    /// Resources under the key that may live or be created, in the whole fleet.
    pub max_live: u32,
    /// The most tries, each from a fresh look, while the caller loses one race after the other; 0
    /// is 1.
    pub attempts: u32,
}

sized32!(crew_fleet_limits, crew_fleet_view, crew_fleet_choice, crew_fleet_plan);

/// A policy's view; it asks for more with crew_fleet_candidates and crew_fleet_budget.
#[repr(C)]
pub struct crew_fleet_view {
    /// sizeof(crew_fleet_view)
    pub size: u32,
    /// The bound that the caller of acquire set.
    pub max_live: u32,
    /// The membership.
    pub fleet: crew_fleet,
    /// The key.
    pub key: crew_key,
    /// The key's count of changes before this look.
    pub version: u32,
    /// The number of this try; the first is 0.
    pub attempt: u32,
}

/// The policy chose a candidate.
pub const CREW_CHOICE_REUSE: u32 = 1;
/// The policy chose to create a resource.
pub const CREW_CHOICE_CREATE: u32 = 2;
/// Nothing now, but a change may bring something.
pub const CREW_CHOICE_WAIT: u32 = 3;
/// Nothing, for a reason of the policy's own.
pub const CREW_CHOICE_REJECT: u32 = 4;

/// A policy's choice. The policy gets it with kind CREW_CHOICE_WAIT.
#[repr(C)]
pub struct crew_fleet_choice {
    /// sizeof(crew_fleet_choice)
    pub size: u32,
    /// CREW_CHOICE_...
    pub kind: u32,
    /// CREW_CHOICE_REUSE: which.
    pub resource: crew_resource,
    /// CREW_CHOICE_REJECT: the policy's own reason.
    pub reason: u32,
}

/// A reuse of a resource of this node's own: the plan's lease holds its reservation.
pub const CREW_PLAN_LOCAL_REUSE: u32 = 1;
/// A reuse of another node's: the plan's lease holds its reservation.
pub const CREW_PLAN_REMOTE_REUSE: u32 = 2;
/// Create a resource: the plan's permit is claimed.
pub const CREW_PLAN_CREATE: u32 = 3;
/// Wait until the key's count is no longer the plan's version (crew_fleet_wait).
pub const CREW_PLAN_WAIT: u32 = 4;
/// The policy refused: the plan's reason.
pub const CREW_PLAN_REJECT: u32 = 5;

/// What an acquire got. It is no mere advice: a reuse holds its reservation, a creation its claim.
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
    let look = || {
        // SAFETY: the caller's promise.
        let (limits, view) = unsafe { (read(limits)?, Out::sized(view)?) };
        let version = enter(fleet)?.look(key.into()).map_err(of_error)?;
        let size = size_of::<crew_fleet_view>() as u32;
        let max_live = limits.max_live;
        view.write(crew_fleet_view { size, max_live, fleet, key, version, attempt });
        Ok(())
    };
    status(look())
}

/// Carries out the choice: the second half of an acquire.
///
/// CREW_FLEET_LOST_RACE: another asker was faster; look again, or wait for view's version.
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
    let carried_out = || {
        // SAFETY: the caller's promise.
        let (view, choice, plan) = unsafe { (read(view)?, read(choice)?, Out::sized(plan)?) };
        plan.write(carry_out(view, choice)?);
        Ok(())
    };
    status(carried_out())
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

/// A policy: a resource of this node's own with room, else another node's, else create within the
/// budget, else wait. `context` is not used.
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

/// A policy: a resource of this node's own with room, else create within the budget, else wait.
/// `context` is not used.
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
    policy: impl FnOnce(&View<'_, '_>) -> Choice,
) -> i32 {
    let choose = || {
        // SAFETY: the caller's promise.
        let (view, choice) = unsafe { (read(view)?, Out::sized(choice)?) };
        let node = enter(view.fleet)?;
        let limits = Limits { max_live: view.max_live, attempts: 1 };
        let (kind, resource, reason) = match policy(&node.view(view.key.into(), limits)) {
            Choice::Reuse(id) => (CREW_CHOICE_REUSE, id.bits(), 0),
            Choice::Create => (CREW_CHOICE_CREATE, 0, 0),
            Choice::Wait => (CREW_CHOICE_WAIT, 0, 0),
            Choice::Reject(reason) => (CREW_CHOICE_REJECT, 0, reason),
        };
        let size = size_of::<crew_fleet_choice>() as u32;
        let resource = crew_resource { bits: resource };
        choice.write(crew_fleet_choice { size, kind, resource, reason });
        Ok(())
    };
    status(choose())
}
