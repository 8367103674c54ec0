// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values that callers hold: keys, ids, leases, executions. Each names something in the table.
//! Holding one proves nothing: each use is checked against the table.

use crate::table::text::is_printable;
use core::fmt;
use core::str::FromStr;

/// A digest of what a resource is usable for. Equal keys mean interchangeable resources. The table
/// never hashes: the caller brings a key whose low bits are spread well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u128);

/// The parts of a key, as the table keeps it.
pub(super) const KEY_PARTS: usize = 5;
const PART_BITS: usize = 26;

impl Key {
    /// Five times 26 bits, each with one bit more that makes it differ from an empty word.
    pub(super) fn parts(self) -> [u32; KEY_PARTS] {
        core::array::from_fn(|i| {
            (self.0 >> (i * PART_BITS)) as u32 & ((1 << PART_BITS) - 1) | 1 << PART_BITS
        })
    }

    pub(super) fn from_parts(parts: [u32; KEY_PARTS]) -> Self {
        let part = |i: usize| u128::from(parts[i] & ((1 << PART_BITS) - 1)) << (i * PART_BITS);
        Self((0..KEY_PARTS).fold(0, |key, i| key | part(i)))
    }
}

/// As text, its first byte lowest, if all bytes are printable but for zeros behind the last; else
/// as 32 digits.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.to_le_bytes();
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let (text, rest) = bytes.split_at(length);
        let printable = text.iter().all(|byte| is_printable(*byte));
        match core::str::from_utf8(text) {
            Ok(text) if printable && length > 0 && rest.iter().all(|byte| *byte == 0) => {
                f.write_str(text)
            }
            _ => write!(f, "{:032x}", self.0),
        }
    }
}

/// One process in one node's lane, from its join to its end. Orders by node, then by incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Life {
    /// The process' lane in the table, below 1,024.
    pub node: u16,
    /// From 1 up, below 2^20: a number that no other life in this epoch has.
    pub incarnation: u32,
}

pub(super) const INCARNATION_MAX: u32 = (1 << 20) - 1;

impl Life {
    pub(super) const fn tag(self) -> u32 {
        (self.node as u32 & 0x3ff) << 20 | self.incarnation & INCARNATION_MAX
    }

    pub(super) const fn from_tag(tag: u32) -> Self {
        Self { node: (tag >> 20 & 0x3ff) as u16, incarnation: tag & INCARNATION_MAX }
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} life {}", self.node, self.incarnation)
    }
}

/// The three things that a handle can name; two bits of it, so that one is never taken for another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Resource = 0,
    Execution = 1,
    Permit = 2,
}

/// `what:2 kind:6 node:10 index:16 number:30`
const fn pack(what: What, kind: u8, node: usize, index: usize, number: u32) -> u64 {
    (what as u64) << 62
        | (kind as u64 & 0x3f) << 56
        | (node as u64 & 0x3ff) << 46
        | (index as u64 & 0xffff) << 30
        | number as u64 & 0x3fff_ffff
}

/// Node, index and number, if the handle is one of a table of this kind.
const fn unpack(bits: u64, what: What, kind: u8) -> Option<(usize, usize, u32)> {
    if bits >> 56 != (what as u64) << 6 | kind as u64 {
        return None;
    }
    Some(((bits >> 46 & 0x3ff) as usize, (bits >> 30 & 0xffff) as usize, bits as u32 & 0x3fff_ffff))
}

/// Names one tenancy of one slot: a registered resource. Prints as `kind.node.slot.generation`, and
/// parses from that. Zero names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Id(u64);

impl Id {
    pub(super) const fn new(kind: u8, node: usize, slot: usize, generation: u32) -> Self {
        Self(pack(What::Resource, kind, node, slot, generation))
    }

    pub(super) const fn parts(self, kind: u8) -> Option<(usize, usize, u32)> {
        unpack(self.0, What::Resource, kind)
    }

    /// The id with these bits, which may come from anywhere.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, for the C ABI and for messages.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The node that registered it.
    pub const fn node(self) -> u16 {
        (self.0 >> 46 & 0x3ff) as u16
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slot, generation) = (self.0 >> 30 & 0xffff, self.0 & 0x3fff_ffff);
        write!(f, "{}.{}.{slot}.{generation}", self.0 >> 56, self.node())
    }
}

/// A text that is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an id: kind.node.slot.generation")
    }
}

impl core::error::Error for NotAnId {}

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        // By a set of one char: a search for a single char calls a function to compare memory that
        // not every target has.
        let mut numbers = text.split(['.']);
        let mut next = |below: u32| match numbers.next().map(plain_number) {
            Some(Some(number)) if number < below => Ok(number),
            _ => Err(NotAnId),
        };
        let (kind, node) = (next(1 << 6)?, next(1 << 10)?);
        let (slot, generation) = (next(1 << 16)?, next(1 << 30)?);
        match numbers.next() {
            None => Ok(Id::new(kind as u8, node as usize, slot as usize, generation)),
            Some(_) => Err(NotAnId),
        }
    }
}

