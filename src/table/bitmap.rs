// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claim the lowest free slot, at the same cost for 8 slots and for 1,024.
//!
//! ```text
//!   summary   . . 1 1      bit i set: leaf i may have a set bit (a hint)
//!                 | |
//!   leaves    0 0 5 8      bit set: the slot is free to be claimed (the truth)
//! ```
//! A leaf's bit is the only truth, and taking one is one compare-and-swap (P5): the thread that
//! cleared it owns the slot. The summary only shortens the search. It is set after the leaf and
//! cleared by a search that finds the leaf empty, so it can be wrong for a moment in either
//! direction; a search that ends empty by the summary therefore looks at the leaves themselves
//! before it says so.

use crate::sync::MODELLED;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, SeqCst},
};

const LEAVES: usize = if MODELLED { 2 } else { 32 };

/// Up to [`Bitmap::BITS`] slots, each free (bit set) or claimed. Any thread, at any time; no call
/// waits. A compare-and-swap loop here repeats only when another thread changed the same leaf.
/// Begins a cache line, so that two bitmaps side by side share none.
#[derive(Debug)]
#[repr(align(64))]
pub struct Bitmap {
    summary: AtomicU32,
    leaves: [AtomicU32; LEAVES],
}

impl Bitmap {
    /// Slots in one bitmap.
    pub const BITS: usize = LEAVES * 32;

    /// All slots claimed.
    pub const fn new() -> Self {
        Self { summary: AtomicU32::new(0), leaves: [const { AtomicU32::new(0) }; LEAVES] }
    }

    /// Claims the lowest free slot below `limit`. A slot that was free for the whole call and that
    /// no other thread claimed is found.
    #[inline]
    pub fn claim_lowest(&self, limit: usize) -> Option<usize> {
        let mut hint = self.summary.load(Acquire);
        while hint != 0 {
            let leaf = hint.trailing_zeros() as usize;
            if let Some(index) = self.claim_in(leaf) {
                return Some(index);
            }
            // The leaf was empty. A put() may set it between that look and this clear, and skip
            // the summary because its bit was still set: look once more after clearing.
            self.summary.fetch_and(!(1 << leaf), SeqCst);
            if self.leaves[leaf].load(SeqCst) != 0 {
                self.summary.fetch_or(1 << leaf, AcqRel);
            }
            hint &= !(1 << leaf);
        }
        (0..limit.div_ceil(32)).find_map(|leaf| self.claim_in(leaf))
    }

    #[inline]
    fn claim_in(&self, leaf: usize) -> Option<usize> {
        // SeqCst: a waiter announces itself and then looks here, a giver puts and then looks for
        // waiters; one of the two must see the other.
        let mut word = self.leaves[leaf].load(SeqCst);
        while word != 0 {
            let bit = word.trailing_zeros();
            match self.leaves[leaf].compare_exchange_weak(word, word & !(1 << bit), SeqCst, SeqCst)
            {
                Ok(_) => return Some(leaf * 32 + bit as usize),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Claims the slot `index` itself. False: it was not free.
    pub fn claim(&self, index: usize) -> bool {
        let bit = 1 << (index % 32);
        self.leaves[index / 32].fetch_and(!bit, SeqCst) & bit != 0
    }

    /// Makes `index` free. Only its claimer may.
    #[inline]
    pub fn put(&self, index: usize) {
        let leaf = index / 32;
        self.leaves[leaf].fetch_or(1 << (index % 32), SeqCst);
        // Skipping the write when the hint is set keeps the shared line clean. SeqCst: see the
        // comment in claim_lowest; either it sees our leaf or we see its cleared summary.
        if self.summary.load(SeqCst) & 1 << leaf == 0 {
            self.summary.fetch_or(1 << leaf, AcqRel);
        }
    }

    /// Whether the slot is free.
    pub(crate) fn contains(&self, index: usize) -> bool {
        self.leaves[index / 32].load(SeqCst) & 1 << (index % 32) != 0
    }

    /// How many free slots lie in leaves without their hint. None, while no thread claims or puts.
    pub(crate) fn unhinted(&self) -> usize {
        let hints = self.summary.load(SeqCst);
        let slots = |leaf: usize| self.leaves[leaf].load(SeqCst).count_ones() as usize;
        (0..LEAVES).filter(|leaf| hints & 1 << leaf == 0).map(slots).sum()
    }

    /// How many slots are free: a snapshot, exact only while no thread claims or puts.
    pub fn count(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.load(Relaxed).count_ones() as usize).sum()
    }
}

impl Default for Bitmap {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_a_sorted_set(
            ops in prop::collection::vec((0..3u8, 0..Bitmap::BITS), 1..400),
        ) {
            let bitmap = Bitmap::new();
            let mut model = BTreeSet::new();
            for (op, index) in ops {
                match op {
                    0 => { bitmap.put(index); model.insert(index); }
                    1 => prop_assert_eq!(bitmap.claim_lowest(Bitmap::BITS), model.pop_first()),
                    _ => prop_assert_eq!(bitmap.claim(index), model.remove(&index)),
                }
                prop_assert_eq!(bitmap.count(), model.len());
            }
        }
    }

    #[test]
    fn each_slot_has_one_owner_among_threads() {
        let bitmap = Bitmap::new();
        (0..64).for_each(|i| bitmap.put(i * 16));
        let owned: Vec<AtomicU32> = (0..Bitmap::BITS).map(|_| AtomicU32::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(i) = bitmap.claim_lowest(Bitmap::BITS) {
                            assert_eq!(owned[i].swap(1, Relaxed), 0, "claimed twice");
                            owned[i].store(0, Relaxed);
                            bitmap.put(i);
                        }
                    }
                });
            }
        });
        assert_eq!(bitmap.count(), 64, "nothing lost");
    }
}
