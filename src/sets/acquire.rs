// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acquire: an idle set, or a new one, or a typed refusal; at once, or after a bounded wait, first
//! come, first served.

use super::Refusal;
use super::retire::REAP_POLL_MS;
use super::slot::{PoolSlot, SetWord, pool_state};
use crate::account::Shortfall;
use crate::crew::Crew;
use crate::limits::{MAX_POOLS, MAX_WAITERS};
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, SeqCst},
};
use crate::table::{Handle, Kind, Seat, Wake, Want};
use core::fmt;
use core::num::NonZeroU64;

/// How long a waiter whose growth was refused leaves the target alone, in ms.
const ASK_AGAIN_MS: u32 = 10;

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

impl Want {
    fn for_refusal(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::PeerLimit { .. } => Want::Peer,
            _ => Want::Set,
        }
    }
}

/// A place in the count of those who wait; newcomers do not overtake while it is not zero.
struct Queue(&'static AtomicU32);

impl Queue {
    fn join(pool: &'static PoolSlot, want: Want) -> Self {
        let count = match want {
            Want::Peer => &pool.peer_waiting,
            Want::Set | Want::Exit => &pool.waiting,
        };
        count.fetch_add(1, SeqCst);
        Self(count)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Crew {
    /// The pool's slot, if the handle names its present life, open or closing.
    pub(crate) fn find_pool(
        &'static self,
        handle: Handle,
    ) -> Result<(usize, &'static PoolSlot), AcquireError> {
        let (p, generation) = handle.parts(Kind::Pool, MAX_POOLS).ok_or(AcquireError::BadHandle)?;
        let pool = &self.pools[p];
        let word = pool.word.load(Acquire);
        let usable = matches!(word & pool_state::STATE, pool_state::OPEN | pool_state::CLOSING);
        if usable && word >> pool_state::BITS == generation {
            Ok((p, pool))
        } else {
            Err(AcquireError::Stale)
        }
    }

    /// Lends a set of the pool. Waits at most `timeout_ms`; 0 never waits. The common case, an idle
    /// set for nobody in particular with nobody waiting, is here in full; the rest is out of its way.
    #[inline]
    pub(crate) fn acquire(
        &'static self,
        handle: Handle,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Handle, AcquireError> {
        let (p, generation) = handle.parts(Kind::Pool, MAX_POOLS).ok_or(AcquireError::BadHandle)?;
        let pool = &self.pools[p];
        // SeqCst, both looks at the pool's word: see PoolSlot::state.
        let word = pool.word.load(SeqCst);
        if peer.is_none()
            && word & pool_state::STATE == pool_state::OPEN
            && word >> pool_state::BITS == generation
            && pool.waiting.load(Relaxed) == 0
            && let Some(slot) = pool.idle.claim_lowest(pool.capacity())
        {
            let set = pool.first_set() + slot;
            self.note_no_peer(set);
            if let Some(lent) = self.lease_idle(pool, set) {
                note_busy(pool, set);
                return if pool.word.load(SeqCst) == word {
                    Ok(Handle::new(Kind::Lease, lent.set, lent.generation))
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
        &'static self,
        handle: Handle,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Handle, AcquireError> {
        let (p, pool) = self.find_pool(handle)?;
        let result = self.take_or_wait(p, pool, peer, timeout_ms);
        self.confirm(handle, pool, result)
    }

    /// The pool may have been closed, even opened anew, since it was found: then what was lent is not
    /// what was asked for, and goes back.
    #[cold]
    #[inline(never)]
    fn confirm(
        &'static self,
        handle: Handle,
        pool: &'static PoolSlot,
        result: Result<Lent, Refusal>,
    ) -> Result<Handle, AcquireError> {
        match (result, self.find_pool(handle)) {
            (Ok(lent), Ok(_)) if pool.state() == pool_state::OPEN => {
                Ok(Handle::new(Kind::Lease, lent.set, lent.generation))
            }
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
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Lent, Refusal> {
        // Nobody overtakes those who wait already. Relaxed: who begins to wait at this very moment is
        // not before this caller.
        let first = if pool.waiting.load(Relaxed) == 0 {
            self.take(p, pool, peer)
        } else {
            Err(self.why_others_wait(pool))
        };
        if first.is_err_and(|refusal| refusal.comes_from_growth()) {
            self.pass_on(p, pool); // somebody may have found no slot while we had it
        }
        match first {
            Err(refusal) if timeout_ms > 0 && refusal.may_pass() => {
                let bound = MAX_WAITERS as u32;
                let seat = self.waiters.enter().ok_or(Refusal::TooManyWaiters { bound })?;
                let port = self.booted_port();
                let deadline = port.clock_ms() + u64::from(timeout_ms);
                let result = self.wait_for_set(p, pool, peer, &seat, deadline, refusal);
                drop(seat);
                self.pass_on(p, pool);
                result
            }
            first => first,
        }
    }

    /// What the caller was nudged for, or had for a moment, and did not use is the next waiter's.
    fn pass_on(&'static self, p: usize, pool: &'static PoolSlot) {
        if pool.waiting.load(SeqCst) > 0 {
            self.waiters.nudge_oldest(self.booted_port(), p);
        }
    }

    /// The cause for someone who has not looked, because others are before it in the queue.
    fn why_others_wait(&'static self, pool: &'static PoolSlot) -> Refusal {
        let capacity = pool.capacity() as u32;
        if pool.created.load(Relaxed) < capacity {
            if self.is_sealed() && pool.role_count() > 0 {
                return Refusal::Sealed;
            }
            let requested = pool.set_bytes(self.booted_port().thread_overhead_bytes());
            let (held, budget) = (self.account.held(), self.account.budget());
            if held.checked_add(requested).is_none_or(|sum| sum > budget) {
                return Refusal::OutOfReservation(Shortfall { requested, held, budget });
            }
        }
        Refusal::AtCapacity { capacity } // what is free is for those who wait
    }

    fn wait_for_set(
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
        peer: Option<NonZeroU64>,
        seat: &Seat,
        deadline: u64,
        mut refusal: Refusal,
    ) -> Result<Lent, Refusal> {
        let port = self.booted_port();
        let mut want = Want::for_refusal(&refusal);
        let mut queue = Queue::join(pool, want);
        let mut left = None;
        loop {
            // Counted, then armed, then looked: see `give_back`.
            self.arm(seat, p, pool, want);
            if left.take().is_some() {
                // Only now has the seat left its former queue. As the oldest there it may have been
                // nudged for, or trusted to find, something that it did not use.
                self.pass_on(p, pool);
            }
            let mut wake = Wake::TimedOut;
            let mut pause_ms = u32::MAX;
            // The oldest looks for itself; the others are served in turn. A peer that has room again
            // queues behind those who wait for a set.
            let first_in_line = match want {
                Want::Peer => pool.waiting.load(SeqCst) == 0,
                _ => seat.is_oldest(&self.waiters, p),
            };
            if first_in_line {
                match self.take(p, pool, peer) {
                    Ok(lent) => {
                        if let Wake::Granted(spare) = seat.disarm() {
                            self.offer(p, pool, spare);
                        }
                        return Ok(lent);
                    }
                    Err(now) => refusal = now,
                }
                if refusal.comes_from_growth() {
                    // What the attempt took and gave back nudged this very seat: forget that. The
                    // target tells nobody when it has more, so it is asked again after a pause.
                    pause_ms = ASK_AGAIN_MS;
                    wake = seat.forget_nudge(port);
                    if !matches!(wake, Wake::Granted(_)) {
                        self.arm(seat, p, pool, want);
                    }
                }
            } else if want == Want::Set || !self.peer_is_full(pool, peer) {
                refusal = self.why_others_wait(pool);
            }
            let same_queue = want == Want::for_refusal(&refusal);
            let over = !refusal.may_pass() || port.clock_ms() >= deadline;
            let wake = match wake {
                Wake::Granted(_) => wake,
                _ if same_queue && !over => self.sleep(seat, deadline, pause_ms),
                _ => seat.disarm(),
            };
            if let Wake::Granted(set) = wake {
                match self.admit_and_lease(p, pool, set, peer) {
                    Some(Ok(lent)) => return Ok(lent),
                    Some(Err(now)) => refusal = now,
                    None => {} // it was retired on its way to us
                }
            } else if over {
                return Err(refusal); // the last look came after the last wait
            }
            if want != Want::for_refusal(&refusal) {
                want = Want::for_refusal(&refusal);
                left = Some(core::mem::replace(&mut queue, Queue::join(pool, want)));
            }
        }
    }

    /// Arms the seat, then looks: whoever puts a set back puts first and looks for waiters then, so
    /// one of the two sees the other.
    fn arm(&'static self, seat: &Seat, p: usize, pool: &'static PoolSlot, want: Want) {
        seat.arm(p, want);
        if want == Want::Set
            && let Some(slot) = pool.idle.claim_lowest(pool.capacity())
        {
            self.offer(p, pool, pool.first_set() + slot);
        }
    }

    /// Waits in an armed seat until something comes, the pause or the time is over, or a thread that
    /// is about to be gone should be looked at again.
    fn sleep(&'static self, seat: &Seat, deadline: u64, pause_ms: u32) -> Wake {
        let port = self.booted_port();
        let left = deadline.saturating_sub(port.clock_ms()).min(u64::from(pause_ms)) as u32;
        let bound = if self.exited.load(SeqCst) > 0 { left.min(REAP_POLL_MS) } else { left };
        seat.wait(port, bound)
    }

    /// A set right now: an idle one, else a new one.
    fn take(
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
        peer: Option<NonZeroU64>,
    ) -> Result<Lent, Refusal> {
        if pool.state() != pool_state::OPEN {
            return Err(Refusal::ShuttingDown);
        }
        if peer.is_some() {
            self.reap(); // a dead set counts for its peer until it has been reaped
        }
        while let Some(slot) = pool.idle.claim_lowest(pool.capacity()) {
            let set = pool.first_set() + slot;
            if let Some(result) = self.admit_and_lease(p, pool, set, peer) {
                return result;
            }
        }
        self.grow(p, pool, peer)
    }

    /// For the claimer of an idle set: admits the peer and leases it. `None`: the set was retired
    /// meanwhile.
    fn admit_and_lease(
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
        set: usize,
        peer: Option<NonZeroU64>,
    ) -> Option<Result<Lent, Refusal>> {
        if let Err(refusal) = self.admit_peer(pool, set, peer) {
            self.offer(p, pool, set);
            return Some(Err(refusal));
        }
        let lent = self.lease_idle(pool, set)?;
        note_busy(pool, set);
        Some(Ok(lent))
    }

    /// Edge 3: IDLE to LEASED, for whoever claimed the set's idle bit. `None`: it was retired; the
    /// claim is given up, and with it the last thing that may have kept the slot from being freed.
    #[inline(always)] // also in an image built for size: it is on the path of every lease
    fn lease_idle(&'static self, pool: &'static PoolSlot, s: usize) -> Option<Lent> {
        let set = &self.sets[s];
        // A new odd generation first: the word's release below publishes it.
        let generation = set.lease.load(Relaxed).wrapping_add(1);
        set.lease.store(generation, Relaxed);
        self.stamp(s);
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
    fn was_retired(&'static self, pool: &'static PoolSlot, s: usize, generation: u32) {
        self.sets[s].lease.store(generation.wrapping_sub(1), Relaxed); // nobody has seen it
        self.forget_peer(pool, s);
        self.drop_claim(s); // last: from here on the slot may be another set's
    }

    pub(crate) fn stamp(&'static self, s: usize) {
        self.sets[s].since.store(self.moment(), Relaxed);
    }

    /// The clock in steps of 1,024 ms, which takes no division on the path of each lease.
    pub(crate) fn moment(&'static self) -> u32 {
        (self.booted_port().clock_ms() >> 10) as u32
    }

    /// Whole seconds between two moments.
    pub(crate) fn seconds_between(since: u32, now: u32) -> u32 {
        (u64::from(now.wrapping_sub(since)) * 1024 / 1000) as u32
    }
}

/// A set that was lent, and the generation of the lease.
#[derive(Clone, Copy)]
pub(super) struct Lent {
    pub(super) set: usize,
    pub(super) generation: u32,
}

/// A set has been leased.
pub(super) fn note_busy(pool: &PoolSlot, set: usize) {
    let busy = (set - pool.first_set()) as u32 + 1;
    if busy > pool.busy_high.load(Relaxed) {
        pool.busy_high.fetch_max(busy, Relaxed);
    }
}
