// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the table's words are packed, and the one loop that changes them.

use super::Error;
use super::id::Life;

pub(super) use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};

/// A word that changed this often between a look and the compare-and-swap is not contended for:
/// another process scribbles on it.
const TRIES: u32 = 1 << 16;

/// Replaces the word by what `next` makes of it, and answers what it was before.
///
/// [`change`](crate::table::word::change) goes round for as long as other threads change the word,
/// because in the process' own memory each change is one of a bounded number of events. Here other
/// processes write too, and one that is broken may never stop. So this loop has a bound, and ends
/// with [`Error::Corrupt`].
pub(super) fn update(
    word: &AtomicU32,
    next: impl Fn(u32) -> Result<u32, Error>,
) -> Result<u32, Error> {
    let mut seen = word.load(SeqCst);
    for _ in 0..TRIES {
        match word.compare_exchange_weak(seen, next(seen)?, SeqCst, SeqCst) {
            Ok(_) => return Ok(seen),
            Err(now) => seen = now,
        }
    }
    Err(Error::Corrupt)
}

/// One compare-and-swap. True: this one did it.
pub(super) fn swap(word: &AtomicU32, seen: u32, next: u32) -> bool {
    word.compare_exchange(seen, next, SeqCst, SeqCst).is_ok()
}

/// The last generation of a slot; with its end the slot is spent.
pub(super) const GENERATION_MAX: u32 = (1 << 30) - 1;

/// The phase that a slot is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Free,
    Live,
    Draining,
}

/// A slot's tenancy: `generation:30 phase:2`. Each begin and end of a tenancy is one
/// compare-and-swap on this word, and no value comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tenancy {
    pub generation: u32,
    pub phase: Phase,
}

impl Tenancy {
    pub fn unpack(word: u32) -> Self {
        let phase = match word & 3 {
            1 => Phase::Live,
            2 => Phase::Draining,
            _ => Phase::Free,
        };
        Self { generation: word >> 2, phase }
    }

    pub const fn pack(self) -> u32 {
        self.generation << 2
            | match self.phase {
                Phase::Free => 0,
                Phase::Live => 1,
                Phase::Draining => 2,
            }
    }

    /// Whether the tenancy `generation` goes on.
    pub fn is(self, generation: u32) -> bool {
        self.generation == generation && self.phase != Phase::Free
    }
}

/// A slot's units: `generation:8 active:16 mask:8`. Bit i of the mask is set while pending entry i
/// holds a unit. The low bits of the generation keep a change that was meant for one tenancy out of
/// the next: a late thread would have to be held up for exactly 256 tenancies of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub mask: u32,
    pub active: u32,
    generation: u32,
}

/// The most units of one resource: as many as `active` can count.
pub const MAX_CAPACITY: u32 = 0xffff;

impl Usage {
    pub fn unpack(word: u32) -> Self {
        Self { mask: word & 0xff, active: word >> 8 & 0xffff, generation: word >> 24 }
    }

    pub const fn pack(self) -> u32 {
        self.mask | self.active << 8 | self.generation << 24
    }

    /// The begin of the tenancy `generation`, with no active unit. The mask stays: its bits belong
    /// to the threads that have claimed the entries.
    pub fn begin(self, generation: u32) -> Self {
        Self { mask: self.mask, active: 0, generation: generation & 0xff }
    }

    pub fn is(self, generation: u32) -> bool {
        self.generation == generation & 0xff
    }

    pub fn with(self, mask: u32, active: u32) -> Self {
        Self { mask, active, ..self }
    }

    pub fn reserved(self) -> u32 {
        self.mask.count_ones()
    }
}

/// A word beside a pending entry: `generation:30 fence:2`, the tenancy that the entry is for and
/// bits 30 and 31 of its fence. The cell holds the fence's lower bits, another word the upper ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryTenancy {
    pub generation: u32,
    pub fence_bits: u32,
}

impl EntryTenancy {
    pub fn new(generation: u32, fence: u64) -> Self {
        Self { generation, fence_bits: fence as u32 >> 30 }
    }

    pub fn unpack(word: u32) -> Self {
        Self { generation: word >> 2, fence_bits: word & 3 }
    }

    pub const fn pack(self) -> u32 {
        self.generation << 2 | self.fence_bits
    }
}

/// The life that builds or owns a slot, and for which tenancy: `incarnation:20 generation:12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub incarnation: u32,
    generation: u32,
}

