// SPDX-License-Identifier: MIT OR Apache-2.0
//! Run: give a worker of a leased set one job. Edge 4 of the set, edges 2 and 3 of the worker.

use super::slot::{Closure, SetIndex, SetWord, WorkerIndex, job_cells, job_state, worker_state};
use super::tables::Sets;
use crate::port::{Function, Severity};
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::table::{Handle, Kind};
use core::ffi::c_void;
use core::fmt;

/// Why a job was not given to the worker. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The set was retired, or this worker is gone: the job was not run, and will not be.
    NotRun,
    /// The worker has a job.
    Busy,
    /// The lease has ended.
    Stale,
    /// The set died under this lease; there is nothing left to use or to give back.
    Retired,
    /// Not a lease's handle.
    BadHandle,
    /// The roster has no such role.
    BadRole,
    /// Earlier joinable jobs of this worker have been neither joined nor detached.
    NoJobCell,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RunError::NotRun => "not run: the set was retired or the worker is gone",
            RunError::Busy => "the worker has a job",
            RunError::Stale => "the lease has ended",
            RunError::Retired => "the set died under this lease",
            RunError::BadHandle => "not a lease's handle",
            RunError::BadRole => "the roster has no such role",
            RunError::NoJobCell => "earlier jobs of this worker were neither joined nor detached",
        })
    }
}

impl core::error::Error for RunError {}

/// What a worker shall do.
pub(crate) enum Work {
    /// Call a C function.
    Call(Function, *mut c_void),
    /// Call `run` with the worker's slot, where the closure lies. `discard` drops a closure in
    /// place that is never run.
    Closure { run: Function, discard: unsafe fn(*mut Closure), closure: Closure },
}

impl Sets {
    /// Why lease `generation` of set `s` is not current.
    pub(super) fn why_no_lease(self, s: SetIndex, generation: u32) -> RunError {
        if self.set(s).revoked.load(SeqCst) == generation {
            RunError::Retired
        } else {
            RunError::Stale
        }
    }

    /// Gives `work` to the worker of `role`. A joinable job's handle comes back. A closure's bytes
    /// have been moved to the worker then, and only then.
    pub(crate) fn run(
        self,
        lease: Handle,
        role: usize,
        label: &[u8],
        work: &Work,
        joinable: bool,
    ) -> Result<Option<Handle>, RunError> {
        match self.book(lease, role) {
            Ok((s, w)) => self.assign(s, w, label, work, joinable),
            Err(error) => {
                // On a set that has been freed meanwhile the answer is the same: not run.
                let error = if error == RunError::Retired { RunError::NotRun } else { error };
                if error == RunError::NotRun && !joinable {
                    self.announce_not_run(label);
                }
                Err(error)
            }
        }
    }

    /// The port's number of the thread of `role`; `NotRun` once that has ended.
    pub(crate) fn thread_of(self, lease: Handle, role: usize) -> Result<usize, RunError> {
        let (s, generation) = self.find_lease(lease)?;
        let set = self.set(s);
        let pool = self.pool_of(s);
        let worker = pool.workers(s).nth(role).and_then(|w| self.tables.workers.get(w.0));
        use worker_state::{PARKED, RUNNING};
        let thread = worker.map(|worker| {
            let live = (PARKED..=RUNNING).contains(&worker.state());
            live.then_some(worker.thread.load(Relaxed))
        });
        // Looked at last: what was read above belongs to this lease if it is current still.
        if set.lease.load(SeqCst) != generation {
            return Err(self.why_no_lease(s, generation));
        }
        thread.ok_or(RunError::BadRole)?.ok_or(RunError::NotRun)
    }

