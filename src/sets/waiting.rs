// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for a set: in line, first come, first served, within a bound.
//!
//! A waiter counts itself, arms its seat, and only then looks for a set. A thread that puts a set
//! back puts it first and looks for waiters then. So one of the two sees the other. The oldest
//! waiter looks for itself; the others sleep until it is their turn or something is handed to them.

use super::Refusal;
use super::acquire::Lent;
use super::retire::REAP_POLL_MS;
use super::slot::SetIndex;
use super::tables::{PoolRef, Sets};
use crate::account::Shortfall;
use crate::limits::MAX_WAITERS;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use crate::table::{Queue, Seat, Wake};
use core::num::NonZeroU64;

/// How long a waiter whose growth was refused leaves the target alone, in ms. The target never says
/// when memory comes free, so the waiter asks again.
const ASK_AGAIN_MS: u32 = 10;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Want {
    /// A set of the pool, or the slot or bytes to make one. Served in order of arrival.
    Set = 0,
    /// An ended lease of the peer's in the pool.
    Peer = 1,
    /// An ended thread of the pool's.
    Exit = 2,
}

impl Want {
    /// The line for this, of the pool with this index.
    pub(crate) const fn queue(self, pool: usize) -> Queue {
        Queue::new((pool as u32) << 4 | self as u32)
    }

    fn for_refusal(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::PeerLimit { .. } => Want::Peer,
            _ => Want::Set,
        }
    }
}