impl Owner {
    pub fn new(incarnation: u32, generation: u32) -> Self {
        Self { incarnation, generation: generation & 0xfff }
    }

    pub fn unpack(word: u32) -> Self {
        Self { incarnation: word & 0xf_ffff, generation: word >> 20 }
    }

    pub const fn pack(self) -> u32 {
        self.incarnation | self.generation << 20
    }
}

/// A key's permits: `changes:24 mask:8`. A claimer that counted the resources before a change fails
/// to swap the word after it, unless it was held up for exactly 2^24 changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claims(pub u32);

impl Claims {
    pub fn mask(self) -> u32 {
        self.0 & 0xff
    }

    pub fn with(self, mask: u32) -> Self {
        Self((self.0 & !0xff).wrapping_add(0x100) | mask)
    }
}

/// The content of a cell, the one form in which a pending reservation, a permit and an execution
/// are held.
///
/// ```text
///           (1) claim              (2) publish
///    EMPTY ----------> CLAIMED(life) ---------> PUBLISHED(serial)
///      ^                 |  ^  ^                      |
///      |   (4) release   |  |  |       (3) take       |
///      +-----------------+  |  +----------------------+
///                        |  |
///                        +--+ (5) take over, from a life that is over
/// ```
/// Each edge is one compare-and-swap. While a cell is CLAIMED, everything that belongs to it (its
/// bit in a mask, the words beside it) is touched only by the thread whose compare-and-swap claimed
/// it. A process that dies meanwhile leaves CLAIMED with its life, which the finder of (5) takes
/// over; a finder that dies in (5) leaves the same again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Empty,
    Claimed(Life),
    Published(u32),
    /// No process of Crew's wrote this.
    Broken,
}

/// The bits of a published cell's serial: the low ones of a number that the cell has only once.
pub(super) const SERIAL: u32 = (1 << 30) - 1;
const CLAIMED: u32 = 1 << 30;
const PUBLISHED: u32 = 2 << 30;

impl Cell {
    pub fn unpack(word: u32) -> Self {
        match word >> 30 {
            0 if word == 0 => Cell::Empty,
            1 => Cell::Claimed(Life::from_tag(word & SERIAL)),
            2 => Cell::Published(word & SERIAL),
            _ => Cell::Broken,
        }
    }

    /// (1)
    pub fn claim(word: &AtomicU32, me: Life) -> bool {
        // The look comes first: a cell in use is not worth the cache line that a swap would fetch.
        // It is SeqCst, because an asker that waits for a cell sets its mark, looks once more, and
        // sleeps if it finds all of them in use: that look must not be older than the mark.
        word.load(SeqCst) == 0 && swap(word, 0, CLAIMED | me.tag())
    }

    /// (2) False: the claimer was declared dead, and another life has taken the cell over.
    pub fn publish(word: &AtomicU32, me: Life, serial: u32) -> bool {
        swap(word, CLAIMED | me.tag(), PUBLISHED | serial & SERIAL)
    }

    /// (3)
    pub fn take(word: &AtomicU32, serial: u32, me: Life) -> bool {
        swap(word, PUBLISHED | serial & SERIAL, CLAIMED | me.tag())
    }

    /// (4)
    pub fn release(word: &AtomicU32, me: Life) {
        swap(word, CLAIMED | me.tag(), 0);
    }

    /// (1), (3) or (5): from the word that was seen.
    pub fn take_over(word: &AtomicU32, seen: u32, me: Life) -> bool {
        swap(word, seen, CLAIMED | me.tag())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_packed_word_comes_back(word: u32) {
            prop_assert_eq!(Usage::unpack(word).pack(), word);
            prop_assert_eq!(Owner::unpack(word).pack(), word);
            prop_assert_eq!(EntryTenancy::unpack(word).pack(), word);
            if word & 3 != 3 {
                prop_assert_eq!(Tenancy::unpack(word).pack(), word);
            }
            let next = Claims(word).with(5);
            prop_assert_eq!(next.mask(), 5);
            prop_assert_eq!(next.0 >> 8, (word >> 8).wrapping_add(1) & 0xff_ffff);
        }
    }

    #[test]
    fn a_word_that_never_holds_still_is_told_as_corrupt() {
        let word = AtomicU32::new(0);
        let scribbled = update(&word, |seen| {
            word.store(seen.wrapping_add(1), SeqCst);
            Ok(7)
        });
        assert_eq!(scribbled, Err(Error::Corrupt));
    }
}
