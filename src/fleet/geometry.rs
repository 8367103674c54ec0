// SPDX-License-Identifier: MIT OR Apache-2.0
//! How large a table is, where its words are, and whether a region holds this table.
//!
//! ```text
//!   header | lane 0 | lane 1 | ... | keys
//!            |
//!            life, cursors | tenancy of each slot | units | keys | slots | execution cells
//! ```
//! Three words of each slot stand in arrays of their own, so that a search for candidates reads few
//! cache lines. The region holds no pointers, and zeros are an empty table but for its header.

use super::words::{AtomicU32, SeqCst};
use super::{PENDING, TableError};

/// What one table holds at most. A peer with other numbers is refused when it opens the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Geometry {
    /// A number for what the table is for, 1 to 63: it tells the table's ids from another table's.
    pub kind: u8,
    /// Processes at one time, 1 to 1,024.
    pub nodes: u32,
    /// Resources of one node, a power of two up to 65,536.
    pub resources: u32,
    /// Leases of one node's resources at work at one time, a power of two up to 65,536.
    pub executions: u32,
    /// Keys in one epoch, a power of two up to 1,048,576.
    pub keys: u32,
}

/// Marks a table of Crew's, in the byte order of the processor that made it.
const MAGIC: u32 = 0x4352_4657;
/// Goes up by one with each layout that an older build cannot read.
const LAYOUT_VERSION: u32 = 2;

/// Words of the header.
const HEADER: usize = 32;
pub(super) const EPOCH: usize = 8;
pub(super) const RESETTER: usize = 9;
pub(super) const BOOTS: usize = 10;
pub(super) const LANES_USED: usize = 11;
/// The mark that a thread waits for any change of the table; see `port::moved`.
pub(super) const WATCHED: usize = 12;
/// The count of those changes, in a cache line of its own.
pub(super) const CHANGES: usize = 16;

/// Words before a lane's arrays.
const LANE: usize = 16;
pub(super) const LIFE: usize = 0;
pub(super) const SLOTS_USED: usize = 1;
pub(super) const NEXT_SLOT: usize = 2;
pub(super) const NEXT_EXECUTION: usize = 3;
/// The node's process number and name, for reports. The lane's holder writes them before it writes
/// its life.
pub(super) const PROCESS: usize = 4;
pub(super) const NAME: usize = 8;
pub(super) const NAME_WORDS: usize = 4;

/// Words of a slot, without its three in the arrays.
const SLOT: usize = 16 + PENDING * 4;
pub(super) const OWNER: usize = 0;
pub(super) const CAPACITY: usize = 1;
pub(super) const LAST_RESERVE: usize = 2;
pub(super) const FENCE_LOW: usize = 3;
pub(super) const FENCE_HIGH: usize = 4;
const ENTRIES: usize = 8;
const ENTRY_WORDS: usize = 16;
/// The words beside a pending entry.
pub(super) const ENTRY_TENANCY: usize = 0;
pub(super) const ENTRY_TIME: usize = 1;
pub(super) const ENTRY_HOLDER: usize = 2;
pub(super) const ENTRY_FENCE_HIGH: usize = 3;

/// Words of an execution's cell.
const EXECUTION: usize = 4;
pub(super) const EXECUTION_CELL: usize = 0;
pub(super) const EXECUTION_SERIAL: usize = 1;
pub(super) const EXECUTION_SLOT: usize = 2;
pub(super) const EXECUTION_GENERATION: usize = 3;

/// Words of a key.
const KEY: usize = 32;
pub(super) const KEY_CLAIMS: usize = 5;
pub(super) const KEY_VERSION: usize = 6;
pub(super) const KEY_WATCHED: usize = 7;
const PERMITS_AT: usize = 8;
const PERMIT_WORDS: usize = 16;
/// The words beside a permit's cell.
pub(super) const PERMIT_SERIAL: usize = 0;
pub(super) const PERMIT_OWNER: usize = 1;

/// A cache line of words.
const LINE: usize = 16;

const fn power_of_two_up_to(number: u32, most: u32) -> bool {
    number.is_power_of_two() && number <= most
}

impl Geometry {
    /// The words of memory that such a table takes. `None`: a number is outside of its bounds, or
    /// this processor cannot address so much.
    pub const fn words(&self) -> Option<usize> {
        if self.fault().is_some() {
            return None;
        }
        let words =
            HEADER as u64 + self.nodes as u64 * self.lane_words() + self.keys as u64 * KEY as u64;
        if words > (isize::MAX as u64) / 4 { None } else { Some(words as usize) }
    }

