// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots whose content many threads use at once, and one of them ends: the memberships of an image.
//!
//! ```text
//!           (1) claim            (2) open                    (3) leave
//!   FREE(g) ---------> MAKING(g) --------> OPEN(g + 1, users) ---------> LEAVING(g + 1, users)
//!    ^   ^                 |                  (4) enter: users + 1           (5) exit: users - 1
//!    |   +-----------------+                  (5) exit:  users - 1           (3) leave, again
//!    |       (6) given up                                                         |
//!    +------------------- ENDING(g + 1) <-----------------------------------------+
//!        (7) released                        (3) by who finds no other user
//! ```
//! Each edge is one compare-and-swap on one word, `generation:20 users:10 phase:2`:
//!
//! 1. [`Memberships::claim`]: the slot is the caller's.
//! 2. [`Claimed::open`]: the content is there, and the handle is valid.
//! 3. [`Memberships::leave`]: nobody enters from here on. Whoever calls it is a user as well, so it can wake
//!    those who wait inside. If it is the only user the content is its own, to be taken out and dropped;
//!    else it exits, and says *busy*: the caller calls again. Nobody waits.
//! 4. [`Memberships::enter`], at the begin of each call.
//! 5. [`Visit`] dropped, at the end of each call.
//! 6. [`Claimed`] dropped without having been opened.
//! 7. [`Ended`] dropped, after the content.
//!
//! MAKING and ENDING are one phase: the slot is one thread's. So the content is changed only in that phase,
//! and looked at only by who counts as a user; what a call uses cannot be taken from under it.

use super::words::{AtomicU32, SeqCst};
use crate::sync::UnsafeCell;
use core::ops::Deref;

const FREE: u32 = 0;
/// Also ENDING.
const MAKING: u32 = 1;
const OPEN: u32 = 2;
const LEAVING: u32 = 3;
const PHASE: u32 = 3;

const USER: u32 = 1 << 2;
/// Calls under way at one time in one membership, at most.
const USERS_MAX: u32 = (1 << 10) - 1;
const USERS: u32 = USERS_MAX << 2;
/// Generations wrap: a handle is stale until so many later lives of its slot.
const GENERATION: u32 = !(USERS | PHASE);
const GENERATION_ONE: u32 = 1 << 12;

/// Whether the word is of that generation, in one of two phases.
fn is(word: u32, generation: u32, phase: u32) -> bool {
    word >> 12 == generation && word & PHASE == phase
}

/// Why a slot was not entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum No {
    /// The membership has ended, or is being ended.
    Stale,
    /// As many calls as can be are under way, or the one that would end it is not the only one.
    Busy,
}

/// `N` slots.
pub(crate) struct Memberships<T, const N: usize> {
    slots: [Slot<T>; N],
}

struct Slot<T> {
    word: AtomicU32,
    content: UnsafeCell<Option<T>>,
}

// SAFETY: the content is looked at by several threads, and made and dropped by any of them, each only in
// the phase that says so.
unsafe impl<T: Send + Sync, const N: usize> Sync for Memberships<T, N> {}

impl<T> Slot<T> {
    /// Replaces the word by what `next` makes of it; answers that, or `None` if `next` does. Repeats only
    /// when another thread entered, left or ended the slot.
    fn change(&self, next: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let mut seen = self.word.load(SeqCst);
        loop {
            let wanted = next(seen)?;
            match self.word.compare_exchange_weak(seen, wanted, SeqCst, SeqCst) {
                Ok(_) => return Some(wanted),
                Err(now) => seen = now,
            }
        }
    }
}

impl<T, const N: usize> Memberships<T, N> {
    pub const fn new() -> Self {
        Self {
            slots: [const { Slot { word: AtomicU32::new(FREE), content: UnsafeCell::new(None) } };
                N],
        }
    }

