// SPDX-License-Identifier: MIT OR Apache-2.0
//! The things that a table needs from its target: whether a process lives, a clock, and waiting.
//! And the port for a table in the memory of one image ([`Image`]).

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
    /// No process holds it: the life that is written there has ended.
    Free,
    /// The target cannot tell. Then only a report ([`super::Node::node_dead`]) ends a life.
    Unknown,
}

/// A table's port to its target. Any thread may call any function at any time.
pub trait FleetPort: Sync {
    /// Takes the lane if no process has it, without waiting. The hold must end with the process,
    /// however that ends. True: this caller has it now.
    fn hold(&self, node: u16) -> bool;

    /// Gives the lane back.
    fn let_go(&self, node: u16);

    /// Whether some process has the lane.
    fn look(&self, node: u16) -> Hold;

    /// Milliseconds of a clock that never goes back, and that counts from the same instant for all
    /// processes that share the table. It may wrap.
    fn clock_ms(&self) -> u32;

    /// Whether [`Self::wait`] works here. If it does not, no table is opened.
    fn can_wait(&self) -> bool;

    /// Sleeps while the word has this value, at most `timeout_ms`; it may return early. False: as
    /// many threads wait already as can.
    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool;

    /// Wakes all threads that wait for this word, in all processes.
    fn wake(&self, word: &AtomicU32);
}

/// A place for one thread of an image to wait.
#[derive(Debug)]
pub struct WaitSlot {
    /// The address of the word that its thread waits for; 0: the place is free.
    word: AtomicUsize,
    event: Event,
}

impl WaitSlot {
    /// A free place, for the static array that [`Image::new`] takes.
    #[allow(clippy::new_without_default)] // As for `Event`.
    pub const fn new() -> Self {
        Self { word: AtomicUsize::new(0), event: Event::new() }
    }
}

/// The port of a table in one image's own memory: RTEMS, bare metal, or a process that shares its
/// table with no other. Its nodes are parts of this image, and live until they leave. Waits are
/// events of `port`.
pub struct Image {
    port: &'static dyn Port,
    slots: &'static [WaitSlot],
    free_lanes: Bitmap,
}

impl Image {
    /// Makes the event of each slot. As many threads can wait at one time as there are slots.
    ///
    /// # Errors
    /// The system's error number, if it makes no event.
    pub fn new(port: &'static dyn Port, slots: &'static [WaitSlot]) -> Result<Self, i32> {
        for slot in slots {
            slot.event.prepare(port)?;
        }
        let free_lanes = Bitmap::new();
        (0..Bitmap::BITS).for_each(|lane| free_lanes.put(lane));
        Ok(Self { port, slots, free_lanes })
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
        !self.slots.is_empty()
    }

    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool {
        let address = ptr::from_ref(word).addr();
        let take =
            |slot: &&WaitSlot| slot.word.compare_exchange(0, address, SeqCst, SeqCst).is_ok();
        let Some(slot) = self.slots.iter().find(take) else {
            return false;
        };
        // The slot is taken first: a waker that changes the word after this load finds it taken,
        // and posts. A post that was meant for the slot's last waiter costs an early return.
        if word.load(SeqCst) == value {
            slot.event.wait(self.port, timeout_ms);
        }
        slot.word.store(0, SeqCst);
        true
    }

    fn wake(&self, word: &AtomicU32) {
        for slot in self.slots {
            if slot.word.load(SeqCst) == ptr::from_ref(word).addr() {
                slot.event.post(self.port);
            }
        }
    }
}

impl core::fmt::Debug for Image {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Image").field("slots", &self.slots.len()).finish_non_exhaustive()
    }
}

/// The word has moved: wakes its waiters. Without a waiter that is one load.
///
/// A waiter reads the word, sets the mark (`wait_until`), and sleeps while the word is what it
/// read. The waker that clears the mark may take it from a waiter that is about to sleep. So it
/// moves the word once more after that: a waiter that had read the word before does not sleep, or
/// is woken; one that reads it after sets the mark again.
pub(super) fn moved(port: &dyn FleetPort, word: &AtomicU32, watched: &AtomicU32) {
    if watched.load(SeqCst) != 0 && watched.swap(0, SeqCst) != 0 {
        word.fetch_add(1, SeqCst);
        port.wake(word);
    }
}
