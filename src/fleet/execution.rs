// SPDX-License-Identifier: MIT OR Apache-2.0
//! The executions: a lane has a cell for each unit at work, so that each ends once.

use super::geometry::{
    EXECUTION_CELL, EXECUTION_GENERATION, EXECUTION_SERIAL, EXECUTION_SLOT, NEXT_EXECUTION, Slot,
};
use super::id::Execution;
use super::words::{Cell, Relaxed, SERIAL, SeqCst};
use super::{Error, Node};

impl Node<'_> {
    /// Claims a cell of this lane for a unit of the slot. Answers the cell and its next serial.
    pub(super) fn claim_execution(
        &self,
        slot: Slot,
        generation: u32,
    ) -> Result<(usize, u32), Error> {
        let claim = || {
            let cells = self.geometry().executions as usize;
            let start = self.region.lane(slot.lane, NEXT_EXECUTION).load(Relaxed) as usize % cells;
            let free = |cell: &usize| {
                Cell::claim(self.region.execution(slot.lane, *cell, EXECUTION_CELL), self.life())
            };
            (start..cells).chain(0..start).find(free)
        };
        let cell = match claim() {
            None if self.tidy_executions(slot.lane) > 0 => claim(),
            claimed => claimed,
        };
        let cell = cell.ok_or(Error::TooManyExecutions)?;
        let beside = |word| self.region.execution(slot.lane, cell, word);
        let serial = beside(EXECUTION_SERIAL).load(Relaxed).wrapping_add(1) & SERIAL;
        beside(EXECUTION_SERIAL).store(serial, Relaxed);
        beside(EXECUTION_SLOT).store(slot.index as u32, Relaxed);
        beside(EXECUTION_GENERATION).store(generation, Relaxed);
        Ok((cell, serial))
    }

    /// Ends the execution. Answers its slot and its generation.
    pub(super) fn end_execution(&self, execution: Execution) -> Result<(Slot, u32), Error> {
        let geometry = self.geometry();
        let (lane, cell, serial) = execution.parts(geometry.kind).ok_or(Error::BadHandle)?;
        if lane >= geometry.nodes as usize || cell >= geometry.executions as usize {
            return Err(Error::BadHandle);
        }
        if lane != usize::from(self.life().node) {
            return Err(Error::NotOwner);
        }
        let word = self.region.execution(lane, cell, EXECUTION_CELL);
        if !Cell::take(word, serial, self.life()) {
            return Err(Error::Stale);
        }
        let (slot, generation) = self.execution_of(lane, cell);
        self.region.lane(lane, NEXT_EXECUTION).store(cell as u32, Relaxed);
        Cell::release(word, self.life());
        Ok((slot, generation))
    }

    fn execution_of(&self, lane: usize, cell: usize) -> (Slot, u32) {
        let beside = |word| self.region.execution(lane, cell, word).load(SeqCst);
        // The word comes from the region, and may name no slot.
        let index = beside(EXECUTION_SLOT) % self.geometry().resources;
        (Slot { lane, index: index as usize }, beside(EXECUTION_GENERATION))
    }

    /// Frees the lane's cells that no owner will complete any more. Answers how many.
    pub(super) fn tidy_executions(&self, lane: usize) -> u32 {
        let cells = 0..self.geometry().executions as usize;
        cells.map(|cell| u32::from(self.tidy_execution(lane, cell))).sum()
    }

    fn tidy_execution(&self, lane: usize, cell: usize) -> bool {
        let word = self.region.execution(lane, cell, EXECUTION_CELL);
        let seen = word.load(SeqCst);
        let left = match Cell::unpack(seen) {
            Cell::Empty => false,
            Cell::Claimed(life) => self.is_over(life),
            // Left if its tenancy has ended; or if none of its resource's units is active: then a
            // correction has said that this execution was lost. It is not just beginning, because
            // its unit became active before the cell was published, and the swap below succeeds
            // only if the cell still is.
            Cell::Published(_) => {
                let (slot, generation) = self.execution_of(lane, cell);
                let usage = self.usage(slot);
                !self.tenancy(slot).is(generation) || usage.is(generation) && usage.active == 0
            }
            Cell::Broken => true,
        };
        let taken = left && Cell::take_over(word, seen, self.life());
        if taken {
            Cell::release(word, self.life());
        }
        taken
    }
}
