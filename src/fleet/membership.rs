// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots whose content many threads use at once, until one of them ends it: the memberships of an
//! image.
//!
//! ```text
//!           (1) claim            (2) open                    (3) leave
//!   FREE(g) ---------> MAKING(g) --------> OPEN(g + 1, users) ---------> LEAVING(g + 1, users)
//!    ^   ^                 |                  (4) enter: users + 1           (5) exit: users - 1
//!    |   +-----------------+                  (5) exit:  users - 1           (3) leave, again
//!    |       (6) given up                                                         |
//!    +------------------- ENDING(g + 1) <-----------------------------------------+
//!        (7) released                        (3) by a leaver that is the only user
//! ```
//! Each edge is one step of one word, `generation:20 users:10 phase:2`:
//!
//! 1. [`Memberships::claim`]: the slot is the caller's.
//! 2. [`Claimed::open`]: the content is there, and the handle is valid.
//! 3. [`Memberships::leave`]: no call enters from here on. The leaver counts itself as a user as
//!    well, so that it can wake the calls that wait inside. If it is the only user, the content is
//!    its own, to be taken out and dropped. Otherwise it exits and says *busy*, and its caller
//!    calls again. No thread waits for another.
//! 4. [`Memberships::enter`], at the begin of each call.
//! 5. [`Visit`] dropped, at the end of each call.
//! 6. [`Claimed`] dropped without having been opened.
//! 7. [`Ended`] dropped, after the content.
//!
//! MAKING and ENDING are one phase: the slot is one thread's. The content is changed only in that
//! phase, and only threads that count as users look at it. So no thread can take from under a call
//! what the call uses.
//!
//! All of it is `SeqCst`: a leaver marks the word and then looks for waiters, a waiter gets in line
//! and then looks at the word ([`Visit::goes_on`]).

use crate::sync::UnsafeCell;
use crate::table::word;
use core::ops::Deref;

/// The bits of users and phase. Generations wrap in the 20 others: a handle is stale until so many
/// later lives of its slot.
const BITS: u32 = 12;
type Word = word::Word<BITS>;
type Packed = word::Packed<BITS>;

const FREE: u32 = 0;
/// Also ENDING.
const MAKING: u32 = 1;
const OPEN: u32 = 2;
const LEAVING: u32 = 3;
const PHASE: u32 = 3;

const USER: u32 = 1 << 2;
/// As many calls as can be under way at one time in one membership.
const USERS_MAX: u32 = (1 << 10) - 1;
const USERS: u32 = USERS_MAX << 2;

impl Packed {
    fn is(self, generation: u32, phase: u32) -> bool {
        self.is_life(generation) && self.state() & PHASE == phase
    }

    /// With one user more, if there is room for one.
    fn with_user(self) -> Option<Self> {
        (self.state() & USERS != USERS).then(|| self.with(self.state() + USER))
    }
}

/// Why a slot was not entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum No {
    /// The membership has ended, or is being ended.
    Stale,
    /// As many calls as can be are under way; or, for a leave, any other call is.
    Busy,
}

/// `N` slots.
pub(crate) struct Memberships<T, const N: usize> {
    slots: [Slot<T>; N],
}

struct Slot<T> {
    word: Word,
    content: UnsafeCell<Option<T>>,
}

// SAFETY: several threads look at the content, and any of them makes and drops it, each only in the
// phase that allows it.
unsafe impl<T: Send + Sync, const N: usize> Sync for Memberships<T, N> {}

impl<T> Slot<T> {
    /// Steps to what `next` makes of the word. False: `next` left it as it was.
    fn change(&self, next: impl Fn(Packed) -> Option<Packed>) -> bool {
        self.word.change_seq_cst(next).is_ok()
    }

    /// For the slot's sole owner.
    fn free(&self) {
        self.word.store_seq_cst(self.word.load_seq_cst().with(FREE));
    }
}

impl<T, const N: usize> Memberships<T, N> {
    pub const fn new() -> Self {
        Self { slots: [const { Slot { word: Word::new(), content: UnsafeCell::new(None) } }; N] }
    }

