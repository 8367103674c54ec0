// SPDX-License-Identifier: MIT OR Apache-2.0
//! An audit: compares what the table counts twice. For tests, and for an operator who doubts.

use super::Table;
use super::geometry::{
    ENTRY_TENANCY, EXECUTION_CELL, EXECUTION_GENERATION, EXECUTION_SLOT, KEY_CLAIMS, LIFE, Slot,
};
use super::words::{Cell, EntryTenancy, Phase, SeqCst};
use super::{PENDING, PERMITS};
use core::fmt;

/// The contents of a table, all keys together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TableFigures {
    /// Lives that are in their lanes.
    pub lives: u32,
    /// Resources, draining ones included.
    pub resources: u32,
    /// Units reserved.
    pub reserved: u32,
    /// Units active.
    pub active: u32,
    /// Executions that have not ended: as many as units are active, unless an owner has corrected
    /// those.
    pub executions: u32,
    /// Permits.
    pub permits: u32,
}

/// Two counts that should agree and do not. It means something only if no thread changed the table
/// meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TableDisagreement {
    /// Which two.
    pub what: &'static str,
    /// The lane, or the key's entry.
    pub place: usize,
    /// The slot, or the cell.
    pub index: usize,
}

impl fmt::Display for TableDisagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}.{}", self.what, self.place, self.index)
    }
}

impl core::error::Error for TableDisagreement {}

impl Table<'_> {
    /// Compares what is counted twice, in a table that no thread changes meanwhile.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn audit(&self) -> Result<TableFigures, TableDisagreement> {
        let mut figures = TableFigures::default();
        for lane in self.region.lanes() {
            figures.lives += u32::from(self.region.lane(lane, LIFE).load(SeqCst) != 0);
            for slot in self.region.slots(lane) {
                self.audit_slot(slot, &mut figures)?;
            }
            for cell in 0..self.geometry().executions as usize {
                let word = |word| self.region.execution(lane, cell, word).load(SeqCst);
                let wrong = |what| Err(TableDisagreement { what, place: lane, index: cell });
                match Cell::unpack(word(EXECUTION_CELL)) {
                    Cell::Empty => {}
                    Cell::Published(_) => {
                        let index = word(EXECUTION_SLOT) as usize;
                        if index >= self.geometry().resources as usize
                            || !self.tenancy(Slot { lane, index }).is(word(EXECUTION_GENERATION))
                        {
                            return wrong("an execution of a resource that has ended");
                        }
                        figures.executions += 1;
                    }
                    _ => return wrong("an execution on its way"),
                }
            }
        }
        for key in 0..self.geometry().keys as usize {
            let mask = self.region.key(key, KEY_CLAIMS).load(SeqCst) & 0xff;
            for cell in 0..PERMITS {
                let word = Cell::unpack(self.region.permit(key, cell).load(SeqCst));
                let counted = mask & 1 << cell != 0;
                match word {
                    Cell::Empty if !counted => {}
                    Cell::Published(_) if counted => figures.permits += 1,
                    _ => {
                        let what = "a permit and its count";
                        return Err(TableDisagreement { what, place: key, index: cell });
                    }
                }
            }
        }
        Ok(figures)
    }

    fn audit_slot(&self, slot: Slot, figures: &mut TableFigures) -> Result<(), TableDisagreement> {
        let usage = self.usage(slot);
        let tenancy = self.tenancy(slot);
        let live = tenancy.phase != Phase::Free;
        for entry in 0..PENDING {
            let of = self.region.beside_entry(slot, entry, ENTRY_TENANCY).load(SeqCst);
            let of = EntryTenancy::unpack(of).generation;
            let counted = usage.mask & 1 << entry != 0;
            match Cell::unpack(self.region.entry(slot, entry).load(SeqCst)) {
                Cell::Empty if !counted => {}
                Cell::Published(_) if counted && tenancy.is(of) => figures.reserved += 1,
                _ => {
                    let what = "a reservation and its unit";
                    return Err(TableDisagreement { what, place: slot.lane, index: slot.index });
                }
            }
        }
        if live {
            figures.resources += 1;
            figures.active += usage.active;
        }
        Ok(())
    }
}
