// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floors: the locked instructions that a lease consists of, on lines laid out as its own, and
//! nothing else. A lease takes no less than they do; the rest of its work is what it takes above.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Words of one cache line.
#[derive(Default)]
#[repr(align(64))]
pub struct Line([AtomicU32; 4]);

/// One compare-and-swap, from what was just read.
#[inline]
fn swap(word: &AtomicU32) {
    let seen = word.load(SeqCst);
    let _ = word.compare_exchange(seen, seen.wrapping_add(2), SeqCst, SeqCst);
}

/// The line that all leases of a pool share: the leaf of its bitmap.
#[derive(Default)]
pub struct Pool {
    leaf: Line,
}

impl Pool {
    /// `count` times a lease's five: acquire claims the idle bit and takes the set's word; release
    /// ends the lease's generation, gives the word back and puts the bit.
    pub fn lease(&self, count: u32) {
        let set = Line::default();
        let [word, generation, ..] = &set.0;
        for _ in 0..count {
            swap(&self.leaf.0[0]);
            swap(word);
            swap(generation);
            swap(word);
            self.leaf.0[0].fetch_or(1, SeqCst);
        }
        black_box(&set);
    }
}

/// The lines that the leases of one resource share: its slot, its units, the key.
#[derive(Default)]
pub struct Resource {
    slot: Line,
    units: Line,
    key: Line,
}

impl Resource {
    /// `count` times a fleet lease's thirteen.
    pub fn lease(&self, count: u32) {
        let cell = Line::default();
        for _ in 0..count {
            self.reserve();
            self.serve(&cell);
        }
        black_box(&cell);
    }

    /// The asker's four: the entry, its fence, the unit, the entry's publication.
    #[inline]
    pub fn reserve(&self) {
        let ([entry, fence, ..], [units, ..]) = (&self.slot.0, &self.units.0);
        swap(entry);
        fence.fetch_add(1, SeqCst);
        swap(units);
        swap(entry);
    }

    /// The owner's nine. Accept: the execution's cell, the entry twice with the unit in between,
    /// the cell's publication. Complete: the cell twice, the unit, the key's count.
    #[inline]
    pub fn serve(&self, cell: &Line) {
        let ([entry, ..], [units, ..], [cell, ..]) = (&self.slot.0, &self.units.0, &cell.0);
        swap(cell);
        swap(entry);
        swap(units);
        swap(entry);
        swap(cell);

        swap(cell);
        swap(cell);
        swap(units);
        self.key.0[0].fetch_add(1, SeqCst);
    }
}

/// The line that all claims to create under one key share.
#[derive(Default)]
pub struct Key {
    key: Line,
}

impl Key {
    /// `count` times a claim's seven: the permit's cell, the key's claims, the cell's publication;
    /// at its end the cell, the claims, the cell again, the key's count.
    pub fn claim(&self, count: u32) {
        let cell = Line::default();
        let ([claims, version, ..], [permit, ..]) = (&self.key.0, &cell.0);
        for _ in 0..count {
            swap(permit);
            swap(claims);
            swap(permit);

            swap(permit);
            swap(claims);
            swap(permit);
            version.fetch_add(1, SeqCst);
        }
        black_box(&cell);
    }
}