    /// A slot for a new membership, if one is free.
    pub fn claim(&self) -> Option<Claimed<'_, T>> {
        self.slots.iter().enumerate().find_map(|(index, slot)| {
            let claim = |word: Packed| (word.state() == FREE).then(|| word.with(MAKING));
            slot.change(claim).then(|| Claimed { slot, index })
        })
    }

    /// Begins a call, for which the content stays.
    pub fn enter(&self, index: usize, generation: u32) -> Result<Visit<'_, T>, No> {
        let slot = self.slots.get(index).ok_or(No::Stale)?;
        let is_open = |word: Packed| word.is(generation, OPEN);
        if slot.change(|word| is_open(word).then(|| word.with_user()).flatten()) {
            Ok(Visit { slot })
        } else if is_open(slot.word.load_seq_cst()) {
            Err(No::Busy)
        } else {
            Err(No::Stale)
        }
    }

    /// Ends the membership if no other call is under way. Otherwise marks it, so that no more
    /// begin, and lets `wake` end the waits inside.
    pub fn leave(
        &self,
        index: usize,
        generation: u32,
        wake: impl FnOnce(&T),
    ) -> Result<Ended<'_, T>, No> {
        let slot = self.slots.get(index).ok_or(No::Stale)?;
        let lives = |word: Packed| word.is(generation, OPEN) || word.is(generation, LEAVING);
        let mark = |word: Packed| word.with(word.state() | LEAVING).with_user();
        if !slot.change(|word| lives(word).then(|| mark(word)).flatten()) {
            return Err(if lives(slot.word.load_seq_cst()) { No::Busy } else { No::Stale });
        }
        let visit = Visit { slot };
        let alone = Packed::new(generation, USER | LEAVING);
        if slot.word.step_seq_cst(alone, alone.with(MAKING)).is_ok() {
            core::mem::forget(visit);
            return Ok(Ended { slot });
        }
        wake(&visit);
        Err(No::Busy)
    }
}

/// A slot that this thread has claimed, for a membership to begin in.
pub(crate) struct Claimed<'a, T> {
    slot: &'a Slot<T>,
    index: usize,
}

impl<T> Claimed<'_, T> {
    /// Begins the membership. Answers index and generation of its handle.
    pub fn open(self, content: T) -> (usize, u32) {
        // SAFETY: the slot is this thread's.
        self.slot.content.with_mut(|place| unsafe { *place = Some(content) });
        let next = self.slot.word.load_seq_cst().next_life(OPEN);
        self.slot.word.store_seq_cst(next);
        let index = self.index;
        core::mem::forget(self);
        (index, next.generation())
    }
}

impl<T> Drop for Claimed<'_, T> {
    fn drop(&mut self) {
        self.slot.free();
    }
}

/// A call that is under way.
pub(crate) struct Visit<'a, T> {
    slot: &'a Slot<T>,
}

impl<T> Visit<'_, T> {
    /// False: a thread has begun to end the membership.
    pub fn goes_on(&self) -> bool {
        self.slot.word.load_seq_cst().state() & PHASE == OPEN
    }
}

impl<T> Deref for Visit<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this counts as a user, so no thread changes the content before it is dropped.
        let content = self.slot.content.with(|content| unsafe { (*content).as_ref() });
        match content {
            Some(content) => content,
            None => unreachable!("an open slot has its content"),
        }
    }
}

impl<T> Drop for Visit<'_, T> {
    fn drop(&mut self) {
        self.slot.change(|word| Some(word.with(word.state() - USER)));
    }
}

/// A membership that has ended. Dropping this drops the content, and then frees the slot.
pub(crate) struct Ended<'a, T> {
    slot: &'a Slot<T>,
}

impl<T> Ended<'_, T> {
    /// The content, for its caller to end.
    pub fn take(&mut self) -> Option<T> {
        // SAFETY: the slot is this thread's.
        self.slot.content.with_mut(|content| unsafe { (*content).take() })
    }
}

impl<T> Drop for Ended<'_, T> {
    fn drop(&mut self) {
        drop(self.take());
        self.slot.free();
    }
}
