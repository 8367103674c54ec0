// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limit per peer: no client host can take every set.
//!
//! A set that is being lent to a peer carries the peer's key and a word:
//! ```text
//!   NONE --(1)--> ASKING(ticket) --(2)--> ADMITTED --(4)--> NONE
//!                   ^   |  |
//!                   +(3)+  +--(5)--> NONE
//! ```
//! 1. Publish the key with a ticket, then count the pool's other sets with the same key.
//! 2. Fewer than the limit: admitted, by a compare-and-swap.
//! 3. An *older* asker that is still asking takes the younger one's word back to NONE, and the
//!    younger must publish and count again: it then sees the older one. Only older askers can do
//!    this, and each ends its own asking, so a set is sent back at most as often as it has older
//!    competitors.
//! 4. The set is idle again (or gone). 5. The limit is reached.
//!
//! Why the limit is never passed: take the one that published last among those admitted. It counted
//! every other one: as admitted, as older and asking, or, if younger, by sending it back, in which
//! case that one published again after it. So it saw the limit reached.
//!
//! The count looks at each set of the pool: its cost grows with the capacity, and is paid only by
//! pools that have a limit.

use super::Refusal;
use super::slot::SetIndex;
use super::tables::{PoolRef, Sets};
use super::waiting::Want;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::num::NonZeroU64;

const NONE: u32 = 0;
pub(crate) const ADMITTED: u32 = 1;
/// `ticket << 2 | ASKING`
const ASKING: u32 = 2;

impl Sets {
    /// Counts `set`, which the caller owns, for `peer`, if the pool has a limit.
    pub(super) fn admit_peer(
        self,
        pool: PoolRef,
        set: SetIndex,
        peer: Option<NonZeroU64>,
    ) -> Result<(), Refusal> {
        let own = self.set(set);
        let key = peer.map_or(0, NonZeroU64::get);
        own.note_peer(key);
        let limit = pool.per_peer.load(Relaxed);
        if limit == 0 || key == 0 {
            return Ok(());
        }
        let ticket = pool.peer_ticket.fetch_add(1, Relaxed) & (u32::MAX >> 2);
        let asking = ticket << 2 | ASKING;
        loop {
            own.peer_word.store(asking, SeqCst);
            if self.others_of_peer(pool, set, ticket) >= limit {
                own.peer_word.store(NONE, SeqCst);
                return Err(Refusal::PeerLimit { limit });
            }
            // Fails if an older asker has sent us back (edge 3): count again, seeing it.
            if own.peer_word.compare_exchange(asking, ADMITTED, SeqCst, Relaxed).is_ok() {
                return Ok(());
            }
        }
    }

    /// How many other sets count for the peer of `set`; sends younger ones that still ask back.
    fn others_of_peer(self, pool: PoolRef, set: SetIndex, ticket: u32) -> u32 {
        let own = self.set(set);
        let key = own.peer();
        let mut others = 0;
        for other in pool.sets().filter(|&other| other != set).map(|other| self.set(other)) {
            let mut word = other.peer_word.load(SeqCst);
            while word != NONE && other.peer() == key {
                let theirs = word >> 2;
                // Tickets wrap at 30 bits; the sign of their distance in 30 bits is their order.
                let is_older = theirs.wrapping_sub(ticket) << 2 >> 31 == 1;
                if word == ADMITTED || is_older {
                    others += 1;
                    break;
                }
                match other.peer_word.compare_exchange(word, NONE, SeqCst, SeqCst) {
                    Ok(_) => break,
                    Err(now) => word = now, // admitted meanwhile, or withdrawn
                }
            }
        }
        others
    }

    /// Whether `peer` has all the sets it may, as far as a look can tell.
    pub(super) fn peer_is_full(self, pool: PoolRef, peer: Option<NonZeroU64>) -> bool {
        let Some(key) = peer.map(NonZeroU64::get) else { return false };
        let counts = |set: &SetIndex| {
            let set = self.set(*set);
            set.peer_word.load(SeqCst) == ADMITTED && set.peer() == key
        };
        pool.sets().filter(counts).count() >= pool.per_peer.load(Relaxed) as usize
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
