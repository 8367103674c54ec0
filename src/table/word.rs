// SPDX-License-Identifier: MIT OR Apache-2.0
//! The word of a slot: which life the slot is in, and in which state.
//!
//! ```text
//!   31                    BITS          0
//!   +----------------------+------------+
//!   |      generation      |   state    |
//!   +----------------------+------------+
//! ```
//! Each step of a slot's life is one compare-and-swap on its word, so that each has one winner
//! (P5). A handle carries the generation, so that it can tell its own life of the slot from every
//! other one.

use crate::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

/// Replaces what the word holds by what `next` makes of it, in one compare-and-swap; `None` leaves
/// it. The answer is what the word held before, `Err` if `next` left it.
///
/// The loop goes round only when another thread changed the word in between. Each such change is
/// one of a bounded number of events (a job, a death, a release), so the loop is bounded by the
/// competitors (P6).
#[inline(always)]
pub(crate) fn change(word: &AtomicU32, next: impl FnMut(u32) -> Option<u32>) -> Result<u32, u32> {
    word.fetch_update(AcqRel, Acquire, next)
}

/// What a [`Word`] holds: the generation, and a state of `BITS` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed<const BITS: u32>(u32);

impl<const BITS: u32> Packed<BITS> {
    const STATE: u32 = (1 << BITS) - 1;

    /// The life `generation` in `state`. Bits of the generation that do not fit are lost: a
    /// handle's generation is compared with [`Self::is_life`] before.
    #[inline(always)]
    pub(crate) const fn new(generation: u32, state: u32) -> Self {
        Self(generation << BITS | state)
    }

    #[inline(always)]
    pub(crate) const fn state(self) -> u32 {
        self.0 & Self::STATE
    }

    #[inline(always)]
    pub(crate) const fn generation(self) -> u32 {
        self.0 >> BITS
    }

    /// Whether a handle with this generation names the slot's present life. The generation may come
    /// from a forged handle, with bits that the word has no place for; no life has them.
    #[inline(always)]
    pub(crate) const fn is_life(self, generation: u32) -> bool {
        self.generation() == generation
    }

    /// The same life in another state.
    #[inline(always)]
    pub(crate) const fn with(self, state: u32) -> Self {
        Self(self.0 & !Self::STATE | state)
    }

    /// The slot's next life. Generations wrap.
    #[inline(always)]
    pub(crate) const fn next_life(self, state: u32) -> Self {
        Self::new(self.generation().wrapping_add(1), state)
    }
}

/// The atomic that holds a [`Packed`]. A zeroed word is generation 0, state 0.
pub(crate) struct Word<const BITS: u32>(AtomicU32);

impl<const BITS: u32> Word<BITS> {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// What the slot's owner wrote before it released this word can be read after this.
    #[inline(always)]
    pub(crate) fn load(&self) -> Packed<BITS> {
        Packed(self.0.load(Acquire))
    }

    /// As [`Self::load`], for a word that has to be seen together with another word.
    #[inline(always)]
    pub(crate) fn load_seq_cst(&self) -> Packed<BITS> {
        Packed(self.0.load(SeqCst))
    }

    /// For the slot's sole owner: releases what it wrote into the slot.
    #[inline(always)]
    pub(crate) fn store(&self, to: Packed<BITS>) {
        self.0.store(to.0, Release);
    }

    /// As [`Self::store`], for a word that has to be seen together with another word.
    #[inline(always)]
    pub(crate) fn store_seq_cst(&self, to: Packed<BITS>) {
        self.0.store(to.0, SeqCst);
    }

    /// One step: from exactly `from` to `to`. False: the word held something else.
    #[inline(always)]
    pub(crate) fn step(&self, from: Packed<BITS>, to: Packed<BITS>) -> bool {
        self.0.compare_exchange(from.0, to.0, AcqRel, Relaxed).is_ok()
    }

    /// As [`Self::step`], for a word that has to be seen together with another word; what the word
    /// held instead is the error.
    #[inline(always)]
    pub(crate) fn step_seq_cst(
        &self,
        from: Packed<BITS>,
        to: Packed<BITS>,
    ) -> Result<(), Packed<BITS>> {
        self.0.compare_exchange(from.0, to.0, SeqCst, SeqCst).map(drop).map_err(Packed)
    }

    /// See [`change`].
    #[inline(always)]
    pub(crate) fn change(
        &self,
        mut next: impl FnMut(Packed<BITS>) -> Option<Packed<BITS>>,
    ) -> Result<Packed<BITS>, Packed<BITS>> {
        change(&self.0, |word| next(Packed(word)).map(|to| to.0)).map(Packed).map_err(Packed)
    }

    /// As [`Self::change`], for a word that has to be seen together with another word.
    #[inline(always)]
    pub(crate) fn change_seq_cst(
        &self,
        mut next: impl FnMut(Packed<BITS>) -> Option<Packed<BITS>>,
    ) -> Result<Packed<BITS>, Packed<BITS>> {
        let next = |word| next(Packed(word)).map(|to| to.0);
        self.0.fetch_update(SeqCst, SeqCst, next).map(Packed).map_err(Packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn generation_and_state_come_back(generation in 0u32..1 << 29, state in 0u32..8) {
            let word = Packed::<3>::new(generation, state);
            prop_assert_eq!((word.generation(), word.state()), (generation, state));
            prop_assert_eq!(word.with(5), Packed::new(generation, 5));
            prop_assert_eq!(word.next_life(1).state(), 1);
            prop_assert!(word.is_life(generation));
            prop_assert!(!word.next_life(0).is_life(generation));
            prop_assert!(!word.is_life(generation | 1 << 29), "a forged handle's bits");
        }
    }

    #[test]
    fn generations_wrap_without_touching_the_state() {
        assert_eq!(Packed::<3>::new(u32::MAX >> 3, 4).next_life(2), Packed::new(0, 2));
    }

    // Words in a model take their place from its stock.
    #[cfg(not(any(loom, shuttle)))]
    #[test]
    fn a_step_has_one_winner_among_threads() {
        let word = Word::<2>::new();
        let won: usize = std::thread::scope(|scope| {
            let step = || usize::from(word.step(Packed::new(0, 0), Packed::new(0, 1)));
            let threads: std::vec::Vec<_> = (0..4).map(|_| scope.spawn(step)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(won, 1);
        assert_eq!(word.change(|_| None), Err(Packed::new(0, 1)), "left as it is");
        assert_eq!(word.change(|now| Some(now.next_life(0))), Ok(Packed::new(0, 1)));
        assert_eq!(word.load(), Packed::new(1, 0));
    }
}
