// SPDX-License-Identifier: MIT OR Apache-2.0
//! Join, detach, and the completion that they race. The life of a job cell is drawn in `mod.rs`.

use super::slot::{JobCell, job_state};
use super::tables::Sets;
use crate::limits::{JOBS_PER_WORKER, MAX_WORKERS};
use crate::port::{Outcome, Severity};
use crate::sync::atomic::Ordering::Relaxed;
use crate::table::{self, Handle, Kind};
use core::fmt;

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

use job_state::{DETACHED, DONE, FREE, PENDING, WAITED};

type Packed = table::Packed<{ job_state::BITS }>;

impl Sets {
    fn find_job(self, handle: Handle) -> Result<(&'static JobCell, u32), JobError> {
        let slots = MAX_WORKERS * JOBS_PER_WORKER;
        let (index, generation) = handle.parts(Kind::Job, slots).ok_or(JobError::BadHandle)?;
        Ok((&self.tables.jobs[index], generation))
    }

    /// The result of a job, which is then forgotten. Waits at most `timeout_ms`; 0 never waits.
    pub(crate) fn join(self, handle: Handle, timeout_ms: u32) -> Result<JobResult, JobError> {
        let (cell, generation) = self.find_job(handle)?;
        loop {
            let word = cell.word.load();
            if !word.is_life(generation) {
                return Err(JobError::Stale);
            }
            match word.state() {
                DONE => {
                    if let Some(result) = take_result(cell, generation) {
                        return Ok(result);
                    }
                }
                PENDING if timeout_ms == 0 => return Err(JobError::TimedOut),
                PENDING => {
                    if cell.word.step(word, word.with(WAITED)) {
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
        self,
        cell: &'static JobCell,
        generation: u32,
        timeout_ms: u32,
    ) -> Result<JobResult, JobError> {
        let port = self.host.booted_port();
        let waited = Packed::new(generation, WAITED);
        let deadline = port.clock_ms() + u64::from(timeout_ms);
        let mut left = timeout_ms;
        loop {
            // A post that a former joiner of this cell left behind ends this wait early: go round.
            cell.done.wait(port, left);
            if let Some(result) = take_result(cell, generation) {
                return Ok(result);
            }
            // Another generation, or another joiner took the result: only by a forged handle.
            let word = cell.word.load();
            if !word.is_life(generation) || !matches!(word.state(), WAITED | DONE) {
                return Err(JobError::Stale);
            }
            left = deadline.saturating_sub(port.clock_ms()) as u32;
            // Only its completion can make this fail; then the result is there.
            if left == 0 && cell.word.step(waited, waited.with(PENDING)) {
                return Err(JobError::TimedOut);
            }
        }
    }

    /// No caller will ask for the job's result: a failure is logged instead.
    pub(crate) fn detach(self, handle: Handle) -> Result<(), JobError> {
        let (cell, generation) = self.find_job(handle)?;
        loop {
            let word = cell.word.load();
            if !word.is_life(generation) {
                return Err(JobError::Stale);
            }
            match word.state() {
                PENDING if cell.word.step(word, word.with(DETACHED)) => return Ok(()),
                DONE => {
                    if let Some(result) = take_result(cell, generation) {
                        self.announce_failure("(detached after its end)", result.outcome);
                        return Ok(());
                    }
                }
                PENDING => {} // it ended, or another thread began to join it: look again
                WAITED => return Err(JobError::Busy),
                _ => return Err(JobError::Stale),
            }
        }
    }

    /// Settles the job of cell `job - 1`, or a detached one (`job` 0): once, by the worker that ran
    /// it or by the exit hook of the worker that had it.
    pub(super) fn complete(self, job: usize, label: &str, outcome: Outcome, value: i32) {
        let Some(index) = job.checked_sub(1) else {
            return self.announce_failure(label, outcome);
        };
        let cell = &self.tables.jobs[index];
        cell.outcome.store(outcome as u32, Relaxed);
        cell.value.store(value as u32, Relaxed);
        // Releases the result to the joiner. A joiner may come, leave or detach meanwhile.
        let before = cell
            .word
            .change(|word| Some(word.with(if word.state() == DETACHED { FREE } else { DONE })));
        match before.map_or(FREE, Packed::state) {
            WAITED => cell.done.post(self.host.booted_port()),
            DETACHED => self.announce_failure(label, outcome),
            _ => {}
        }
    }

    fn announce_failure(self, label: &str, outcome: Outcome) {
        let what = match outcome {
            Outcome::Returned => return,
            Outcome::Failed => "failed: it panicked or threw",
            Outcome::Died => "died: its thread ended inside it",
            Outcome::NotRun => "not run, its worker is gone",
        };
        self.host.say(Severity::Major, format_args!("job {label}: {what}"));
    }
}

/// The result, for the first thread that takes it.
fn take_result(cell: &JobCell, generation: u32) -> Option<JobResult> {
    let done = Packed::new(generation, DONE);
    if cell.word.load() != done {
        return None;
    }
    let result = JobResult {
        outcome: Outcome::from_u32(cell.outcome.load(Relaxed)),
        value: cell.value.load(Relaxed) as i32,
    };
    // Read before the cell is freed for its next job.
    cell.word.step(done, done.with(FREE)).then_some(result)
}