/// A place in the count of the threads that wait; newcomers do not overtake while it is not zero.
struct Counted(&'static AtomicU32);

impl Counted {
    fn among(pool: PoolRef, want: Want) -> Self {
        let count = match want {
            Want::Peer => &pool.slot().peer_waiting,
            Want::Set | Want::Exit => &pool.slot().waiting,
        };
        count.fetch_add(1, SeqCst);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A thread in `acquire` that found nothing at once.
struct Waiter {
    sets: Sets,
    pool: PoolRef,
    peer: Option<NonZeroU64>,
    deadline: u64,
    want: Want,
    counted: Counted,
    seat: Seat,
    /// The last one met.
    refusal: Refusal,
}

/// What a waiter's look around came to.
enum Look {
    /// It has its set.
    Found(Lent),
    /// It may sleep, at most this long, in ms.
    Sleep(u32),
    /// Its seat has been disarmed, and this had come to it.
    Came(Wake),
}

impl Sets {
    /// Waits for a set at most `timeout_ms`, after `refusal` was the first answer.
    pub(super) fn wait_for_set(
        self,
        pool: PoolRef,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
        refusal: Refusal,
    ) -> Result<Lent, Refusal> {
        let bound = MAX_WAITERS as u32;
        let seat = self.tables.waiters.enter().ok_or(Refusal::TooManyWaiters { bound })?;
        let deadline = self.host.booted_port().clock_ms() + u64::from(timeout_ms);
        let want = Want::for_refusal(&refusal);
        let counted = Counted::among(pool, want);
        let waiter = Waiter { sets: self, pool, peer, deadline, want, counted, seat, refusal };
        let result = waiter.wait();
        // Its seat and its count are gone now.
        self.pass_on(pool);
        result
    }

    /// If this thread was woken for something that it did not use, wake the next waiter.
    pub(super) fn pass_on(self, pool: PoolRef) {
        if pool.waiting.load(SeqCst) > 0 {
            self.tables.waiters.nudge_oldest(self.host.booted_port(), pool.queue(Want::Set));
        }
    }

    /// Asks every thread that waits for `want` of the pool to look again.
    pub(super) fn nudge(self, pool: PoolRef, want: Want) {
        self.tables.waiters.nudge(self.host.booted_port(), pool.queue(want));
    }

    /// The cause for a thread that has not looked, because others are before it in the line.
    pub(super) fn why_others_wait(self, pool: PoolRef) -> Refusal {
        let capacity = pool.capacity() as u32;
        if pool.created.load(Relaxed) < capacity {
            if self.host.is_sealed() && pool.role_count() > 0 {
                return Refusal::Sealed;
            }
            let requested = pool.set_bytes(self.host.booted_port().thread_overhead_bytes());
            let (held, budget) = (self.host.account.held(), self.host.account.budget());
            if held.checked_add(requested).is_none_or(|sum| sum > budget) {
                return Refusal::OutOfReservation(Shortfall { requested, held, budget });
            }
        }
        // Else what is free is for those that wait.
        self.failed_growth(pool).unwrap_or(Refusal::AtCapacity { capacity })
    }
}

impl Waiter {
    fn wait(mut self) -> Result<Lent, Refusal> {
        let mut left = None;
        loop {
            self.arm();
            if left.take().is_some() {
                // Only now has the seat left its former line. As the oldest there it may have been
                // nudged for, or trusted to find, something that it did not use.
                self.sets.pass_on(self.pool);
            }
            let look = match self.look() {
                Look::Found(lent) => return Ok(lent),
                look => look,
            };
            let over = !self.refusal.may_pass()
                || self.sets.host.booted_port().clock_ms() >= self.deadline;
            let in_right_line = self.want == Want::for_refusal(&self.refusal);
            let wake = match look {
                Look::Came(wake) => wake,
                Look::Sleep(pause_ms) if in_right_line && !over => self.sleep(pause_ms),
                _ => self.seat.disarm(),
            };
            match wake {
                Wake::Granted(set) => {
                    if let Some(lent) = self.take_granted(SetIndex(set.into())) {
                        return Ok(lent);
                    }
                }
                _ if over => return Err(self.refusal), // the last look came after the last wait
                _ => {}
            }
            left = self.change_line();
        }
    }

    /// Arms the seat, then looks: a thread that puts a set back puts first and looks for waiters
    /// then, so one of the two sees the other.
    fn arm(&self) {
        let pool = self.pool;
        self.seat.arm(pool.queue(self.want));
        if self.want == Want::Set
            && let Some(slot) = pool.idle.claim_lowest(pool.capacity())
        {
            self.sets.offer(pool, pool.set(slot));
        }
    }

    /// First at what stands against any set: the pool's close, the peer's limit. The seat was armed
    /// before, whatever its line, so the end of either is seen here or reaches the seat. Then the
    /// oldest in line looks for a set itself; the others are served in turn. A peer that has room
    /// again stands behind those that wait for a set.
    fn look(&mut self) -> Look {
        let (sets, pool) = (self.sets, self.pool);
        let turn = match sets.may_take(pool, self.peer) {
            Ok(turn) => turn,
            Err(now) => {
                self.refusal = now;
                return Look::Sleep(u32::MAX);
            }
        };
        let first_in_line = match self.want {
            Want::Peer => pool.waiting.load(SeqCst) == 0,
            want => self.seat.is_oldest(&sets.tables.waiters, pool.queue(want)),
        };
        if !first_in_line {
            self.refusal = sets.why_others_wait(pool);
            return Look::Sleep(u32::MAX);
        }
        match sets.take(pool, self.peer, turn) {
            Ok(lent) => {
                if let Wake::Granted(spare) = self.seat.disarm() {
                    sets.offer(pool, SetIndex(spare.into()));
                }
                return Look::Found(lent);
            }
            Err(now) => self.refusal = now,
        }
        if !self.refusal.comes_from_growth() {
            if let Refusal::AtCapacity { .. } = self.refusal {
                // All slots are taken; but perhaps by growths that come to nothing.
                self.refusal = sets.failed_growth(pool).unwrap_or(self.refusal);
            }
            return Look::Sleep(u32::MAX);
        }
        // What the attempt took and gave back nudged this very seat: forget that.
        match self.seat.forget_nudge(sets.host.booted_port()) {
            granted @ Wake::Granted(_) => Look::Came(granted),
            _ => {
                self.arm();
                Look::Sleep(ASK_AGAIN_MS)
            }
        }
    }

    /// Waits in the armed seat until something comes, the pause or the time is over, or a thread
    /// that is about to be gone should be looked at again.
    fn sleep(&self, pause_ms: u32) -> Wake {
        let port = self.sets.host.booted_port();
        let left = self.deadline.saturating_sub(port.clock_ms()).min(u64::from(pause_ms)) as u32;
        let reaping = self.sets.exited.load(SeqCst) > 0;
        self.seat.wait(port, if reaping { left.min(REAP_POLL_MS) } else { left })
    }

    /// Leases the set that a giver handed over. `None`: the peer's limit stands against it, or the
    /// set was retired on its way here.
    fn take_granted(&mut self, set: SetIndex) -> Option<Lent> {
        let turn = self.sets.room_for_peer(self.pool, self.peer);
        let result = match turn {
            Ok(turn) => self.sets.admit_and_lease(self.pool, set, self.peer, turn)?,
            Err(now) => {
                self.sets.offer(self.pool, set);
                Err(now)
            }
        };
        result.map_err(|now| self.refusal = now).ok()
    }

    /// Joins the line that the refusal calls for. The place in the former line, if it is another
    /// one, is to be kept until the seat is armed in the new one.
    fn change_line(&mut self) -> Option<Counted> {
        let want = Want::for_refusal(&self.refusal);
        if want == self.want {
            return None;
        }
        self.want = want;
        Some(core::mem::replace(&mut self.counted, Counted::among(self.pool, want)))
    }
}
