// SPDX-License-Identifier: MIT OR Apache-2.0
//! Those who found nothing and wait: a fixed number of seats, served first come, first served.
//!
//! ```text
//!          (1)          (2)               (3) give      (5) take
//!   FREE -------> HELD -------> WAITING --------> GRANTED -------> HELD
//!    ^             | ^           |  | (4) nudge                     |
//!    |    (7)      | |    (6)    |  +-----------> NUDGED --(5)----->+
//!    +-------------+ +-----------+
//! ```
//! 1. [`Waiters::enter`] takes a free seat and the next ticket; the lowest ticket is the oldest.
//! 2. [`Seat::arm`] says what the seat waits for.
//! 3. [`Waiters::give`] hands a set to the oldest seat of its pool, nudged or not; only one whose owner
//!    looks around just now (HELD) is left to find the set by itself.
//! 4. [`Waiters::nudge`] asks seats to look again (a slot or bytes came free, a thread ended).
//! 5. [`Seat::wait`] or [`Seat::disarm`] takes what came.
//! 6. [`Seat::disarm`] after a time-out. Racing (3), the one compare-and-swap that wins decides: a
//!    set given to a seat is never lost, it is found in the seat by whoever failed to disarm it.
//! 7. [`Seat`] dropped.
//!
//! Each seat's event is made at boot, where a "no" costs nothing (P2).

use crate::limits::MAX_WAITERS;
use crate::port::{Event, Port};
use crate::sync::MODELLED;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, SeqCst},
};

const FREE: u32 = 0;
const HELD: u32 = 1;
const WAITING: u32 = 2;
const NUDGED: u32 = 3;
const GRANTED: u32 = 4;
const STATE: u32 = 0xf;
const ADDRESS: u32 = 0xfff0;
/// Closes, trims and failed growths that can wait at one time beside all waiting acquirers.
const EXIT_SEATS: usize = if MODELLED { 1 } else { 4 };
const SEATS: usize = MAX_WAITERS + EXIT_SEATS;
/// The address of a seat that waits for nothing yet: no pool has this number.
const NOWHERE: u32 = 0xff00;

/// What a seat waits for.
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

/// What came to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// This set is the waiter's now.
    Granted(usize),
    /// Look again.
    Nudged,
    /// Nothing, until the bound.
    TimedOut,
}

struct Entry {
    /// `value:16 pool:8 want:4 state:4`; the value is the set given.
    word: AtomicU32,
    ticket: AtomicU32,
    event: Event,
}

/// All seats of the process.
pub(crate) struct Waiters {
    next_ticket: AtomicU32,
    /// The last [`EXIT_SEATS`] are for those who wait for exits, so that a close is never crowded out.
    entries: [Entry; SEATS],
}

fn address(pool: usize, want: Want) -> u32 {
    (pool as u32) << 8 | (want as u32) << 4
}

impl Waiters {
    pub(crate) const fn new() -> Self {
        Self {
            next_ticket: AtomicU32::new(0),
            entries: [const {
                Entry { word: AtomicU32::new(FREE), ticket: AtomicU32::new(0), event: Event::new() }
            }; SEATS],
        }
    }

    /// Makes the events of all seats. Boot only.
    pub(crate) fn prepare(&'static self, port: &dyn Port) -> Result<(), i32> {
        self.entries.iter().try_for_each(|entry| entry.event.prepare(port))
    }

    /// A free seat and its place in the order of arrival, or `None`: [`MAX_WAITERS`] are taken.
    pub(crate) fn enter(&'static self) -> Option<Seat> {
        self.take_seat(&self.entries[..MAX_WAITERS])
    }

    /// As [`Self::enter`], for someone who waits for exits.
    pub(crate) fn enter_for_exit(&'static self) -> Option<Seat> {
        self.take_seat(&self.entries[MAX_WAITERS..]).or_else(|| self.enter())
    }

    fn take_seat(&'static self, seats: &'static [Entry]) -> Option<Seat> {
        let entry = seats
            .iter()
            .find(|e| e.word.compare_exchange(FREE, NOWHERE | HELD, Acquire, Relaxed).is_ok())?;
        entry.ticket.store(self.next_ticket.fetch_add(1, Relaxed), Relaxed);
        Some(Seat { entry })
    }

    /// How many seats are taken.
    pub(crate) fn taken(&self) -> usize {
        self.entries.iter().filter(|entry| entry.word.load(SeqCst) != FREE).count()
    }

