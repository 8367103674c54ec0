// SPDX-License-Identifier: MIT OR Apache-2.0
//! Join, detach, and the completion that they race. The life of a job cell is drawn in `mod.rs`.

use super::slot::{JobCell, job_state};
use crate::crew::Crew;
use crate::limits::{JOBS_PER_WORKER, MAX_WORKERS};
use crate::port::Severity;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use crate::table::{Handle, Kind};
use core::fmt;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// It returned; its value counts.
    Returned = 0,
    /// It panicked or threw. The worker lives.
    Failed = 1,
    /// Its thread ended inside it.
    Died = 2,
    /// It was never begun: its worker was gone.
    NotRun = 3,
}

impl Outcome {
    fn from_u32(n: u32) -> Self {
        match n {
            0 => Outcome::Returned,
            1 => Outcome::Failed,
            2 => Outcome::Died,
            _ => Outcome::NotRun,
        }
    }
}

/// What a joined job left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobResult {
    /// How it ended.
    pub outcome: Outcome,
    /// What it returned, if it did; else 0.
    pub value: i32,
}

/// Why a job was not joined or detached. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// It had not ended within the time.
    TimedOut,
    /// Another thread is joining it.
    Busy,
    /// It has been joined or detached before.
    Stale,
    /// Not a job's handle.
    BadHandle,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JobError::TimedOut => "the job had not ended within the time",
            JobError::Busy => "another thread is joining the job",
            JobError::Stale => "the job has been joined or detached before",
            JobError::BadHandle => "not a job's handle",
        })
    }
}

impl core::error::Error for JobError {}

use job_state::{BITS, DETACHED, DONE, FREE, PENDING, STATE, WAITED};

/// From state `from` of this generation to `to`. False: it was not in that state.
fn step(cell: &JobCell, generation: u32, from: u32, to: u32) -> bool {
    let base = generation << BITS;
    cell.word.compare_exchange(base | from, base | to, AcqRel, Acquire).is_ok()
}

impl Crew {
    fn find_job(&'static self, handle: Handle) -> Result<(&'static JobCell, u32), JobError> {
        let slots = MAX_WORKERS * JOBS_PER_WORKER;
        let (index, generation) = handle.parts(Kind::Job, slots).ok_or(JobError::BadHandle)?;
        Ok((&self.jobs[index], generation))
    }

    /// The result of a job, which is then forgotten. Waits at most `timeout_ms`; 0 never waits.
    pub(crate) fn join(
        &'static self,
        handle: Handle,
        timeout_ms: u32,
    ) -> Result<JobResult, JobError> {
        let (cell, generation) = self.find_job(handle)?;
        loop {
            let word = cell.word.load(Acquire);
            if word >> BITS != generation {
                return Err(JobError::Stale);
            }
            match word & STATE {
                DONE => {
                    if let Some(result) = take_result(cell, generation) {
                        return Ok(result);
                    }
                }
                PENDING if timeout_ms == 0 => return Err(JobError::TimedOut),
                PENDING => {
                    if step(cell, generation, PENDING, WAITED) {
                        return self.wait_for_job(cell, generation, timeout_ms);
                    }
                }
                WAITED => return Err(JobError::Busy),
                _ => return Err(JobError::Stale),
            }
        }
    }

    /// Needs: WAITED, by us.
    fn wait_for_job(
        &'static self,
        cell: &'static JobCell,
        generation: u32,
        timeout_ms: u32,
    ) -> Result<JobResult, JobError> {
        let port = self.booted_port();
        let deadline = port.clock_ms() + u64::from(timeout_ms);
        let mut left = timeout_ms;
        loop {
            // A post that a former joiner of this cell left behind ends this wait early: go round.
            port.event_wait(&cell.done, left);
            if let Some(result) = take_result(cell, generation) {
                return Ok(result);
            }
            // Another generation, or another joiner took the result: only by a forged handle.
            let word = cell.word.load(Acquire);
            if word >> BITS != generation || !matches!(word & STATE, WAITED | DONE) {
                return Err(JobError::Stale);
            }
            left = deadline.saturating_sub(port.clock_ms()) as u32;
            // Only its completion can make this fail; then the result is there.
            if left == 0 && step(cell, generation, WAITED, PENDING) {
                return Err(JobError::TimedOut);
            }
        }
    }

    /// Nobody will ask for the job's result: a failure is logged instead.
    pub(crate) fn detach(&'static self, handle: Handle) -> Result<(), JobError> {
        let (cell, generation) = self.find_job(handle)?;
        loop {
            let word = cell.word.load(Acquire);
            if word >> BITS != generation {
                return Err(JobError::Stale);
            }
            match word & STATE {
                PENDING if step(cell, generation, PENDING, DETACHED) => return Ok(()),
                DONE => {
                    if let Some(result) = take_result(cell, generation) {
                        self.announce_failure("(detached after its end)", result.outcome);
                        return Ok(());
                    }
                }
                PENDING => {} // it ended, or somebody began to join it: look again
                WAITED => return Err(JobError::Busy),
                _ => return Err(JobError::Stale),
            }
        }
    }

    /// Settles the job of cell `job - 1`, or a detached one (`job` 0): once, by the worker that ran it
    /// or by the exit hook of the worker that had it.
    pub(super) fn complete(&'static self, job: usize, label: &str, outcome: Outcome, value: i32) {
        let Some(index) = job.checked_sub(1) else {
            return self.announce_failure(label, outcome);
        };
        let cell = &self.jobs[index];
        cell.outcome.store(outcome as u32, Relaxed);
        cell.value.store(value as u32, Relaxed);
        let mut word = cell.word.load(Acquire);
        loop {
            let next = match word & STATE {
                DETACHED => word & !STATE | FREE,
                _ => word & !STATE | DONE,
            };
            // Releases the result to the joiner.
            match cell.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                Ok(_) => break,
                Err(now) => word = now, // a joiner came, left, or detached
            }
        }
        match word & STATE {
            WAITED => self.booted_port().event_post(&cell.done),
            DETACHED => self.announce_failure(label, outcome),
            _ => {}
        }
    }

    fn announce_failure(&'static self, label: &str, outcome: Outcome) {
        let what = match outcome {
            Outcome::Returned => return,
            Outcome::Failed => "failed: it panicked or threw",
            Outcome::Died => "died: its thread ended inside it",
            Outcome::NotRun => "not run, its worker is gone",
        };
        self.say(self.booted_port(), Severity::Major, format_args!("job {label}: {what}"));
    }
}

/// The result, for whoever takes it first.
fn take_result(cell: &JobCell, generation: u32) -> Option<JobResult> {
    if cell.word.load(Acquire) != generation << BITS | DONE {
        return None;
    }
    let result = JobResult {
        outcome: Outcome::from_u32(cell.outcome.load(Relaxed)),
        value: cell.value.load(Relaxed) as i32,
    };
    // Read before the cell is freed for its next job.
    step(cell, generation, DONE, FREE).then_some(result)
}
