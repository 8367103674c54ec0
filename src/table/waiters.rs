// SPDX-License-Identifier: MIT OR Apache-2.0
//! The line of threads that found nothing and wait: a fixed number of seats, each in one queue,
//! each queue served first come, first served. A queue is a number, and what is handed over is a
//! value: what they mean is the service's business.
//!
//! ```text
//!          (1)          (2)               (3) give      (5) take
//!   FREE -------> HELD -------> WAITING --------> GRANTED -------> HELD
//!    ^             | ^           |  | (4) nudge                     |
//!    |    (7)      | |    (6)    |  +-----------> NUDGED --(5)----->+
//!    +-------------+ +-----------+
//! ```
//! 1. [`Waiters::enter`]: the waiter takes a free seat and the next ticket; the lowest ticket is
//!    the oldest.
//! 2. [`Seat::arm`]: the waiter says in which queue it waits.
//! 3. [`Waiters::give`]: a giver hands a value to the oldest seat of a queue, nudged or not. It
//!    passes over no waiter: while the oldest waiter looks around for itself (HELD), the value is
//!    left for that waiter to find.
//! 4. [`Waiters::nudge`]: the thread that freed something asks waiters to look again.
//! 5. [`Seat::wait`] or [`Seat::disarm`]: the waiter takes what came.
//! 6. [`Seat::disarm`] after a time-out. It races (3), and one swap decides: a value that was given
//!    to a seat is never lost, because the waiter that failed to disarm the seat finds it there.
//! 7. [`Seat`] dropped.
//!
//! Each seat's event is made at boot, where a "no" costs nothing (P2).

use crate::limits::{JOBS_PER_WORKER, MAX_EVENTS, MAX_WAITERS, MAX_WORKERS};
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

/// Seats beside those of [`MAX_WAITERS`], for waiters that others must not crowd out.
const RESERVED_SEATS: usize = if MODELLED { 1 } else { 4 };
const SEATS: usize = MAX_WAITERS + RESERVED_SEATS;

// The events of seats, workers and jobs, and the fleets' MAX_WAITERS, are what a port is told.
const _: () =
    assert!(MODELLED || MAX_WORKERS * (1 + JOBS_PER_WORKER) + SEATS + MAX_WAITERS == MAX_EVENTS);

/// What a seat waits for: a number that its service has chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Queue(u32);

impl Queue {
    /// In a seat's word, beside its state.
    const PLACE: u32 = 0xfff0;
    /// That of a seat which waits for nothing yet.
    const NONE: Self = Self(Self::PLACE);

    /// Queue `number`, below 4,095.
    pub(crate) const fn new(number: u32) -> Self {
        Self(number << 4 & Self::PLACE)
    }

    const fn of(word: u32) -> Self {
        Self(word & Self::PLACE)
    }
}

/// What came to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// This value is the waiter's now.
    Granted(u16),
    /// Look again.
    Nudged,
    /// Nothing, until the bound.
    TimedOut,
}

struct Entry {
    /// `value:16 queue:12 state:4`; the value is what was given.
    word: AtomicU32,
    ticket: AtomicU32,
    event: Event,
}

/// The seats of one service.
pub(crate) struct Waiters {
    next_ticket: AtomicU32,
    /// The last [`RESERVED_SEATS`] are for [`Waiters::enter_reserved`].
    entries: [Entry; SEATS],
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

    /// As [`Self::enter`], with seats beside those of [`MAX_WAITERS`].
    pub(crate) fn enter_reserved(&'static self) -> Option<Seat> {
        self.take_seat(&self.entries[MAX_WAITERS..]).or_else(|| self.enter())
    }

    fn take_seat(&'static self, seats: &'static [Entry]) -> Option<Seat> {
        let held = Queue::NONE.0 | HELD;
        let entry = seats
            .iter()
            .find(|entry| entry.word.compare_exchange(FREE, held, Acquire, Relaxed).is_ok())?;
        entry.ticket.store(self.next_ticket.fetch_add(1, Relaxed), Relaxed);
        Some(Seat { entry })
    }

    /// How many seats are taken.
    pub(crate) fn taken(&self) -> usize {
        self.entries.iter().filter(|entry| entry.word.load(SeqCst) != FREE).count()
    }

