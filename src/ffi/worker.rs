// SPDX-License-Identifier: MIT OR Apache-2.0
//! The worker loop's side, for ports.

use super::pointer::Out;
use super::pool::CREW_JOB_RETURNED;
use super::port::{crew_event, event_for_c};
use crate::crew::CREW;
use crate::port::{Next, Outcome};
use crate::sets::WorkerIndex;
use core::ffi::c_void;
use core::ptr::null_mut;

/// Call function(argument), then crew_worker_done.
pub const CREW_WORK_RUN: i32 = 0;
/// Wait for the event, at most timeout_ms, then ask again.
pub const CREW_WORK_WAIT: i32 = 1;
/// End the thread.
pub const CREW_WORK_STOP: i32 = 2;

/// What a worker runs: called once with the argument given to crew_run, on the worker's thread. It
/// may do anything that a thread of the system may, end its thread included (that retires the set).
pub type crew_function = Option<unsafe extern "C" fn(argument: *mut c_void) -> i32>;

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
    // SAFETY: the caller's promise.
    let (Some(worker), Ok(work)) = (WorkerIndex::of(worker as usize), unsafe { Out::new(work) })
    else {
        return CREW_WORK_STOP;
    };
    match CREW.sets().next(worker) {
        Next::Run { function, argument } => {
            let function = Some(function);
            work.write(crew_work { function, argument, event: null_mut(), wait_ms: 0 });
            CREW_WORK_RUN
        }
        Next::Wait { event, timeout_ms } => {
            let event = event_for_c(event);
            let argument = null_mut();
            work.write(crew_work { function: None, argument, event, wait_ms: timeout_ms });
            CREW_WORK_WAIT
        }
        Next::Stop => CREW_WORK_STOP,
    }
}

/// The job that crew_worker_next gave has ended: outcome CREW_JOB_RETURNED or CREW_JOB_FAILED. For
/// the loop in csrc/worker.c only, on the worker's own thread. Never blocks.
#[allow(clippy::missing_safety_doc)] // it is said above, and is not about pointers
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_worker_done(worker: u32, outcome: i32, value: i32) {
    let outcome = match outcome {
        CREW_JOB_RETURNED => Outcome::Returned,
        _ => Outcome::Failed,
    };
    if let Some(worker) = WorkerIndex::of(worker as usize) {
        CREW.sets().done(worker, outcome, value);
    }
}

/// The worker's thread ends, for whatever reason. From the thread-exit hook in csrc/worker.c only,
/// once, on the worker's own thread, as the last thing that the thread has to do with Crew.
#[allow(clippy::missing_safety_doc)] // as above
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_worker_exited(worker: u32) {
    if let Some(worker) = WorkerIndex::of(worker as usize) {
        CREW.sets().exited(worker);
    }
}