    /// The bytes of memory that such a table takes; see [`Self::words`].
    pub const fn bytes(&self) -> Option<usize> {
        match self.words() {
            Some(words) => Some(words * 4),
            None => None,
        }
    }

    /// The geometry that the table in these words was made with, so that a peer that was refused
    /// can say what differs.
    ///
    /// # Errors
    /// [`TableError::NotATable`], also while the table is only being made;
    /// [`TableError::OtherByteOrder`],
    /// [`TableError::OtherVersion`].
    pub fn of_table(words: &[AtomicU32]) -> Result<Self, TableError> {
        let word = |index: usize| words.get(index).map_or(0, |word| word.load(SeqCst));
        match (word(0), word(1)) {
            (MAGIC, LAYOUT_VERSION) => {}
            (MAGIC, 1..) => return Err(TableError::OtherVersion),
            (magic, _) if magic == MAGIC.swap_bytes() => return Err(TableError::OtherByteOrder),
            _ => return Err(TableError::NotATable),
        }
        let kind = u8::try_from(word(2)).map_err(|_| TableError::NotATable)?;
        let [nodes, resources, executions, keys] = [3, 4, 5, 6].map(word);
        let geometry = Self { kind, nodes, resources, executions, keys };
        if geometry.fault().is_some() { Err(TableError::NotATable) } else { Ok(geometry) }
    }

    const fn lane_words(&self) -> u64 {
        let arrays = (3 * self.resources as u64).next_multiple_of(LINE as u64);
        let slots = self.resources as u64 * SLOT as u64;
        let executions = (self.executions as u64 * EXECUTION as u64).next_multiple_of(LINE as u64);
        LANE as u64 + arrays + slots + executions
    }

    const fn fault(&self) -> Option<&'static str> {
        if self.kind == 0 || self.kind > 63 {
            Some("kind: 1 to 63")
        } else if self.nodes == 0 || self.nodes > 1024 {
            Some("nodes: 1 to 1,024")
        } else if !power_of_two_up_to(self.resources, 1 << 16) {
            Some("resources of a node: a power of two up to 65,536")
        } else if !power_of_two_up_to(self.executions, 1 << 16) {
            Some("executions of a node: a power of two up to 65,536")
        } else if !power_of_two_up_to(self.keys, 1 << 20) {
            Some("keys: a power of two up to 1,048,576")
        } else {
            None
        }
    }

    /// The header's words in order, each with the error for a table that holds another one there.
    fn header(&self) -> [(u32, TableError); 7] {
        let other = |what| TableError::OtherGeometry(what);
        [
            (MAGIC, TableError::NotATable),
            (LAYOUT_VERSION, TableError::OtherVersion),
            (self.kind.into(), other("kind")),
            (self.nodes, other("nodes")),
            (self.resources, other("resources")),
            (self.executions, other("executions")),
            (self.keys, other("keys")),
        ]
    }
}

/// The place of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub lane: usize,
    pub index: usize,
}

/// The words of an opened table. `geometry` is a copy that was checked once; each number that comes
/// from the region is checked against it before it becomes an index.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    words: &'a [AtomicU32],
    pub geometry: Geometry,
    lane_words: usize,
    keys_at: usize,
}

impl<'a> Region<'a> {
    /// The table in `words`, made there if they are all zero.
    ///
    /// Every opener writes the header word by word, each by one compare-and-swap from zero, and
    /// goes on only if the word that then stands there is the one it wanted. So the words written
    /// so far are always the beginning of one opener's header, the next opener completes what a
    /// dead one began, and no opener waits for another.
    pub fn open(words: &'a [AtomicU32], geometry: Geometry) -> Result<Self, TableError> {
        if let Some(fault) = geometry.fault() {
            return Err(TableError::BadGeometry(fault));
        }
        let needed =
            geometry.words().ok_or(TableError::BadGeometry("more than can be addressed"))?;
        if words.len() < HEADER {
            return Err(TableError::TooSmall { bytes: needed * 4 });
        }
        // Before the size is looked at: a table of another geometry is told as such even if the
        // region is smaller than this geometry needs.
        for (word, (value, _)) in words.iter().zip(geometry.header()) {
            let found = word.load(SeqCst);
            if found != 0 && found != value {
                return Err(Self::difference(words, geometry));
            }
        }
        let words = words.get(..needed).ok_or(TableError::TooSmall { bytes: needed * 4 })?;
        for (word, (value, other)) in words.iter().zip(geometry.header()) {
            match word.compare_exchange(0, value, SeqCst, SeqCst) {
                Ok(_) => {}
                Err(found) if found == value => {}
                Err(_) => return Err(other),
            }
        }
        let lane_words = geometry.lane_words() as usize;
        Ok(Self {
            words,
            geometry,
            lane_words,
            keys_at: HEADER + geometry.nodes as usize * lane_words,
        })
    }

