// SPDX-License-Identifier: MIT OR Apache-2.0
//! Giving back: release, the end of a job's count, and what a set's new word calls for: idle again,
//! handed to the longest waiter, or freed. Edge 7.

use super::RunError;
use super::retire::Cause;
use super::slot::{SetIndex, SetWord, pool_state};
use super::tables::{PoolRef, Sets};
use super::waiting::Want;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::table::Handle;

impl Sets {
    /// Releases a lease by its handle.
    #[inline]
    pub(crate) fn release(self, handle: Handle) -> Result<(), RunError> {
        let (set, generation) = self.find_lease(handle)?;
        if self.end_lease(set, generation) {
            return Ok(());
        }
        Err(self.why_no_lease(set, generation))
    }

    /// Ends the lease `generation` of the set. False: it has ended before.
    #[inline]
    pub(super) fn end_lease(self, s: SetIndex, generation: u32) -> bool {
        // Of two that release the same lease, and of a release and a revocation, this decides.
        let next = generation.wrapping_add(1);
        let lease = &self.set(s).lease;
        if lease.compare_exchange(generation, next, SeqCst, Relaxed).is_err() {
            return false;
        }
        // A set without threads is nothing but its reservation: it ends with the lease.
        let bare = self.pool_of(s).role_count() == 0;
        let unused = if bare { SetWord::RETIRED } else { SetWord::IDLE };
        let release = |word: SetWord| word.is(SetWord::LEASED).then_some(word.0 & !SetWord::LEASED);
        self.leave(s, unused, release);
        true
    }

    /// Takes back the count of a job that has ended, or was not given after all.
    pub(super) fn uncount_job(self, s: SetIndex) {
        self.leave(s, SetWord::IDLE, |word| Some(word.0 - SetWord::ONE_JOB));
    }

    /// Edge 7: takes something away from the set's word (the lease, a job). If that was the last of
    /// them the set becomes `unused` (idle, or retired) or is freed, by this thread, whose
    /// compare-and-swap made it so.
    #[inline]
    fn leave(self, s: SetIndex, unused: u32, take_away: impl Fn(SetWord) -> Option<u32>) {
        let word = self.set(s).change(|word| {
            let left = SetWord(take_away(word)?);
            let becomes = left.is_unused() && !left.is(SetWord::RETIRED);
            Some(if becomes { left.0 | unused } else { left.0 })
        });
        if let Some(word) = word
            && !word.is(SetWord::LEASED)
        {
            self.settle(s, word);
        }
    }

    /// Does what the word that the caller has just set calls for.
    #[inline]
    pub(super) fn settle(self, s: SetIndex, word: SetWord) {
        if word.is(SetWord::RETIRED) {
            if word.is_unused() && word.alive() == 0 {
                self.free(s);
            }
        } else if word.is(SetWord::IDLE) && word.jobs() == 0 {
            let pool = self.pool_of(s);
            self.forget_peer(pool, s);
            self.offer(pool, s);
        }
    }

    /// Gives an idle set, whose claim the caller has, to the longest waiter, or puts it back; ends
    /// it if it was retired, or its pool closed, while it was claimed.
    #[inline]
    pub(super) fn offer(self, pool: PoolRef, s: SetIndex) {
        if pool.waiting.load(SeqCst) > 0 {
            return self.offer_to_waiters(pool, s);
        }
        if !self.put_back(pool, s) && pool.waiting.load(SeqCst) > 0 {
            self.hand_out(pool);
        }
    }

    /// Puts the claimed idle set into the bitmap. True: it had been retired, or its pool closed,
    /// and has been ended instead.
    #[inline]
    fn put_back(self, pool: PoolRef, s: SetIndex) -> bool {
        let slot = pool.slot_of(s);
        pool.idle.put(slot);
        // A thread that retires the set, or closes the pool, sets its mark and then tries to claim
        // the bit; while we had the claim that failed, so the set is ended for that thread, by us.
        let retired = self.set(s).word().is(SetWord::RETIRED);
        let ended = retired || pool.state() != pool_state::OPEN;
        if ended && pool.idle.claim(slot) {
            self.retire(s, Cause::Orderly);
            self.drop_claim(s);
        }
        ended
    }

    #[cold]
    #[inline(never)]
    fn offer_to_waiters(self, pool: PoolRef, s: SetIndex) {
        if !self.give(pool, s) && !self.put_back(pool, s) {
            self.hand_out(pool);
        }
    }

    /// After a put: the next in line may have armed itself meanwhile. It looked at the bitmap
    /// before the put, or is seen now; one that is only about to arm looks after that.
    #[cold]
    #[inline(never)]
    fn hand_out(self, pool: PoolRef) {
        let queue = pool.queue(Want::Set);
        while pool.waiting.load(SeqCst) > 0 && self.tables.waiters.can_give(queue) {
            let Some(slot) = pool.idle.claim_lowest(pool.capacity()) else { return };
            let s = pool.set(slot);
            if !self.give(pool, s) && self.put_back(pool, s) {
                return;
            }
        }
    }

    /// Hands the claimed set to the longest waiter, if there is one that can take it.
    fn give(self, pool: PoolRef, s: SetIndex) -> bool {
        let port = self.host.booted_port();
        self.tables.waiters.give(port, pool.queue(Want::Set), s.0 as u16)
    }

    /// Tells the longest waiter of each pool that bytes, or the end of a thread that holds some,
    /// may let its set be made now.
    pub(crate) fn bytes_came_free(self) {
        self.pools().for_each(|pool| self.pass_on(pool));
    }

    /// The claimer of a retired set's idle bit lets go of it.
    pub(super) fn drop_claim(self, s: SetIndex) {
        let retired = |word: SetWord| word.is(SetWord::RETIRED);
        let dropped = |word| retired(word).then_some(word.0 & !SetWord::IDLE);
        match self.set(s).change(dropped) {
            Some(word) => self.settle(s, word),
            // Not the set that was retired, but its slot's next one: it stays idle.
            None => self.offer(self.pool_of(s), s),
        }
    }
}