/// A number of digits only: `str::parse` would also take a sign.
fn plain_number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The right to ask a resource's owner to use it: a value that the holder brings to the owner in
/// whatever way the two speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FleetLease {
    /// The reserved resource.
    pub id: Id,
    /// Strictly increasing per slot: tells this reservation from every other one.
    pub fence: u64,
    /// The life that reserved it.
    pub holder: Life,
}

/// A unit at work: what [`super::Node::accept`] gives and [`super::Node::complete`] takes back,
/// once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Execution(u64);

impl Execution {
    pub(super) const fn new(kind: u8, node: usize, cell: usize, serial: u32) -> Self {
        Self(pack(What::Execution, kind, node, cell, serial))
    }

    pub(super) const fn parts(self, kind: u8) -> Option<(usize, usize, u32)> {
        unpack(self.0, What::Execution, kind)
    }

    /// The execution with these bits, which may come from anywhere.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, for the C ABI.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// Names one permit: `what:2 kind:6 key:20 cell:3 (3 unused) serial:30`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Claim(u64);

impl Claim {
    pub(super) const fn new(kind: u8, key: usize, cell: usize, serial: u32) -> Self {
        let place = (key << 6 | cell << 3) as u64;
        Self(pack(What::Permit, kind, 0, 0, serial) | place << 30)
    }

    /// Key, cell and serial.
    pub(super) const fn parts(self, kind: u8) -> Option<(usize, usize, u32)> {
        match unpack(self.0, What::Permit, kind) {
            Some((_, _, serial)) if self.0 >> 30 & 7 == 0 => {
                let place = (self.0 >> 30 & 0x3ff_ffff) as usize;
                Some((place >> 6, place >> 3 & 7, serial))
            }
            _ => None,
        }
    }

    /// The claim with these bits, which may come from anywhere.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, for the C ABI.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    proptest! {
        #[test]
        fn an_id_prints_and_parses(kind in 1..64u8, node in 0..1024usize, slot in 0..65_536usize,
                                   generation in 0..1u32 << 30) {
            let id = Id::new(kind, node, slot, generation);
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            prop_assert_eq!(id.parts(kind), Some((node, slot, generation)));
            prop_assert_eq!(id.parts(kind ^ 1), None, "another table's");
            prop_assert_eq!(usize::from(id.node()), node);
            let execution = Execution::new(kind, node, slot, generation);
            prop_assert_eq!(execution.parts(kind), Some((node, slot, generation)));
            prop_assert_eq!(Id::from_bits(execution.bits()).parts(kind), None, "another thing");
        }

        #[test]
        fn a_claim_names_its_place(key in 0..1usize << 20, cell in 0..8usize,
                                   serial in 0..1u32 << 30) {
            prop_assert_eq!(Claim::new(5, key, cell, serial).parts(5), Some((key, cell, serial)));
        }

        #[test]
        fn no_bits_make_a_handle_panic(bits: u64, kind: u8) {
            let _ = Id::from_bits(bits).parts(kind);
            let _ = Execution::from_bits(bits).parts(kind);
            let _ = Claim::from_bits(bits).parts(kind);
        }

        #[test]
        fn a_text_is_an_id_or_is_not(text in "[0-9.+ -]{0,24}") {
            if let Ok(id) = text.parse::<Id>() {
                prop_assert_eq!(id.to_string().parse(), Ok(id));
            }
        }

        #[test]
        fn a_key_has_its_parts_to_itself(a: u128, b: u128) {
            prop_assert_eq!(a == b, Key(a).parts() == Key(b).parts());
            prop_assert_eq!(Key::from_parts(Key(a).parts()), Key(a));
            prop_assert!(Key(a).parts().iter().all(|part| *part != 0));
        }
    }

    #[test]
    fn what_is_no_id_is_told() {
        for text in [
            "",
            "1",
            "1.2.3",
            "1.2.3.4.5",
            "64.0.0.1",
            "1.1024.0.1",
            "1.0.65536.1",
            "1.0.0.+1",
            "1..0.1",
        ] {
            assert_eq!(text.parse::<Id>(), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn lives_order_by_node_then_incarnation() {
        let life = |node, incarnation| Life { node, incarnation };
        assert!(life(1, 9) < life(2, 1) && life(2, 1) < life(2, 2));
        assert_eq!(Life::from_tag(life(1023, 77).tag()), life(1023, 77));
    }
}