    /// The error for the first word of the header that is another one than this geometry's.
    fn difference(words: &[AtomicU32], geometry: Geometry) -> TableError {
        if words[0].load(SeqCst) == MAGIC.swap_bytes() {
            return TableError::OtherByteOrder;
        }
        let header = geometry.header();
        let differs =
            |(word, (value, _)): &(&AtomicU32, (u32, TableError))| word.load(SeqCst) != *value;
        words
            .iter()
            .zip(header)
            .find(differs)
            .map_or(TableError::NotATable, |(_, (_, other))| other)
    }

    pub fn header(&self, word: usize) -> &'a AtomicU32 {
        &self.words[word]
    }

    fn lane_at(&self, lane: usize) -> usize {
        debug_assert!(lane < self.geometry.nodes as usize);
        HEADER + lane * self.lane_words
    }

    pub fn lane(&self, lane: usize, word: usize) -> &'a AtomicU32 {
        &self.words[self.lane_at(lane) + word]
    }

    /// The words of the lane's name.
    pub fn name(&self, lane: usize) -> &'a [AtomicU32] {
        let name = self.lane_at(lane) + NAME;
        &self.words[name..name + NAME_WORDS]
    }

    /// The lanes up to the last one that was ever joined.
    pub fn lanes(&self) -> core::ops::Range<usize> {
        0..self.header(LANES_USED).load(SeqCst).min(self.geometry.nodes) as usize
    }

    /// How many of the lane's slots, from the first one, were ever used.
    pub fn slots_used(&self, lane: usize) -> usize {
        self.lane(lane, SLOTS_USED).load(SeqCst).min(self.geometry.resources) as usize
    }

    /// The lane's slots that were ever used.
    pub fn slots(&self, lane: usize) -> impl Iterator<Item = Slot> + use<> {
        (0..self.slots_used(lane)).map(move |index| Slot { lane, index })
    }

    fn in_array(&self, slot: Slot, array: usize) -> &'a AtomicU32 {
        let resources = self.geometry.resources as usize;
        debug_assert!(slot.index < resources);
        &self.words[self.lane_at(slot.lane) + LANE + array * resources + slot.index]
    }

    pub fn tenancy(&self, slot: Slot) -> &'a AtomicU32 {
        self.in_array(slot, 0)
    }

    pub fn usage(&self, slot: Slot) -> &'a AtomicU32 {
        self.in_array(slot, 1)
    }

    /// The word with the index of the slot's key.
    pub fn slot_key(&self, slot: Slot) -> &'a AtomicU32 {
        self.in_array(slot, 2)
    }

    pub fn slot(&self, slot: Slot, word: usize) -> &'a AtomicU32 {
        let resources = self.geometry.resources as usize;
        let arrays = (3 * resources).next_multiple_of(LINE);
        &self.words[self.lane_at(slot.lane) + LANE + arrays + slot.index * SLOT + word]
    }

    pub fn entry(&self, slot: Slot, entry: usize) -> &'a AtomicU32 {
        self.slot(slot, ENTRIES + entry)
    }

    pub fn beside_entry(&self, slot: Slot, entry: usize, word: usize) -> &'a AtomicU32 {
        self.slot(slot, ENTRY_WORDS + entry * 4 + word)
    }

    pub fn execution(&self, lane: usize, cell: usize, word: usize) -> &'a AtomicU32 {
        let end = self.lane_at(lane) + self.lane_words;
        let executions = (self.geometry.executions as usize * EXECUTION).next_multiple_of(LINE);
        &self.words[end - executions + cell * EXECUTION + word]
    }

    pub fn key(&self, key: usize, word: usize) -> &'a AtomicU32 {
        &self.words[self.keys_at + key * KEY + word]
    }

    pub fn permit(&self, key: usize, cell: usize) -> &'a AtomicU32 {
        self.key(key, PERMITS_AT + cell)
    }

    pub fn beside_permit(&self, key: usize, cell: usize, word: usize) -> &'a AtomicU32 {
        self.key(key, PERMIT_WORDS + cell * 2 + word)
    }
}

impl core::fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Region").field("geometry", &self.geometry).finish_non_exhaustive()
    }
}

const _: () = assert!(NAME + NAME_WORDS <= LANE);
const _: () = assert!(ENTRIES + PENDING <= ENTRY_WORDS && ENTRY_WORDS + PENDING * 4 == SLOT);
const _: () = assert!(PERMITS_AT + super::PERMITS <= PERMIT_WORDS);
const _: () = assert!(PERMIT_WORDS + super::PERMITS * 2 == KEY);
