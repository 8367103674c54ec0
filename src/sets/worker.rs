// SPDX-License-Identifier: MIT OR Apache-2.0
//! A worker's side: next, done, exited. `next` and `done` are leaf calls: they never block and
//! never call back, so that a C loop can have the waiting and the jobs to itself (P7).

use super::retire::Cause;
use super::slot::{Closure, SetWord, WorkerIndex, WorkerSlot, worker_state};
use super::tables::Sets;
use super::waiting::Want;
use crate::host::seconds_between;
use crate::port::{Function, Next, Outcome};
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::ffi::c_void;

/// How long an idle worker waits when nothing asks it to look sooner, in ms: an hour. It need not
/// wake at all; a bound on every wait is a rule (P6).
const IDLE_WAIT_MS: u32 = 3_600_000;

impl Sets {
    pub(crate) fn next(self, w: WorkerIndex) -> Next {
        use worker_state::{ASSIGNED, BOOKED, PARKED, RUNNING, STATE, STOP, STOPPED};
        let worker = self.worker(w);
        loop {
            let word = worker.word();
            match word & STATE {
                // The job first, also when asked to stop: it was accepted. The step fails only when
                // a flag changed.
                ASSIGNED => {
                    if worker.step_from(word, RUNNING) {
                        return Next::Run {
                            function: function_of(worker),
                            argument: worker.argument.load(Relaxed),
                        };
                    }
                }
                PARKED if word & STOP != 0 => {
                    if worker.step_from(word, STOPPED) {
                        return Next::Stop;
                    }
                }
                // `run` posts when it is done with the booking.
                PARKED | BOOKED => {
                    let timeout_ms = self.watch_idle_age(worker);
                    // Retiring the set by age may have asked this very worker to stop.
                    if worker.word() == word {
                        return Next::Wait { event: &worker.wake, timeout_ms };
                    }
                }
                _ => return Next::Stop,
            }
        }
    }

    /// For the first worker of each set: gives the set back when it has been idle for the pool's
    /// idle age. Returns how long the worker may wait until it has to look again.
    fn watch_idle_age(self, worker: &WorkerSlot) -> u32 {
        let s = worker.set();
        let set = self.set(s);
        let pool = self.pool_of(s);
        let age_s = pool.idle_age_s.load(Relaxed);
        if age_s == 0 || worker.role() != 0 {
            return IDLE_WAIT_MS;
        }
        let now = self.host.moment();
        // Every lease changes the generation twice, so the same generation and an idle set mean
        // that it has been idle since this was first noticed. No clock is read when a set goes
        // idle.
        let lease = set.lease.load(Relaxed);
        if set.watched.swap(lease, Relaxed) != lease || !set.word().is(SetWord::IDLE) {
            set.watched_since.store(now, Relaxed);
        }
        let idle_s = seconds_between(set.watched_since.load(Relaxed), now);
        if idle_s < age_s {
            return ((age_s - idle_s).saturating_mul(1000)).min(IDLE_WAIT_MS);
        }
        let keep = pool.keep.load(Relaxed) as usize;
        if pool.idle.count() > keep && pool.idle.claim(pool.slot_of(s)) {
            self.retire_claimed(pool, s, keep);
        }
        set.watched_since.store(now, Relaxed);
        age_s.saturating_mul(1000).min(IDLE_WAIT_MS)
    }

    pub(crate) fn done(self, w: WorkerIndex, outcome: Outcome, value: i32) {
        let worker = self.worker(w);
        if outcome == Outcome::Returned && worker.failed.load(Relaxed) == 0 {
            self.finish(worker, outcome, value, ""); // a clean return is silent
        } else {
            self.failed(worker);
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(self, worker: &WorkerSlot) {
        worker.failed.store(0, Relaxed);
        let label = worker.label.read();
        self.finish(worker, Outcome::Failed, 0, &label);
    }

    /// In this order, so that a joiner that knows the job's end finds the worker free and the set
    /// idle: worker, set, job. Only a running worker gets here; a forged call changes nothing.
    fn finish(self, worker: &WorkerSlot, outcome: Outcome, value: i32, label: &str) {
        let job = worker.job.load(Relaxed) as usize;
        if worker.step(worker_state::RUNNING, worker_state::PARKED) {
            self.uncount_job(worker.set());
            self.complete(job, label, outcome, value);
        }
    }

    pub(crate) fn exited(self, w: WorkerIndex) {
        use worker_state::{ASSIGNED, EXITED, PARKED, RUNNING, STATE, STOPPED, WATCHED};
        let worker = self.worker(w);
        let s = worker.set();
        // Counted first: a reaper that sees EXITED counts it down.
        self.tables.exited.fetch_add(1, SeqCst);
        let before = worker.change(|word| {
            (PARKED..=STOPPED).contains(&(word & STATE)).then_some(word & WATCHED | EXITED)
        });
        let Some(before) = before else {
            self.tables.exited.fetch_sub(1, SeqCst);
            return; // no thread of ours: a forged call
        };
        // Read only now: until EXITED a booker may still give this worker a job. From here on none
        // does, and the slot is ours until this thread is gone.
        let job = worker.job.load(Relaxed) as usize;
        let label = worker.label.read();
        let state = before & STATE;
        let to_say = state != STOPPED && self.retire_unsaid(s, Cause::Death);
        // A worker that was booked has no job yet: its booker finds it gone.
        let outcome = match state {
            RUNNING => Some(Outcome::Died),
            ASSIGNED => Some(Outcome::NotRun),
            _ => None,
        };
        if let Some(outcome) = outcome {
            if state == ASSIGNED {
                discard_closure(worker);
            }
            self.uncount_job(s);
            self.complete(job, &label, outcome, 0);
        }
        let pool = self.pool_of(s);
        self.nudge(pool, Want::Exit);
        if pool.peer_waiting.load(SeqCst) > 0 {
            self.nudge(pool, Want::Peer); // its set no longer counts, once this thread is reaped
        }
        self.bytes_came_free(); // as soon as a waiter reaps this thread
        // Last: no joiner and no waiter waits for the log. This thread, which no reaper can find
        // gone before it has returned from here, keeps the set and its pool.
        if to_say {
            self.say_retired(s, Cause::Death);
        }
    }
}

fn function_of(worker: &WorkerSlot) -> Function {
    let function = worker.function.load(Relaxed);
    // SAFETY: the only store to `function` is in `assign`, of a `Function`, and the caller has
    // acquired the ASSIGNED that released it.
    unsafe { core::mem::transmute::<*mut c_void, Function>(function) }
}

/// Drops a closure that was given and never begun.
fn discard_closure(worker: &WorkerSlot) {
    let discard = worker.discard.load(Relaxed);
    if discard.is_null() {
        return;
    }
    // SAFETY: the only store to `discard` of something that is not null is in `assign`, of such a
    // function, for the closure that it wrote before. The caller took the worker from ASSIGNED to
    // EXITED: no thread has moved the closure out, and no other one will.
    unsafe {
        let discard = core::mem::transmute::<*mut c_void, unsafe fn(*mut Closure)>(discard);
        worker.with_closure(|closure| discard(closure));
    }
}
