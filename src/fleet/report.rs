// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report for an operator: the nodes in the table, what each holds, and since when.

use super::geometry::{
    CAPACITY, ENTRY_HOLDER, ENTRY_TIME, EPOCH, EXECUTION_CELL, EXECUTION_GENERATION,
    EXECUTION_SLOT, KEY_VERSION, KEY_WATCHED, Slot,
};
use super::id::{Execution, KEY_PARTS, Key, Life};
use super::lane::Peer;
use super::words::{Cell, Phase, SeqCst};
use super::{Hold, PENDING, PERMITS, Table};
use crate::host::Printer;

impl Table<'_> {
    /// Prints what is in the table, line by line, into `sink`. Level 0: a line of figures, and one
    /// for each node. Level 1: the resources of each node and the keys too. Level 2: each pending
    /// reservation, execution and permit too. A change meanwhile may be in the report or not.
    pub fn report(&self, level: u32, sink: &mut dyn FnMut(&str)) {
        let mut out = Printer::new(sink);
        let (mut resources, mut reserved, mut active) = (0u32, 0u32, 0u32);
        for slot in self.slots_in_use() {
            let usage = self.usage(slot);
            resources += 1;
            reserved += usage.reserved();
            active += usage.active;
        }
        let geometry = self.geometry();
        let keys = (0..geometry.keys as usize).filter(|key| self.key_at(*key).is_some()).count();
        let epoch = self.region.header(EPOCH).load(SeqCst);
        let resetting = if epoch & 1 != 0 { ", being reset" } else { "" };
        out.print(format_args!(
            "table {}: {} of {} nodes, {resources} resources, {reserved} units reserved, \
             {active} at work, {keys} of {} keys{resetting}",
            geometry.kind,
            self.peers().count(),
            geometry.nodes,
            geometry.keys
        ));
        for peer in self.peers() {
            self.report_peer(&mut out, &peer, level);
        }
        if level >= 1 {
            self.report_keys(&mut out, level);
        }
    }

    fn slots_in_use(&self) -> impl Iterator<Item = Slot> {
        let slots = self.region.lanes().flat_map(|lane| self.region.slots(lane));
        slots.filter(|slot| self.tenancy(*slot).phase != Phase::Free)
    }

    /// The key in this entry, if all its parts are there.
    fn key_at(&self, entry: usize) -> Option<Key> {
        if entry >= self.geometry().keys as usize {
            return None;
        }
        let parts: [u32; KEY_PARTS] =
            core::array::from_fn(|i| self.region.key(entry, i).load(SeqCst));
        parts.iter().all(|part| *part != 0).then(|| Key::from_parts(parts))
    }

    fn report_peer(&self, out: &mut Printer<'_>, peer: &Peer, level: u32) {
        let Peer { life, hold, name, process } = peer;
        let state = match hold {
            Hold::Held => "alive",
            Hold::Free => "dead",
            Hold::Unknown => "alive or dead, this target cannot tell",
        };
        let name = if name.is_empty() { "(no name)" } else { name };
        out.print(format_args!(
            "node {}: {name}, process {process}, life {}, {state}",
            life.node, life.incarnation
        ));
        if level >= 1 {
            for slot in self.region.slots(life.node.into()) {
                if self.owner(slot) == *life {
                    self.report_slot(out, slot, level);
                }
            }
        }
    }

    fn report_slot(&self, out: &mut Printer<'_>, slot: Slot, level: u32) {
        let tenancy = self.tenancy(slot);
        let state = match tenancy.phase {
            Phase::Free => return,
            Phase::Live => "",
            Phase::Draining => ", draining",
        };
        let usage = self.usage(slot);
        let capacity = self.region.slot(slot, CAPACITY).load(SeqCst);
        let id = self.id(slot, tenancy.generation);
        let (reserved, active) = (usage.reserved(), usage.active);
        match self.key_at(self.region.slot_key(slot).load(SeqCst) as usize) {
            Some(key) => out.print(format_args!(
                "  resource {id}: key {key}, {reserved} reserved + {active} at work \
                 of {capacity}{state}"
            )),
            None => out.print(format_args!(
                "  resource {id}: {reserved} reserved + {active} at work of {capacity}{state}"
            )),
        }
        if level >= 2 {
            self.report_entries(out, slot);
            self.report_executions(out, slot, tenancy.generation);
        }
    }

    fn report_entries(&self, out: &mut Printer<'_>, slot: Slot) {
        for entry in 0..PENDING {
            if let Cell::Published(_) = Cell::unpack(self.region.entry(slot, entry).load(SeqCst)) {
                let beside = |word| self.region.beside_entry(slot, entry, word).load(SeqCst);
                let holder = Life::from_tag(beside(ENTRY_HOLDER));
                let age_ms = self.age_ms(beside(ENTRY_TIME));
                out.print(format_args!("    reserved by {holder}, {age_ms} ms ago"));
            }
        }
    }

    fn report_executions(&self, out: &mut Printer<'_>, slot: Slot, generation: u32) {
        for cell in 0..self.geometry().executions as usize {
            let word = |word| self.region.execution(slot.lane, cell, word).load(SeqCst);
            if let Cell::Published(serial) = Cell::unpack(word(EXECUTION_CELL))
                && word(EXECUTION_SLOT) as usize == slot.index
                && word(EXECUTION_GENERATION) == generation
            {
                let bits = Execution::new(self.geometry().kind, slot.lane, cell, serial).bits();
                out.print(format_args!("    at work: execution {bits:#x}"));
            }
        }
    }

    fn report_keys(&self, out: &mut Printer<'_>, level: u32) {
        for entry in 0..self.geometry().keys as usize {
            let Some(key) = self.key_at(entry) else { continue };
            let word = |word| self.region.key(entry, word).load(SeqCst);
            // The mark of a wait that ended without a change is still set.
            let waited = if word(KEY_WATCHED) != 0 { ", waited for since the last" } else { "" };
            out.print(format_args!("key {key}: {} changes{waited}", word(KEY_VERSION)));
            if level < 2 {
                continue;
            }
            for cell in 0..PERMITS {
                let word = Cell::unpack(self.region.permit(entry, cell).load(SeqCst));
                if let Cell::Published(_) = word {
                    let owner = self.permit_owner(entry, cell);
                    out.print(format_args!("  permit to create: {owner}"));
                }
            }
        }
    }
}
