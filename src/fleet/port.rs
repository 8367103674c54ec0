// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a table needs from its target: who is alive, a clock, and waiting. And that for a table in the
//! memory of one image ([`Image`]).

use super::words::{AtomicU32, SeqCst};
use crate::port::{Event, Port};
use crate::sync::atomic::AtomicUsize;
use crate::table::Bitmap;
use core::ptr;

/// Whether a process holds a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// A living process holds it.
    Held,
    /// Nobody does: whoever is written there has ended.
    Free,
    /// The target cannot tell. Only a report ([`super::Node::node_dead`]) ends a life then.
    Unknown,
}

/// What a table needs from its target. All functions may be called by any thread at any time.
pub trait FleetPort: Sync {
    /// Takes the lane if nobody has it, at once. Whatever holds it must go away with the process,
    /// however that ends. True: this caller has it now.
    fn hold(&self, node: u16) -> bool;

    /// Gives the lane back.
    fn let_go(&self, node: u16);

    /// Whether some process has the lane.
    fn look(&self, node: u16) -> Hold;

    /// Milliseconds of a clock that never goes back, that counts from the same instant for all
    /// processes that share the table. It may wrap.
    fn clock_ms(&self) -> u32;

    /// Whether [`Self::wait`] works here. Where it does not, no table is opened.
    fn can_wait(&self) -> bool;

    /// Sleeps while the word has this value, at most `timeout_ms`; an early return is allowed. False:
    /// as many threads wait already as can.
    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool;

    /// Wakes everybody who waits for this word, in all processes.
    fn wake(&self, word: &AtomicU32);
}

/// A place for one thread of an image to wait.
#[derive(Debug)]
pub struct WaitSlot {
    /// The address of the word that its thread waits for; 0: the seat is free.
    word: AtomicUsize,
    event: Event,
}

impl WaitSlot {
    /// A free seat, for the static array that [`Image::new`] takes.
    #[allow(clippy::new_without_default)] // As for `Event`.
    pub const fn new() -> Self {
        Self { word: AtomicUsize::new(0), event: Event::new() }
    }
}

/// The port of a table in one image's own memory: RTEMS, bare metal, or a process that shares with
/// nobody. Its nodes are parts of this image, and live until they leave. Waits are events of `port`.
pub struct Image {
    port: &'static dyn Port,
    seats: &'static [WaitSlot],
    free_lanes: Bitmap,
}

impl Image {
    /// Makes each seat's event. As many threads can wait at one time as there are seats.
    ///
    /// # Errors
    /// The system's error number, if it makes no event.
    pub fn new(port: &'static dyn Port, seats: &'static [WaitSlot]) -> Result<Self, i32> {
        for seat in seats {
            seat.event.prepare(port)?;
        }
        let free_lanes = Bitmap::new();
        (0..Bitmap::BITS).for_each(|lane| free_lanes.put(lane));
        Ok(Self { port, seats, free_lanes })
    }
}

impl FleetPort for Image {
    fn hold(&self, node: u16) -> bool {
        self.free_lanes.claim(node.into())
    }

    fn let_go(&self, node: u16) {
        self.free_lanes.put(node.into());
    }

    fn look(&self, node: u16) -> Hold {
        if self.free_lanes.contains(node.into()) { Hold::Free } else { Hold::Held }
    }

    fn clock_ms(&self) -> u32 {
        self.port.clock_ms() as u32
    }

    fn can_wait(&self) -> bool {
        !self.seats.is_empty()
    }

    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool {
        let address = ptr::from_ref(word).addr();
        let sit = |seat: &&WaitSlot| seat.word.compare_exchange(0, address, SeqCst, SeqCst).is_ok();
        let Some(seat) = self.seats.iter().find(sit) else {
            return false;
        };
        // Who changes the word afterwards sees the seat taken, and posts; a post that was meant for
        // the last one who sat here costs an early return.
        if word.load(SeqCst) == value {
            self.port.event_wait(&seat.event, timeout_ms);
        }
        seat.word.store(0, SeqCst);
        true
    }

    fn wake(&self, word: &AtomicU32) {
        for seat in self.seats {
            if seat.word.load(SeqCst) == ptr::from_ref(word).addr() {
                self.port.event_post(&seat.event);
            }
        }
    }
}

impl core::fmt::Debug for Image {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Image").field("seats", &self.seats.len()).finish_non_exhaustive()
    }
}

/// The word has moved: wakes who waits for it. Without a waiter that is one load.
///
/// A waiter reads the word, sets the mark (`wait_until`), and sleeps while the word is what it read. Clearing the mark
/// may take it from a waiter that is about to sleep, so the word moves once more after that: either that
/// waiter read it before, and does not sleep or is woken, or it sets the mark after.
pub(super) fn moved(port: &dyn FleetPort, word: &AtomicU32, watched: &AtomicU32) {
    if watched.load(SeqCst) != 0 && watched.swap(0, SeqCst) != 0 {
        word.fetch_add(1, SeqCst);
        port.wake(word);
    }
}
