// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of sets: retire (edge 6), reap, free (edge 8), and what asks for it: a death, a trim,
//! another pool's need, the close.
//!
//! A thread's bytes go back when it has been reaped, not when its exit hook runs: its stack exists
//! until then. Reaping is done on the cold paths (growth, trim, close, usage), never by the dying
//! thread itself.

use super::slot::{SetIndex, SetWord, WorkerIndex, pool_state, worker_state};
use super::tables::{PoolRef, Sets};
use super::waiting::Want;
use crate::port::Severity;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

/// How often a waiter asks whether a thread whose exit hook has run is gone for good, in ms.
pub(super) const REAP_POLL_MS: u32 = 2;

/// How long a trim, a failed open and a failed growth wait for threads that have nothing to do but
/// end, in ms. Those that do not in this time are left to the next reaper.
pub(super) const UNDO_MS: u32 = 1_000;

/// Why a set is retired.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Trim, reclaim, close, a failed growth: not announced.
    Orderly,
    /// A member's thread ended by itself.
    Death,
    /// A member was suspended and will not return.
    Suspended,
}

impl Sets {
    /// Edge 6: the set is never lent again, and its workers stop once they have no job. Says so,
    /// once per set, unless it is orderly.
    pub(super) fn retire(self, s: SetIndex, cause: Cause) {
        if self.retire_unsaid(s, cause) {
            self.say_retired(s, cause);
        }
    }

    /// As [`Self::retire`]; true: the caller says it, with [`Self::say_retired`].
    #[inline(never)]
    pub(super) fn retire_unsaid(self, s: SetIndex, cause: Cause) -> bool {
        let set = self.set(s);
        let pool = self.pool_of(s);
        let newly = set
            .change(|word| {
                let live = word != SetWord::FREE && !word.is(SetWord::RETIRED | SetWord::FREEING);
                live.then_some(word.0 | SetWord::RETIRED)
            })
            .is_some();
        let to_say = newly && cause != Cause::Orderly;
        if to_say {
            pool.retirements.fetch_add(1, Relaxed);
        }
        // If it lies in the idle bitmap the claim is ours now. If another thread has claimed it,
        // that claimer finds RETIRED when it leases the set, or after it has put the set back.
        let word = set.word();
        if word.is(SetWord::IDLE) && word.is(SetWord::RETIRED) && pool.idle.claim(pool.slot_of(s)) {
            self.drop_claim(s);
        }
        for w in pool.workers(s) {
            self.stop_worker(w);
        }
        to_say
    }

    /// Needs: the set is not freed meanwhile, because one of its threads is there.
    #[cold]
    #[inline(never)]
    pub(super) fn say_retired(self, s: SetIndex, cause: Cause) {
        let pool = self.pool_of(s);
        let slot = pool.slot_of(s);
        let why = match cause {
            Cause::Death => "a member's thread ended",
            _ => "a member was suspended",
        };
        self.host.say(
            Severity::Major,
            format_args!(
                "pool {} set {slot}: {why}; the set is retired with its {} threads",
                pool.name.read(),
                pool.role_count()
            ),
        );
    }

    fn stop_worker(self, w: WorkerIndex) {
        use worker_state::{PARKED, RUNNING, STATE, STOP};
        let worker = self.worker(w);
        let told = worker.change(|word| {
            let live = (PARKED..=RUNNING).contains(&(word & STATE));
            (live && word & STOP == 0).then_some(word | STOP)
        });
        if told.is_some() {
            worker.wake.post(self.host.booted_port());
        }
    }

    /// Joins the threads whose exit hook has run, as far as they are gone, and gives back their
    /// bytes and their sets' slots. Any thread; waits for nothing but what the port's reap does.
    pub(crate) fn reap(self) {
        if self.exited.load(SeqCst) == 0 {
            return;
        }
        let Some(port) = self.host.port() else { return };
        let overhead = port.thread_overhead_bytes();
        let mut freed = false;
        for worker in &self.workers {
            use worker_state::{EMPTY, EXITED, REAPING};
            let s = worker.set();
            let set = self.set(s);
            // Passes by what another reaper has, and what a report looks at.
            if worker.change(|word| (word == EXITED).then_some(REAPING)).is_none() {
                continue;
            }
            // Looked at once the worker is ours: while its set is being built, its thread's number
            // may not have been noted yet, and the number that is there be an older thread's.
            let building = set.word().is(SetWord::BUILDING);
            // SAFETY: unless its set is being built, the number is that of this worker's thread,
            // and REAPING is this thread's alone: no other asks, and no look is under way.
            let gone = || unsafe { port.thread_reap(worker.thread.load(Acquire)) };
            if building || !gone() {
                worker.store(EXITED);
                continue;
            }
            let pool = self.pool_of(s);
            let bytes = pool.thread_bytes(worker.role(), overhead);
            worker.store(EMPTY);
            self.exited.fetch_sub(1, SeqCst);
            self.host.account.release(bytes);
            freed = true;
            if let Some(word) = set.change(|word| Some(word.0 - SetWord::ONE_ALIVE)) {
                if word.alive() == 0 && word.is(SetWord::LEASED) {
                    self.revoke(s);
                } else {
                    self.settle(s, word);
                }
            }
        }
        if freed {
            self.bytes_came_free();
        }
    }

