// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jobs: run, join, detach.

use super::crew_lease;
use crate::crew::CREW;
use crate::ffi::pointer::{Out, sized32, status};
use crate::ffi::status::{CREW_BAD_TEXT, CREW_NULL_ARGUMENT, CREW_OK, of_job, of_run};
use crate::ffi::worker::crew_function;
use crate::limits::LABEL_BYTES;
use crate::port::Outcome;
use crate::sets::Work;
use crate::table::Handle;
use core::ffi::{c_char, c_void};

/// Bytes of a job's label, its NUL included.
pub const CREW_LABEL_BYTES: u32 = 24;
const _: () = assert!(CREW_LABEL_BYTES as usize == LABEL_BYTES);

/// The job returned; its value counts.
pub const CREW_JOB_RETURNED: i32 = 0;
/// The job threw or panicked. Its worker lives.
pub const CREW_JOB_FAILED: i32 = 1;
/// The job's thread ended inside it.
pub const CREW_JOB_DIED: i32 = 2;
/// The job was never begun: its worker was gone.
pub const CREW_JOB_NOT_RUN: i32 = 3;
const _: () = {
    assert!(Outcome::Returned as i32 == CREW_JOB_RETURNED);
    assert!(Outcome::Failed as i32 == CREW_JOB_FAILED);
    assert!(Outcome::Died as i32 == CREW_JOB_DIED);
    assert!(Outcome::NotRun as i32 == CREW_JOB_NOT_RUN);
};

/// A joinable job.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct crew_job {
    /// Crew's own.
    pub bits: u64,
}

/// What a joined job left. Initialise with CREW_RESULT_INIT.
#[repr(C)]
pub struct crew_result {
    /// sizeof(crew_result)
    pub size: u32,
    /// One of CREW_JOB_...
    pub outcome: i32,
    /// CREW_JOB_RETURNED: what the function returned; else 0.
    pub value: i32,
}

sized32!(crew_result);

/// Gives the worker of a role one job. A worker has one job at a time. The argument is the caller's
/// to keep alive until the job has ended. The label names the job in reports and logs.
///
/// With job NULL the job is detached: a failure is logged under its label. Otherwise *job is to be
/// joined (crew_join) or detached (crew_detach); its result is kept until then, also beyond the
/// lease.
///
/// CREW_NOT_RUN: the set was retired or the worker is gone; the function will not be called (a
/// detached job's is logged too). CREW_BUSY: the worker has a job. CREW_NO_JOB_CELL: the results of
/// CREW_JOBS_PER_WORKER earlier jobs of this worker are still kept. CREW_STALE: the lease has
/// ended. CREW_BAD_HANDLE, CREW_BAD_ROLE, CREW_NULL_ARGUMENT, CREW_BAD_TEXT (label: 1 to
/// CREW_LABEL_BYTES - 1 printable characters).
///
/// # Safety
/// `label` is NULL or readable up to its NUL or bound; `job` is NULL or writable; calling
/// `function` with `argument` on another thread is sound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_run(
    lease: crew_lease,
    role: u32,
    label: *const c_char,
    function: crew_function,
    argument: *mut c_void,
    job: *mut crew_job,
) -> i32 {
    let Some(function) = function else { return CREW_NULL_ARGUMENT };
    if label.is_null() {
        return CREW_NULL_ARGUMENT;
    }
    let mut length = 0;
    loop {
        // SAFETY: the caller's promise: this byte is within the bound (the length stays below it),
        // and every byte before it was not NUL.
        match unsafe { *label.cast::<u8>().add(length) } {
            0 if length > 0 => break,
            b' '..=b'~' if length + 1 < LABEL_BYTES => length += 1,
            _ => return CREW_BAD_TEXT,
        }
    }
    // SAFETY: that many bytes have just been read there, and the caller leaves them alone
    // meanwhile.
    let label = unsafe { core::slice::from_raw_parts(label.cast::<u8>(), length) };
    let work = Work::Call(function, argument);
    let joinable = !job.is_null();
    match CREW.sets().run(Handle::from_bits(lease.bits), role as usize, label, &work, joinable) {
        Ok(handle) => {
            if let Some(handle) = handle {
                // SAFETY: joinable: not NULL, and the caller's promise.
                unsafe { *job = crew_job { bits: handle.bits() } };
            }
            CREW_OK
        }
        Err(error) => of_run(error),
    }
}

/// Waits at most timeout_ms for the job's end and takes its result; the job's handle is stale then.
/// When the last job of a released lease has been joined, the next crew_acquire gets the set.
/// Do not join a job from itself: that waits for the whole time.
///
/// CREW_TIMED_OUT (the job goes on, join again), CREW_BUSY (another thread is joining it),
/// CREW_STALE (joined or detached before), CREW_BAD_HANDLE, CREW_BAD_SIZE.
///
/// # Safety
/// `result` is NULL (the result is dropped) or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_join(
    job: crew_job,
    timeout_ms: u32,
    result: *mut crew_result,
) -> i32 {
    // SAFETY: the caller's promise.
    let result = match unsafe { Out::sized_or_null(result) } {
        Ok(result) => result,
        Err(status) => return status,
    };
    match CREW.sets().join(Handle::from_bits(job.bits), timeout_ms) {
        Ok(done) => {
            if let Some(result) = result {
                let size = size_of::<crew_result>() as u32;
                result.write(crew_result { size, outcome: done.outcome as i32, value: done.value });
            }
            CREW_OK
        }
        Err(error) => of_job(error),
    }
}

/// No caller will ask for the job's result: a failure is logged instead. The handle is stale then.
///
/// CREW_BUSY (another thread is joining it), CREW_STALE, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_detach(job: crew_job) -> i32 {
    status(CREW.sets().detach(Handle::from_bits(job.bits)).map_err(of_job))
}