    /// A slot for a new membership, if one is free.
    pub fn claim(&self) -> Option<Claimed<'_, T>> {
        self.slots.iter().enumerate().find_map(|(index, slot)| {
            let free = |word| (word & PHASE == FREE).then_some(word & GENERATION | MAKING);
            slot.change(free).map(|_| Claimed { slot, index })
        })
    }

    /// The content, for the time of a call.
    pub fn enter(&self, index: usize, generation: u32) -> Result<Visit<'_, T>, No> {
        let slot = self.slots.get(index).ok_or(No::Stale)?;
        let open = |word| is(word, generation, OPEN) && word & USERS != USERS;
        match slot.change(|word| open(word).then_some(word + USER)) {
            Some(_) => Ok(Visit { slot }),
            None if is(slot.word.load(SeqCst), generation, OPEN) => Err(No::Busy),
            None => Err(No::Stale),
        }
    }

    /// Ends the membership if no other call is under way; else marks it, so that no more begin, and lets
    /// `wake` tell those that wait inside.
    pub fn leave(
        &self,
        index: usize,
        generation: u32,
        wake: impl FnOnce(&T),
    ) -> Result<Ended<'_, T>, No> {
        let slot = self.slots.get(index).ok_or(No::Stale)?;
        let lives = |word| is(word, generation, OPEN) || is(word, generation, LEAVING);
        let marked = slot.change(|word| {
            (lives(word) && word & USERS != USERS).then_some(word | LEAVING).map(|word| word + USER)
        });
        if marked.is_none() {
            return Err(if lives(slot.word.load(SeqCst)) { No::Busy } else { No::Stale });
        }
        let visit = Visit { slot };
        let alone = generation << 12 | USER | LEAVING;
        if slot.word.compare_exchange(alone, generation << 12 | MAKING, SeqCst, SeqCst).is_ok() {
            core::mem::forget(visit);
            return Ok(Ended { slot });
        }
        wake(&visit);
        Err(No::Busy)
    }
}

/// A slot that is this thread's, for a membership to begin.
pub(crate) struct Claimed<'a, T> {
    slot: &'a Slot<T>,
    index: usize,
}

impl<T> Claimed<'_, T> {
    /// Begins it; index and generation of its handle.
    pub fn open(self, content: T) -> (usize, u32) {
        // SAFETY: the slot is this thread's.
        self.slot.content.with_mut(|place| unsafe { *place = Some(content) });
        let next = |word: u32| Some((word & GENERATION).wrapping_add(GENERATION_ONE) | OPEN);
        let generation = self.slot.change(next).map_or(0, |word| word >> 12);
        let index = self.index;
        core::mem::forget(self);
        (index, generation)
    }
}

impl<T> Drop for Claimed<'_, T> {
    fn drop(&mut self) {
        self.slot.change(|word| Some(word & GENERATION | FREE));
    }
}

/// A call that is under way.
pub(crate) struct Visit<'a, T> {
    slot: &'a Slot<T>,
}

impl<T> Visit<'_, T> {
    /// Whether nobody has begun to end the membership.
    pub fn goes_on(&self) -> bool {
        self.slot.word.load(SeqCst) & PHASE == OPEN
    }
}

impl<T> Deref for Visit<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this counts as a user, so nobody changes the content until it is dropped.
        let content = self.slot.content.with(|content| unsafe { (*content).as_ref() });
        match content {
            Some(content) => content,
            None => unreachable!("an open slot has its content"),
        }
    }
}

impl<T> Drop for Visit<'_, T> {
    fn drop(&mut self) {
        self.slot.word.fetch_sub(USER, SeqCst);
    }
}

/// A membership that has ended: its content, and then its slot, go when this is dropped.
pub(crate) struct Ended<'a, T> {
    slot: &'a Slot<T>,
}

impl<T> Ended<'_, T> {
    /// The content, to be ended.
    pub fn take(&mut self) -> Option<T> {
        // SAFETY: the slot is this thread's.
        self.slot.content.with_mut(|content| unsafe { (*content).take() })
    }
}

impl<T> Drop for Ended<'_, T> {
    fn drop(&mut self) {
        drop(self.take());
        self.slot.change(|word| Some(word & GENERATION | FREE));
    }
}
