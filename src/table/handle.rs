// SPDX-License-Identifier: MIT OR Apache-2.0
//! A slot's name: kind, index and generation in 64 bits.

/// What a handle names. Two kinds never share a number, so that a lease passed where a job is
/// wanted is told from a stale job. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A pool.
    Pool = 1,
    /// The right to use one set.
    Lease = 2,
    /// A joinable job.
    Job = 3,
    /// A charge for a fixed thread.
    Charge = 4,
    /// A membership in a fleet's table.
    Fleet = 5,
}

/// The name of one life of one slot. The bits are `kind:8 index:24 generation:32`. Zero names
/// nothing. A value, never an atomic: some targets have no 64-bit atomics (P8).
///
/// Holding a handle proves nothing about the slot: each use compares its generation with the
/// slot's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(u64);

impl Handle {
    /// The handle of the slot's life `generation`.
    pub const fn new(kind: Kind, index: usize, generation: u32) -> Self {
        Self((kind as u64) << 56 | (index as u64 & 0xff_ffff) << 32 | generation as u64)
    }

    /// The handle with these bits, wherever they come from.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, for the C ABI and for printing.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Index and generation, if this is a handle of `kind` whose index is below `slots`.
    pub const fn parts(self, kind: Kind, slots: usize) -> Option<(usize, u32)> {
        let index = (self.0 >> 32 & 0xff_ffff) as usize;
        if self.0 >> 56 == kind as u64 && index < slots {
            Some((index, self.0 as u32))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_and_forged_handles_do_not() {
        let handle = Handle::new(Kind::Lease, 41, 7);
        assert_eq!(handle.parts(Kind::Lease, 42), Some((41, 7)));
        assert_eq!(handle.parts(Kind::Lease, 41), None, "index out of range");
        assert_eq!(handle.parts(Kind::Job, 42), None, "another kind");
        assert_eq!(Handle::from_bits(0).parts(Kind::Pool, 8), None, "zero names nothing");
        assert_eq!(Handle::from_bits(u64::MAX).parts(Kind::Pool, 8), None);
    }
}
