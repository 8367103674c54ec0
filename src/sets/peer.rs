// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limit per peer: no client host can take every set.
//!
//! The admissions of a pool follow one another: each is one step of the pool's *turn*, a word with
//! a number, which every admission raises, and the slot of the set that was admitted last. A set
//! that is being lent to a peer carries the peer's key and a word:
//! ```text
//!   NONE --(1)--> ASKING(number) --(2)--> ADMITTED --(3)--> NONE
//!                      +--(4)--> NONE
//! ```
//! 1. The asker, before it claims a set, has read the turn and counted fewer than the limit. The
//!    set's owner then publishes which number its admission would have: the next one.
//! 2. By a compare-and-swap it raises the turn to that number, with its set's slot. Done, the set
//!    is admitted; the word says so as soon as its owner, or the next thread that reads the turn,
//!    has written ADMITTED.
//! 3. The set is idle again (or gone). The threads that wait for that are told.
//! 4. Another admission was faster, and now the limit is reached.
//!
//! Why the limit is never passed: between its count and its step no other set was admitted, or the
//! step would have failed. Sets that came back meanwhile only make the count smaller.
//!
//! Why the refusal is true: only admitted sets count, and the count stands only if the turn is the
//! same after it as before. So all that it counted were admitted at one and the same moment. An
//! asker that is refused was never counted, and a thread refused by the count waits only for what
//! ends with edge 3.
//!
//! An asker whose step fails counts again. Each failure is another asker's admission. The number
//! has what the slots leave of 32 bits: an asker would have to be held up for a whole round of it,
//! millions of admissions, and to the one, to be wrong.
//!
//! The count looks at each set of the pool: its cost grows with the capacity, and is paid only by
//! pools that have a limit.

use super::Refusal;
use super::slot::SetIndex;
use super::tables::{PoolRef, Sets};
use super::waiting::Want;
use crate::limits::MAX_SETS;
use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use core::num::NonZeroU64;

const NONE: u32 = 0;
pub(crate) const ADMITTED: u32 = 1;
/// `number << 2 | ASKING`
const ASKING: u32 = 2;

/// A turn's lowest bits: a slot. At least two, so that a number has room beside ASKING.
const SLOT_BITS: u32 = usize::BITS - (MAX_SETS | ASKING as usize).leading_zeros();

/// `number | slot:SLOT_BITS`
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn(u32);

impl Turn {
    /// For callers without a limit.
    const ANY: Self = Self(0);

    /// The turn in which the set at `slot` is the one admitted after this turn's.
    const fn next(self, slot: usize) -> Self {
        Self(((self.0 >> SLOT_BITS).wrapping_add(1) << SLOT_BITS) | slot as u32)
    }

    const fn slot(self) -> usize {
        (self.0 & ((1 << SLOT_BITS) - 1)) as usize
    }

    /// The word of a set that is to be admitted in this turn.
    const fn asking(self) -> u32 {
        self.0 >> SLOT_BITS << 2 | ASKING
    }
}

impl Sets {
    /// The pool's turn, with every set admitted up to it marked.
    fn turn(self, pool: PoolRef) -> Turn {
        let turn = Turn(pool.peer_turn.load(SeqCst));
        if let Some(last) = pool.sets().nth(turn.slot()) {
            let word = &self.set(last).peer_word;
            let _ = word.compare_exchange(turn.asking(), ADMITTED, SeqCst, Relaxed);
        }
        turn
    }

    /// Whether the peer may have one more set. Nothing is taken for that, so an asker at its limit
    /// is in no other asker's way. The answer is for [`Self::admit_peer`].
    pub(super) fn room_for_peer(
        self,
        pool: PoolRef,
        peer: Option<NonZeroU64>,
    ) -> Result<Turn, Refusal> {
        let limit = pool.per_peer.load(Relaxed);
        let Some(peer) = peer.filter(|_| limit > 0) else { return Ok(Turn::ANY) };
        self.reap(); // a dead set counts for its peer until it has been reaped
        loop {
            let turn = self.turn(pool);
            // The key first: if the word is another lease's than the key, then that lease was
            // admitted, or the key noted, after the turn was read, and the turn is another now.
            let counts = |set: &SetIndex| {
                let set = self.set(*set);
                set.peer() == peer.get() && set.peer_word.load(SeqCst) == ADMITTED
            };
            if pool.sets().filter(counts).count() < limit as usize {
                return Ok(turn);
            }
            if pool.peer_turn.load(SeqCst) == turn.0 {
                return Err(Refusal::PeerLimit { limit });
            }
        }
    }

    /// Counts `set`, which the caller owns, for `peer`, if the pool has a limit. `turn` is what
    /// [`Self::room_for_peer`] said before the caller had the set.
    pub(super) fn admit_peer(
        self,
        pool: PoolRef,
        set: SetIndex,
        peer: Option<NonZeroU64>,
        mut turn: Turn,
    ) -> Result<(), Refusal> {
        let own = self.set(set);
        own.note_peer(peer.map_or(0, NonZeroU64::get), Release);
        if peer.is_none() || pool.per_peer.load(Relaxed) == 0 {
            return Ok(());
        }
        loop {
            // Read with the set in hand: the slot's last owner may have been admitted in the turn
            // that follows an older one, and this set must not pass for that one.
            if pool.peer_turn.load(SeqCst) == turn.0 {
                let next = turn.next(pool.slot_of(set));
                own.peer_word.store(next.asking(), SeqCst);
                let step = pool.peer_turn.compare_exchange(turn.0, next.0, SeqCst, Relaxed);
                if step.is_ok() {
                    own.peer_word.store(ADMITTED, SeqCst); // others may have been faster
                    return Ok(());
                }
            }
            turn = match self.room_for_peer(pool, peer) {
                Ok(turn) => turn,
                Err(refusal) => {
                    own.peer_word.store(NONE, SeqCst);
                    return Err(refusal);
                }
            };
        }
    }

    /// The set no longer counts for its peer; the threads that wait for that look again.
    #[inline]
    pub(super) fn forget_peer(self, pool: PoolRef, set: SetIndex) {
        let own = self.set(set);
        if own.peer_word.load(Relaxed) == NONE {
            return;
        }
        own.peer_word.store(NONE, SeqCst);
        if pool.peer_waiting.load(SeqCst) > 0 {
            self.nudge(pool, Want::Peer);
        }
    }
}
