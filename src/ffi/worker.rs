// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worker loop's side, for ports.

use super::port::event_for_c;
use super::*;
use crate::port::{Next, Outcome};
use core::ffi::c_void;

/// Call function(argument), then crew_worker_done.
pub const CREW_WORK_RUN: i32 = 0;
/// Wait for the event, at most timeout_ms, then ask again.
pub const CREW_WORK_WAIT: i32 = 1;
/// End the thread.
pub const CREW_WORK_STOP: i32 = 2;

/// What a worker shall do now.
#[repr(C)]
pub struct crew_work {
    /// CREW_WORK_RUN: the job.
    pub function: crew_function,
    /// CREW_WORK_RUN: its argument.
    pub argument: *mut c_void,
    /// CREW_WORK_WAIT: the worker's own event.
    pub event: *mut crew_event,
    /// CREW_WORK_WAIT: the bound, in ms.
    pub wait_ms: u32,
}

/// What the worker shall do now: one of CREW_WORK_... For the loop in csrc/worker.c only, on the
/// worker's own thread. Never blocks, never calls back. A number that is no worker's, or a NULL, is
/// CREW_WORK_STOP.
///
/// # Safety
/// `work` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_worker_next(worker: u32, work: *mut crew_work) -> i32 {
    let Some(member) = CREW.member(worker as usize).filter(|_| !work.is_null()) else {
        return CREW_WORK_STOP;
    };
    let (action, todo) = match member.next() {
        Next::Run { function, argument } => (
            CREW_WORK_RUN,
            crew_work {
                function: Some(function),
                argument,
                event: core::ptr::null_mut(),
                wait_ms: 0,
            },
        ),
        Next::Wait { event, timeout_ms } => (
            CREW_WORK_WAIT,
            crew_work {
                function: None,
                argument: core::ptr::null_mut(),
                event: event_for_c(event),
                wait_ms: timeout_ms,
            },
        ),
        Next::Stop => return CREW_WORK_STOP,
    };
    // SAFETY: not NULL, and the caller's promise.
    unsafe { *work = todo };
    action
}

/// The job that crew_worker_next gave has ended: outcome CREW_JOB_RETURNED or CREW_JOB_FAILED. For
/// the loop in csrc/worker.c only, on the worker's own thread. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn crew_worker_done(worker: u32, outcome: i32, value: i32) {
    let outcome = match outcome {
        CREW_JOB_RETURNED => Outcome::Returned,
        _ => Outcome::Failed,
    };
    if let Some(member) = CREW.member(worker as usize) {
        member.done(outcome, value);
    }
}

/// The worker's thread ends, for whatever reason. From the thread-exit hook in csrc/worker.c only,
/// once, on the worker's own thread, as the last it has to do with Crew.
#[unsafe(no_mangle)]
pub extern "C" fn crew_worker_exited(worker: u32) {
    if let Some(member) = CREW.member(worker as usize) {
        member.exited();
    }
}