    /// Counts the job on the set and books the worker.
    fn book(self, lease: Handle, role: usize) -> Result<(SetIndex, WorkerIndex), RunError> {
        let (s, generation) = self.find_lease(lease)?;
        let set = self.set(s);
        let current = || set.lease.load(SeqCst) == generation;
        if !current() {
            return Err(self.why_no_lease(s, generation));
        }
        let pool = self.pool_of(s);
        if role >= pool.role_count() {
            return Err(RunError::BadRole);
        }
        let usable =
            |word: SetWord| word.0 & (SetWord::LEASED | SetWord::RETIRED) == SetWord::LEASED;
        let mut seen = SetWord::FREE;
        let counted = set.change(|word| {
            seen = word;
            // Every caller counts before it looks at the worker: more callers at once than the
            // count has room for must not carry into the threads.
            (usable(word) && word.jobs() < SetWord::JOBS_MAX).then_some(word.0 + SetWord::ONE_JOB)
        });
        if counted.is_none() {
            return Err(match current() {
                true if usable(seen) => RunError::Busy,
                true => RunError::NotRun,
                false => self.why_no_lease(s, generation),
            });
        }
        // The lease may have ended between the look above and the count, and the set be another
        // borrower's now. Our count keeps it as it is while we look again, and then goes back.
        if !current() {
            self.uncount_job(s);
            return Err(self.why_no_lease(s, generation));
        }
        let w = pool.worker(s, role);
        use worker_state::{BOOKED, PARKED, RUNNING, STATE, STOP};
        let worker = self.worker(w);
        let mut seen = 0;
        let booked = worker.change(|word| {
            seen = word;
            (word & (STATE | STOP) == PARKED).then_some(word & !STATE | BOOKED)
        });
        if booked.is_some() {
            return Ok((s, w));
        }
        // Judged by the word that was not booked: another look may find the worker free again.
        let busy = (BOOKED..=RUNNING).contains(&(seen & STATE)) && seen & STOP == 0;
        self.uncount_job(s);
        Err(if busy { RunError::Busy } else { RunError::NotRun })
    }

    /// Writes the job into the booked worker and wakes it.
    fn assign(
        self,
        s: SetIndex,
        w: WorkerIndex,
        label: &[u8],
        work: &Work,
        joinable: bool,
    ) -> Result<Option<Handle>, RunError> {
        let port = self.host.booted_port();
        let worker = self.worker(w);
        let cell = joinable.then(|| self.claim_cell(w));
        if cell == Some(None) {
            worker.step(worker_state::BOOKED, worker_state::PARKED);
            // A stop that came while the worker was booked must find a worker that looks.
            worker.wake.post(port);
            self.uncount_job(s);
            return Err(RunError::NoJobCell);
        }
        let cell = cell.flatten();
        worker.job.store(cell.map_or(0, |(index, _)| index as u32 + 1), Relaxed);
        worker.label.write(label);
        let (function, argument, discard) = match work {
            Work::Call(function, argument) => (*function, *argument, core::ptr::null_mut()),
            Work::Closure { run, discard, closure } => {
                // SAFETY: only the caller that entered BOOKED, we, writes the closure, and no
                // thread reads it before ASSIGNED. If the worker dies meanwhile, the job that we
                // have counted keeps its set's slot, so that no other thread becomes this worker.
                worker.with_closure(|place| unsafe { place.write(*closure) });
                let slot = core::ptr::from_ref(worker).cast_mut().cast();
                (*run, slot, *discard as *mut c_void)
            }
        };
        worker.function.store(function as *mut c_void, Relaxed);
        worker.argument.store(argument, Relaxed);
        worker.discard.store(discard, Relaxed);
        // Releases everything above to the worker. Fails if the worker died while it was booked:
        // its exit hook then saw no job, so taking the job back is ours.
        if !worker.step(worker_state::BOOKED, worker_state::ASSIGNED) {
            if let Some((index, _)) = cell {
                let word = &self.tables.jobs[index].word;
                word.store(word.load().with(job_state::FREE));
            } else {
                self.announce_not_run(label);
            }
            self.uncount_job(s);
            return Err(RunError::NotRun);
        }
        worker.wake.post(port);
        Ok(cell.map(|(index, generation)| Handle::new(Kind::Job, index, generation)))
    }

    /// A free job cell of worker `w`, now pending: index and generation.
    fn claim_cell(self, w: WorkerIndex) -> Option<(usize, u32)> {
        job_cells(w).find_map(|index| {
            let word = &self.tables.jobs[index].word;
            let free = word.load();
            // Only the booker of this worker claims its cells, so there is no competitor for a free
            // one.
            (free.state() == job_state::FREE).then(|| {
                let pending = free.next_life(job_state::PENDING);
                word.store_seq_cst(pending);
                (index, pending.generation())
            })
        })
    }

    pub(super) fn announce_not_run(self, label: &[u8]) {
        let label = core::str::from_utf8(label).unwrap_or("?");
        self.host.say(Severity::Major, format_args!("job {label}: not run, its worker is gone"));
    }
}