    /// The seat that has waited longest in `queue` and has not been given anything, and its word.
    fn oldest(&self, queue: Queue) -> Option<(&Entry, u32)> {
        let mut oldest: Option<(&Entry, u32)> = None;
        for entry in &self.entries {
            // SeqCst: pairs with arm(), see Bitmap::claim_in.
            let word = entry.word.load(SeqCst);
            if matches!(word & STATE, FREE | GRANTED) || Queue::of(word) != queue {
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

    /// Whether the next in `queue` can be given something right now.
    pub(crate) fn can_give(&self, queue: Queue) -> bool {
        self.oldest(queue).is_some_and(|(_, word)| word & STATE != HELD)
    }

    /// Hands `value` to the seat that has waited longest in `queue`. False: no thread waits there,
    /// or the next in line is looking around just now and will find what was freed by itself; no
    /// waiter overtakes it.
    pub(crate) fn give(&'static self, port: &dyn Port, queue: Queue, value: u16) -> bool {
        let granted = u32::from(value) << 16 | queue.0 | GRANTED;
        while let Some((entry, word)) = self.oldest(queue) {
            if word & STATE == HELD {
                return false;
            }
            // Fails only when this waiter left, was nudged, or another giver served it.
            if entry.word.compare_exchange(word, granted, SeqCst, SeqCst).is_ok() {
                entry.event.post(port);
                return true;
            }
        }
        false
    }

    /// Asks every seat that waits in `queue` to look again.
    pub(crate) fn nudge(&'static self, port: &dyn Port, queue: Queue) {
        self.entries.iter().for_each(|entry| entry.nudge(port, queue));
    }

    /// Asks the seat that has waited longest in `queue` to look again, unless it does.
    pub(crate) fn nudge_oldest(&'static self, port: &dyn Port, queue: Queue) {
        if let Some((entry, _)) = self.oldest(queue) {
            entry.nudge(port, queue);
        }
    }
}

impl Entry {
    fn nudge(&'static self, port: &dyn Port, queue: Queue) {
        let (waiting, nudged) = (queue.0 | WAITING, queue.0 | NUDGED);
        if self.word.compare_exchange(waiting, nudged, SeqCst, SeqCst).is_ok() {
            self.event.post(port);
        }
    }
}

/// A taken seat. Dropping it frees the seat.
pub(crate) struct Seat {
    entry: &'static Entry,
}

impl Seat {
    /// From now on givers find this seat. Needs: disarmed.
    pub(crate) fn arm(&self, queue: Queue) {
        self.entry.word.store(queue.0 | WAITING, SeqCst);
    }

    /// Whether no seat of `queue` has waited longer than this one: neither an armed seat nor one
    /// whose waiter looks around just now.
    pub(crate) fn is_oldest(&self, waiters: &'static Waiters, queue: Queue) -> bool {
        let own = self.entry.ticket.load(Relaxed);
        waiters.entries.iter().all(|entry| {
            let word = entry.word.load(SeqCst);
            let queued = word & STATE != FREE && Queue::of(word) == queue;
            !queued || own.wrapping_sub(entry.ticket.load(Relaxed)) as i32 <= 0
        })
    }

    /// Givers no longer find this seat; what had come to it is the answer.
    pub(crate) fn disarm(&self) -> Wake {
        // The waiter alone writes the queue, so this keeps its place there. Whatever the word was,
        // from here on it is the waiter's alone: the swap is the one winner.
        let queue = Queue::of(self.entry.word.load(Relaxed));
        let word = self.entry.word.swap(queue.0 | HELD, AcqRel);
        match word & STATE {
            GRANTED => Wake::Granted((word >> 16) as u16),
            NUDGED => Wake::Nudged,
            _ => Wake::TimedOut,
        }
    }

    /// Disarms, and forgets a nudge together with the post that told of it.
    pub(crate) fn forget_nudge(&self, port: &dyn Port) -> Wake {
        let wake = self.disarm();
        self.entry.event.wait(port, 0);
        wake
    }

    /// Waits until something comes or `timeout_ms` is over, and disarms. A wake-up meant for an
    /// earlier waiter of this seat is not an answer: the caller's loop goes round once more.
    pub(crate) fn wait(&self, port: &dyn Port, timeout_ms: u32) -> Wake {
        if self.entry.word.load(Acquire) & STATE == WAITING {
            self.entry.event.wait(port, timeout_ms);
        }
        self.disarm()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // SeqCst: a waiter that leaves frees its seat and then looks for the next in line; a
        // newcomer counts itself and then looks whether an older waiter is there. One of the two
        // must see the other, or the newcomer trusts an empty seat.
        self.entry.word.store(FREE, SeqCst);
    }
}