    /// The seat that has waited longest for a set of `pool` and has not been given one, and its word.
    fn oldest(&self, pool: usize) -> Option<(&Entry, u32)> {
        let queue = address(pool, Want::Set);
        let mut oldest: Option<(&Entry, u32)> = None;
        for entry in &self.entries {
            // SeqCst: pairs with arm(), see Bitmap::claim_in.
            let word = entry.word.load(SeqCst);
            if matches!(word & STATE, FREE | GRANTED) || word & ADDRESS != queue {
                continue;
            }
            let ticket = entry.ticket.load(Relaxed);
            // Tickets wrap; their distance does not, with so few seats.
            let is_older = |(other, _): (&Entry, u32)| {
                ticket.wrapping_sub(other.ticket.load(Relaxed)) as i32 <= 0
            };
            if oldest.is_none_or(is_older) {
                oldest = Some((entry, word));
            }
        }
        oldest
    }

    /// Whether the next in line of `pool` can be given a set right now.
    pub(crate) fn can_give(&self, pool: usize) -> bool {
        self.oldest(pool).is_some_and(|(_, word)| word & STATE != HELD)
    }

    /// Hands `set` to the seat that has waited longest for `pool`. False: nobody waits, or the next
    /// in line is looking around just now and will find the set in the bitmap; nobody overtakes it.
    pub(crate) fn give(&'static self, port: &dyn Port, pool: usize, set: usize) -> bool {
        let queue = address(pool, Want::Set);
        let granted = (set as u32) << 16 | queue | GRANTED;
        while let Some((entry, word)) = self.oldest(pool) {
            if word & STATE == HELD {
                return false;
            }
            // Fails only when this waiter left, was nudged, or another giver served it.
            if entry.word.compare_exchange(word, granted, SeqCst, SeqCst).is_ok() {
                port.event_post(&entry.event);
                return true;
            }
        }
        false
    }

    /// Asks every seat that waits for `want` of `pool` to look again.
    pub(crate) fn nudge(&'static self, port: &dyn Port, pool: usize, want: Want) {
        let wanted = address(pool, want) | WAITING;
        for entry in &self.entries {
            if entry
                .word
                .compare_exchange(wanted, address(pool, want) | NUDGED, SeqCst, SeqCst)
                .is_ok()
            {
                port.event_post(&entry.event);
            }
        }
    }

    /// Asks the seat that has waited longest for a set of `pool` to look again, unless it does.
    pub(crate) fn nudge_oldest(&'static self, port: &dyn Port, pool: usize) {
        let queue = address(pool, Want::Set);
        if let Some((entry, _)) = self.oldest(pool) {
            let armed = queue | WAITING;
            if entry.word.compare_exchange(armed, queue | NUDGED, SeqCst, SeqCst).is_ok() {
                port.event_post(&entry.event);
            }
        }
    }
}

/// A taken seat. Dropping it frees the seat.
pub(crate) struct Seat {
    entry: &'static Entry,
}

impl Seat {
    /// From now on givers find this seat. Needs: disarmed.
    pub(crate) fn arm(&self, pool: usize, want: Want) {
        self.entry.word.store(address(pool, want) | WAITING, SeqCst);
    }

    /// Whether nobody has waited longer for a set of `pool` than this seat: neither an armed seat
    /// nor one whose owner looks around just now.
    pub(crate) fn is_oldest(&self, waiters: &'static Waiters, pool: usize) -> bool {
        let own = self.entry.ticket.load(Relaxed);
        let queue = address(pool, Want::Set);
        waiters.entries.iter().all(|entry| {
            let word = entry.word.load(SeqCst);
            let queued = word & STATE != FREE && word & ADDRESS == queue;
            !queued || own.wrapping_sub(entry.ticket.load(Relaxed)) as i32 <= 0
        })
    }

    /// Givers no longer find this seat; what had come to it is the answer.
    pub(crate) fn disarm(&self) -> Wake {
        // The owner alone writes the address, so this keeps the place in the queue. Whatever the
        // word was, from here on it is ours alone: the swap is the one winner.
        let place = self.entry.word.load(Relaxed) & ADDRESS;
        let word = self.entry.word.swap(place | HELD, AcqRel);
        match word & STATE {
            GRANTED => Wake::Granted((word >> 16) as usize),
            NUDGED => Wake::Nudged,
            _ => Wake::TimedOut,
        }
    }

    /// Disarms, and forgets a nudge together with the post that told of it.
    pub(crate) fn forget_nudge(&self, port: &dyn Port) -> Wake {
        let wake = self.disarm();
        port.event_wait(&self.entry.event, 0);
        wake
    }

    /// Waits until something comes or `timeout_ms` is over, and disarms. A wake-up meant for an
    /// earlier waiter of this seat is not an answer: the caller's loop goes round once more.
    pub(crate) fn wait(&self, port: &dyn Port, timeout_ms: u32) -> Wake {
        if self.entry.word.load(Acquire) & STATE == WAITING {
            port.event_wait(&self.entry.event, timeout_ms);
        }
        self.disarm()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // SeqCst: who leaves frees the seat and then looks for the next in line; a newcomer counts
        // itself and then looks whether somebody older is there. One of the two must see the other,
        // or the newcomer trusts a seat that nobody sits in.
        self.entry.word.store(FREE, SeqCst);
    }
}
