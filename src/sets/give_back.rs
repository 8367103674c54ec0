// SPDX-License-Identifier: MIT OR Apache-2.0
//! Giving back: release, the end of a job's count, and what a set's new word calls for: idle again,
//! handed to the longest waiter, or freed. Edge 7.

use super::RunError;
use super::retire::Cause;
use super::slot::{PoolSlot, SetWord, pool_state};
use crate::crew::Crew;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::table::Handle;

impl Crew {
    /// Releases a lease by its handle.
    #[inline]
    pub(crate) fn release(&'static self, handle: Handle) -> Result<(), RunError> {
        let (s, generation) = self.lease_parts(handle)?;
        if self.end_lease(s, generation) {
            return Ok(());
        }
        Err(self.why_no_lease(s, generation))
    }

    /// Ends lease `generation` of set `s`. False: it has ended before.
    #[inline]
    pub(crate) fn end_lease(&'static self, s: usize, generation: u32) -> bool {
        let set = &self.sets[s];
        // Of two who release the same lease, and of a release and a revocation, this decides.
        let next = generation.wrapping_add(1);
        if set.lease.compare_exchange(generation, next, SeqCst, Relaxed).is_err() {
            return false;
        }
        self.leave(s, |word| word.is(SetWord::LEASED).then_some(word.0 & !SetWord::LEASED));
        true
    }

    /// Edge 7: takes something away from the set's word (the lease, a job). If that was the last of
    /// them the set goes idle or is freed, by us, because our compare-and-swap made it so.
    #[inline]
    pub(crate) fn leave(&'static self, s: usize, take_away: impl Fn(SetWord) -> Option<u32>) {
        let set = &self.sets[s];
        let pool = &self.pools[set.pool.load(Relaxed) as usize];
        let bare = pool.role_count() == 0;
        let word = set.change(|word| {
            let left = SetWord(take_away(word)?);
            Some(match left {
                // A set without threads is nothing but its reservation: it ends with the lease.
                _ if left.is_unused() && bare => left.0 | SetWord::RETIRED,
                _ if left.is_unused() && !left.is(SetWord::RETIRED) => left.0 | SetWord::IDLE,
                _ => left.0,
            })
        });
        if let Some(word) = word {
            self.settle(s, word);
        }
    }

    /// Does what the word that the caller has just set calls for.
    #[inline]
    pub(crate) fn settle(&'static self, s: usize, word: SetWord) {
        let p = self.sets[s].pool.load(Relaxed) as usize;
        let pool = &self.pools[p];
        if word.is(SetWord::RETIRED) {
            if word.is_unused() && word.alive() == 0 {
                self.free(s);
            }
        } else if word.is(SetWord::IDLE) && word.jobs() == 0 {
            self.forget_peer(pool, s);
            self.offer(p, pool, s);
        }
    }

    /// Gives an idle set, whose claim the caller has, to the longest waiter, or puts it back; ends it if
    /// it was retired, or its pool closed, while it was claimed.
    #[inline]
    pub(crate) fn offer(&'static self, p: usize, pool: &'static PoolSlot, s: usize) {
        if pool.waiting.load(SeqCst) > 0 {
            return self.offer_to_waiters(p, pool, s);
        }
        if !self.put_back(pool, s) && pool.waiting.load(SeqCst) > 0 {
            self.hand_out(p, pool);
        }
    }

    /// Puts the claimed idle set into the bitmap. True: it had been retired, or its pool closed, and
    /// has been ended instead.
    #[inline]
    fn put_back(&'static self, pool: &'static PoolSlot, s: usize) -> bool {
        let slot = s - pool.first_set();
        pool.idle.put(slot);
        // Who retires the set, or closes the pool, sets its mark and then tries to claim the bit;
        // while we had the claim that failed, so the set is theirs to end, through us.
        let ended = self.sets[s].word().is(SetWord::RETIRED) || pool.state() != pool_state::OPEN;
        if ended && pool.idle.claim(slot) {
            self.retire(s, Cause::Orderly);
            self.drop_claim(s);
        }
        ended
    }

    #[cold]
    #[inline(never)]
    fn offer_to_waiters(&'static self, p: usize, pool: &'static PoolSlot, s: usize) {
        if !self.waiters.give(self.booted_port(), p, s) && !self.put_back(pool, s) {
            self.hand_out(p, pool);
        }
    }

    /// After a put: the next in line may have armed itself meanwhile. It looked at the bitmap before
    /// the put, or is seen now; one that is only about to arm looks after that.
    #[cold]
    #[inline(never)]
    fn hand_out(&'static self, p: usize, pool: &'static PoolSlot) {
        while pool.waiting.load(SeqCst) > 0 && self.waiters.can_give(p) {
            let Some(slot) = pool.idle.claim_lowest(pool.capacity()) else { return };
            let s = pool.first_set() + slot;
            if !self.waiters.give(self.booted_port(), p, s) && self.put_back(pool, s) {
                return;
            }
        }
    }

    /// Tells the longest waiter of each pool that bytes, or the end of a thread that holds some, may
    /// let its set be made now.
    pub(crate) fn bytes_came_free(&'static self) {
        for (p, pool) in self.pools.iter().enumerate() {
            if pool.waiting.load(SeqCst) > 0 {
                self.waiters.nudge_oldest(self.booted_port(), p);
            }
        }
    }

    /// Whoever has the idle claim of a retired set lets go of it.
    pub(crate) fn drop_claim(&'static self, s: usize) {
        let set = &self.sets[s];
        let retired = |word: SetWord| word.is(SetWord::RETIRED);
        match set.change(|word| retired(word).then_some(word.0 & !SetWord::IDLE)) {
            Some(word) => self.settle(s, word),
            // Not the set that was retired, but its slot's next one: it stays idle.
            None => {
                let p = set.pool.load(Relaxed) as usize;
                self.offer(p, &self.pools[p], s);
            }
        }
    }
}
