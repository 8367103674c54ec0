// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table on a simulated target: several nodes in one process, a clock that is set, deaths at
//! will.

mod claims;
mod deaths;
// They take the table's loops to their bounds, which is more than Miri can do in a day.
#[cfg(not(miri))]
mod hostile;
mod leases;
mod model;
mod names;
mod opening;
mod threads;
mod waiting;

use super::geometry::{ENTRY_TENANCY, Slot};
use super::words::{AtomicU32, Cell, EntryTenancy, SeqCst};
use super::{Execution, FleetPort, Geometry, Hold, Id, Key, Node, Table};
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use std::vec::Vec;

pub(super) const KEY: Key = Key(0x1234_5678_9abc_def0_0fed_cba9_8765_4321);
pub(super) const LONG_MS: u32 = 300_000;

pub(super) const SMALL: Geometry =
    Geometry { kind: 7, nodes: 4, resources: 4, executions: 16, keys: 4 };

/// The rounds of a test: fewer under Miri, which is a thousand times slower.
pub(super) const fn often(times: u32) -> u32 {
    if cfg!(miri) { times.div_ceil(100) } else { times }
}

/// A target whose lanes are held by flags.
#[derive(Debug)]
pub(super) struct Desk {
    pub clock: AtomicU32,
    held: [AtomicU32; 16],
    /// Answers [`Hold::Unknown`] for every lane.
    pub blind: AtomicU32,
    pub sleepers: AtomicU32,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            clock: AtomicU32::new(0),
            held: [const { AtomicU32::new(0) }; 16],
            blind: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            lock: Mutex::new(()),
            bell: Condvar::new(),
        }
    }
}

impl FleetPort for Desk {
    fn hold(&self, node: u16) -> bool {
        self.held[usize::from(node)].swap(1, SeqCst) == 0
    }

    fn let_go(&self, node: u16) {
        self.held[usize::from(node)].store(0, SeqCst);
    }

    fn look(&self, node: u16) -> Hold {
        match (self.blind.load(SeqCst), self.held[usize::from(node)].load(SeqCst)) {
            (0, 0) => Hold::Free,
            (0, _) => Hold::Held,
            _ => Hold::Unknown,
        }
    }

    fn clock_ms(&self) -> u32 {
        self.clock.load(SeqCst)
    }

    fn can_wait(&self) -> bool {
        true
    }

    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool {
        let guard = self.lock.lock().unwrap();
        self.sleepers.fetch_add(1, SeqCst);
        if word.load(SeqCst) == value {
            let timeout = Duration::from_millis(timeout_ms.into());
            let (_guard, result) = self.bell.wait_timeout(guard, timeout).unwrap();
            if result.timed_out() {
                self.clock.fetch_add(timeout_ms, SeqCst);
            }
        }
        self.sleepers.fetch_sub(1, SeqCst);
        true
    }

    fn wake(&self, _: &AtomicU32) {
        let _guard = self.lock.lock().unwrap();
        self.bell.notify_all();
    }
}

/// A unit of the owner's resource, reserved and accepted.
pub(super) fn at_work(owner: &Node<'_>, id: Id) -> Execution {
    owner.accept(&owner.reserve(id).unwrap()).unwrap()
}

/// The steps of a reservation after claiming its entry, in order.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Reserved {
    Claimed,
    TenancyWritten,
    UnitTaken,
    Published,
}

/// Leaves in the entry what a reserver leaves that dies, or is held up, after the step `last`.
pub(super) fn reserve_until(
    node: &Node<'_>,
    (slot, generation): (Slot, u32),
    entry: usize,
    last: Reserved,
) {
    let word = node.region.entry(slot, entry);
    assert!(Cell::claim(word, node.life()));
    if last >= Reserved::TenancyWritten {
        let tenancy = EntryTenancy::new(generation, 0).pack();
        node.region.beside_entry(slot, entry, ENTRY_TENANCY).store(tenancy, SeqCst);
    }
    if last >= Reserved::UnitTaken {
        node.region.usage(slot).fetch_or(1 << entry, SeqCst);
    }
    if last >= Reserved::Published {
        assert!(Cell::publish(word, node.life(), 99));
    }
}

/// Memory and target of one table.
pub(super) struct World {
    pub words: Vec<AtomicU32>,
    pub desk: Desk,
    pub geometry: Geometry,
}

impl World {
    pub fn new(geometry: Geometry) -> Self {
        let words = (0..geometry.words().unwrap()).map(|_| AtomicU32::new(0)).collect();
        Self { words, desk: Desk::default(), geometry }
    }

    pub fn table(&self) -> Table<'_> {
        Table::open(&self.words, self.geometry, &self.desk).unwrap()
    }

    pub fn join(&self) -> Node<'_> {
        self.table().join(None).unwrap()
    }

    /// Kills the node's process.
    pub fn kill(&self, node: Node<'_>) {
        self.desk.let_go(node.life().node);
        core::mem::forget(node);
    }

    pub fn pass_ms(&self, ms: u32) {
        self.desk.clock.fetch_add(ms, SeqCst);
    }
}