    /// Takes the lease of a set without threads away, so that its slot need not wait for the
    /// borrower. Racing a release, one compare-and-swap on the generation decides which of the two
    /// ended the lease.
    fn revoke(self, s: SetIndex) {
        let set = self.set(s);
        // In this order: generations only go forward, so one that was read before the set was seen
        // dead is this lease's or an older one, never that of the slot's next life.
        let generation = set.lease.load(SeqCst);
        let word = set.word();
        // Even: the borrower has just released it, and will find the set without threads.
        let leased = generation & 1 == 1 && word.is(SetWord::LEASED);
        if leased && word.is(SetWord::RETIRED) && word.alive() == 0 {
            set.revoked.store(generation, SeqCst);
            self.end_lease(s, generation);
        }
    }

    /// Edge 8: the slot returns, exactly once, with what the set itself had reserved.
    pub(super) fn free(self, s: SetIndex) {
        let set = self.set(s);
        // Several may find the set unused at the same time (its last reaper, a late release, a run
        // that lost); this compare-and-swap has one winner.
        let won = set.change(|word| {
            (word.is(SetWord::RETIRED) && word.is_unused() && word.alive() == 0)
                .then_some(word.0 | SetWord::FREEING)
        });
        if won.is_none() {
            return;
        }
        let pool = self.pool_of(s);
        self.forget_peer(pool, s);
        let extra = pool.extra_bytes.load(Relaxed);
        self.host.account.release(extra);
        set.store(SetWord::FREE);
        self.return_slot(pool, s);
        if extra > 0 {
            self.bytes_came_free();
        }
    }

    /// The last step of a slot's life: after it the pool itself may be freed.
    pub(super) fn return_slot(self, pool: PoolRef, s: SetIndex) {
        pool.created.fetch_sub(1, SeqCst);
        pool.slots.put(pool.slot_of(s));
        pool.users.fetch_sub(1, SeqCst);
        self.nudge(pool, Want::Exit);
        self.pass_on(pool);
    }

    /// Retires idle sets of other pools, above what those keep, until `bytes` will come free.
    pub(super) fn reclaim_idle(self, asking: PoolRef, bytes: usize) {
        let overhead = self.host.booted_port().thread_overhead_bytes();
        // What is on its way already, from sets that have nothing to do but end.
        let is_ending = |word: SetWord| word.is(SetWord::RETIRED) && word.jobs() == 0;
        let ending = self.tables.sets.iter().filter(|set| is_ending(set.word()));
        let mut coming = ending
            .map(|set| self.pool(set.pool.load(Relaxed) as usize).set_bytes(overhead))
            .fold(0, usize::saturating_add);
        for pool in self.pools() {
            while !pool.is(asking)
                && coming < bytes
                && pool.state() == pool_state::OPEN
                && self.retire_one_idle(pool, pool.keep.load(Relaxed) as usize)
            {
                coming = coming.saturating_add(pool.set_bytes(overhead));
            }
        }
    }

    /// Retires one idle set if more than `keep` are idle. Two threads that trim at once may
    /// both step back; together they never go below `keep`.
    pub(super) fn retire_one_idle(self, pool: PoolRef, keep: usize) -> bool {
        if pool.idle.count() <= keep {
            return false;
        }
        let Some(slot) = pool.idle.claim_lowest(pool.capacity()) else { return false };
        let s = pool.set(slot);
        self.retire_claimed(pool, s, keep)
    }

    /// As [`Self::retire_one_idle`], for a set whose idle claim the caller has.
    pub(super) fn retire_claimed(self, pool: PoolRef, s: SetIndex, keep: usize) -> bool {
        if pool.idle.count() < keep {
            self.offer(pool, s);
            return false;
        }
        self.retire(s, Cause::Orderly);
        self.drop_claim(s);
        true
    }

    /// Reaps until `done` says so, at most `timeout_ms`; whether it did. A bounded event wait: each
    /// exit of a thread of the pool wakes it. Without a free seat it does not wait.
    pub(super) fn wait_for_exits(
        self,
        pool: PoolRef,
        timeout_ms: u32,
        done: impl Fn() -> bool,
    ) -> bool {
        let port = self.host.booted_port();
        self.reap();
        if done() {
            return true;
        }
        let deadline = port.clock_ms() + u64::from(timeout_ms);
        let Some(seat) = self.tables.waiters.enter_reserved() else { return done() };
        loop {
            // Arm, then look: what ends from here on is told to the seat.
            seat.arm(pool.queue(Want::Exit));
            self.reap();
            if done() {
                return true;
            }
            let left = deadline.saturating_sub(port.clock_ms()).min(u64::from(u32::MAX)) as u32;
            if left == 0 {
                return false;
            }
            // A thread past its exit hook is a few instructions from its end, and nothing announces
            // that end: look again soon.
            let soon = self.exited.load(SeqCst) > 0;
            seat.wait(port, if soon { left.min(REAP_POLL_MS) } else { left });
        }
    }
}
