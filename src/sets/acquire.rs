// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acquire: an idle set, or a new one, or a typed refusal, at once. A caller that may wait goes on
//! in `waiting.rs`.

use super::Refusal;
use super::peer::Turn;
use super::slot::{PoolSlot, SetIndex, SetWord, pool_state};
use super::tables::{PoolRef, Sets};
use crate::limits::MAX_POOLS;
use crate::sync::atomic::Ordering::Relaxed;
use crate::table::{Handle, Kind};
use core::fmt;
use core::num::NonZeroU64;

/// Why there is no lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireError {
    /// There is none to be had now; see [`Refusal`].
    Refused(Refusal),
    /// The pool has been closed.
    Stale,
    /// Not a pool's handle.
    BadHandle,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcquireError::Refused(refusal) => refusal.fmt(f),
            AcquireError::Stale => f.write_str("the pool has been closed"),
            AcquireError::BadHandle => f.write_str("not a pool's handle"),
        }
    }
}

impl core::error::Error for AcquireError {}

/// A set that was lent, and the generation of the lease.
#[derive(Clone, Copy)]
pub(super) struct Lent {
    pub(super) set: SetIndex,
    pub(super) generation: u32,
}

impl Lent {
    fn handle(self) -> Handle {
        Handle::new(Kind::Lease, self.set.0, self.generation)
    }
}

impl Sets {
    /// Lends a set of the pool. Waits at most `timeout_ms`; 0 never waits. The common case, an idle
    /// set for no peer while no thread waits, is here in full; the rest is out of its way.
    #[inline]
    pub(crate) fn acquire(
        self,
        handle: Handle,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Handle, AcquireError> {
        let (index, generation) =
            handle.parts(Kind::Pool, MAX_POOLS).ok_or(AcquireError::BadHandle)?;
        let pool = self.pool(index);
        // SeqCst, both looks at the pool's word: see PoolSlot::state.
        let word = pool.word.load_seq_cst();
        if peer.is_none()
            && word.state() == pool_state::OPEN
            && word.is_life(generation)
            && pool.waiting.load(Relaxed) == 0
            && let Some(slot) = pool.idle.claim_lowest(pool.capacity())
        {
            let set = pool.set(slot);
            self.set(set).note_peer(0, Relaxed);
            if let Some(lent) = self.lease_idle(pool, set) {
                note_busy(&pool, slot);
                return if pool.word.load_seq_cst() == word {
                    Ok(lent.handle())
                } else {
                    self.confirm(handle, pool, Ok(lent))
                };
            }
        }
        self.acquire_slowly(handle, peer, timeout_ms)
    }

    #[cold]
    #[inline(never)]
    fn acquire_slowly(
        self,
        handle: Handle,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Handle, AcquireError> {
        let pool = self.find_pool(handle)?;
        let result = self.take_or_wait(pool, peer, timeout_ms);
        self.confirm(handle, pool, result)
    }

    /// The pool may have been closed, even opened anew, since it was found: then what was lent is
    /// not what was asked for, and goes back.
    #[cold]
    #[inline(never)]
    fn confirm(
        self,
        handle: Handle,
        pool: PoolRef,
        result: Result<Lent, Refusal>,
    ) -> Result<Handle, AcquireError> {
        match (result, self.find_pool(handle)) {
            (Ok(lent), Ok(_)) if pool.state() == pool_state::OPEN => Ok(lent.handle()),
            (Ok(lent), still) => {
                self.end_lease(lent.set, lent.generation);
                still.and(Err(AcquireError::Refused(Refusal::ShuttingDown)))
            }
            (Err(refusal), Ok(_)) => {
                pool.refused[refusal.kind() as usize].fetch_add(1, Relaxed);
                Err(AcquireError::Refused(refusal))
            }
            (Err(_), Err(stale)) => Err(stale),
        }
    }

    fn take_or_wait(
        self,
        pool: PoolRef,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Lent, Refusal> {
        // A newcomer does not overtake those that wait already. Relaxed: a waiter that begins to
        // wait at this very moment is not before this caller.
        let first = self.may_take(pool, peer).and_then(|turn| {
            if pool.waiting.load(Relaxed) == 0 {
                self.take(pool, peer, turn)
            } else {
                Err(self.why_others_wait(pool))
            }
        });
        if first.is_err_and(|refusal| refusal.comes_from_growth()) {
            self.pass_on(pool); // another caller may have found no slot while this one had it
        }
        match first {
            Err(refusal) if timeout_ms > 0 && refusal.may_pass() => {
                self.wait_for_set(pool, peer, timeout_ms, refusal)
            }
            first => first,
        }
    }

    /// What is asked before anything is taken: that the pool is open, and the peer has room.
    pub(super) fn may_take(self, pool: PoolRef, peer: Option<NonZeroU64>) -> Result<Turn, Refusal> {
        if pool.state() != pool_state::OPEN {
            return Err(Refusal::ShuttingDown);
        }
        self.room_for_peer(pool, peer)
    }

    /// A set right now: an idle one, else a new one. `turn` is what [`Self::may_take`] said.
    pub(super) fn take(
        self,
        pool: PoolRef,
        peer: Option<NonZeroU64>,
        turn: Turn,
    ) -> Result<Lent, Refusal> {
        while let Some(slot) = pool.idle.claim_lowest(pool.capacity()) {
            if let Some(result) = self.admit_and_lease(pool, pool.set(slot), peer, turn) {
                return result;
            }
        }
        self.grow(pool, peer, turn)
    }

    /// For the claimer of an idle set: admits the peer and leases it. `None`: the set was retired
    /// meanwhile.
    pub(super) fn admit_and_lease(
        self,
        pool: PoolRef,
        set: SetIndex,
        peer: Option<NonZeroU64>,
        turn: Turn,
    ) -> Option<Result<Lent, Refusal>> {
        if let Err(refusal) = self.admit_peer(pool, set, peer, turn) {
            self.offer(pool, set);
            return Some(Err(refusal));
        }
        let lent = self.lease_idle(pool, set)?;
        note_busy(&pool, pool.slot_of(set));
        Some(Ok(lent))
    }

    /// Edge 3: IDLE to LEASED, for the claimer of the set's idle bit. `None`: it was retired; the
    /// claim is given up, and with it the last thing that may have kept the slot from being freed.
    #[inline(always)] // also in an image built for size: it is on the path of every lease
    fn lease_idle(self, pool: PoolRef, s: SetIndex) -> Option<Lent> {
        let set = self.set(s);
        // A new odd generation first: the word's release below publishes it.
        let generation = set.lease.load(Relaxed).wrapping_add(1);
        set.lease.store(generation, Relaxed);
        set.since.store(self.host.moment(), Relaxed);
        let leased = set.change(|word| {
            (!word.is(SetWord::RETIRED)).then_some(word.0 & !SetWord::IDLE | SetWord::LEASED)
        });
        if leased.is_none() {
            self.was_retired(pool, s, generation);
            return None;
        }
        Some(Lent { set: s, generation })
    }

    #[cold]
    #[inline(never)]
    fn was_retired(self, pool: PoolRef, s: SetIndex, generation: u32) {
        self.set(s).lease.store(generation.wrapping_sub(1), Relaxed); // no thread has seen it
        self.forget_peer(pool, s);
        self.drop_claim(s); // last: from here on the slot may be another set's
    }
}

/// The set at `slot` of the pool has been leased.
pub(super) fn note_busy(pool: &PoolSlot, slot: usize) {
    let busy = slot as u32 + 1;
    if busy > pool.busy_high.load(Relaxed) {
        pool.busy_high.fetch_max(busy, Relaxed);
    }
}
