// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulated memory that is given out first fit: a heap, or the address space of a process. Blocks
//! have addresses, so it fragments.

use std::collections::BTreeMap;

/// A block that was given out. Not `Copy`: it is given back once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    start: usize,
    bytes: usize,
}

pub struct FreeList {
    /// Start and length of each free piece; no two touch.
    free: BTreeMap<usize, usize>,
    header_bytes: usize,
}

impl FreeList {
    /// Free pieces with these sizes; blocks cost `header_bytes` more than was asked for.
    pub fn new(pieces: &[usize], header_bytes: usize) -> Self {
        let mut start = 0;
        let mut free = BTreeMap::new();
        for &bytes in pieces.iter().filter(|&&bytes| bytes > 0) {
            free.insert(start, bytes);
            start += bytes + 1; // not ours: two pieces never become one
        }
        Self { free, header_bytes }
    }

    pub fn take(&mut self, bytes: usize) -> Option<Block> {
        let bytes = bytes.next_multiple_of(8) + self.header_bytes;
        let (&start, &length) = self.free.iter().find(|&(_, &length)| length >= bytes)?;
        self.free.remove(&start);
        if length > bytes {
            self.free.insert(start + bytes, length - bytes);
        }
        Some(Block { start, bytes })
    }

    pub fn give_back(&mut self, block: Block) {
        let (mut start, mut bytes) = (block.start, block.bytes);
        let before = self.free.range(..start).next_back().map(|(&s, &l)| (s, l));
        if let Some((s, l)) = before {
            assert!(s + l <= start, "given back twice");
            if s + l == start {
                self.free.remove(&s);
                (start, bytes) = (s, bytes + l);
            }
        }
        if let Some((&s, &l)) = self.free.range(start + bytes..).next()
            && start + bytes == s
        {
            self.free.remove(&s);
            bytes += l;
        }
        self.free.insert(start, bytes);
    }

    pub fn total(&self) -> usize {
        self.free.values().sum()
    }

    pub fn largest(&self) -> usize {
        self.free.values().copied().max().unwrap_or(0)
    }
}
