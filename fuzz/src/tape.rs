// SPDX-License-Identifier: MIT OR Apache-2.0
//! The input as a tape of decisions. Beyond its end every decision is 0, the harmless one.

use std::cell::Cell;

/// Bytes, read once from the front to the back.
#[derive(Default)]
pub struct Tape {
    bytes: Vec<u8>,
    at: Cell<usize>,
}

impl Tape {
    pub fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), at: Cell::new(0) }
    }

    pub fn is_over(&self) -> bool {
        self.at.get() >= self.bytes.len()
    }

    pub fn byte(&self) -> u8 {
        let at = self.at.get();
        self.at.set(at + 1);
        self.bytes.get(at).copied().unwrap_or(0)
    }

    pub fn below(&self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub fn one_in(&self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn long(&self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
}
