// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ending lives: by a report, by a sweep, or all at once by a reset.

use super::geometry::{BOOTS, EPOCH, LIFE};
use super::id::{KEY_PARTS, Life};
use super::words::{Cell, GENERATION_MAX, Phase, SeqCst, Tenancy, swap};
use super::{Error, Hold, Node};

/// What a sweep found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Swept {
    /// Lives that were over, and that the sweep ended in the table.
    pub lives: u32,
    /// Entries, permits and executions that they left behind.
    pub cells: u32,
}

impl Node<'_> {
    /// Reports that a life has ended: closes what it owned and ends its claims. Another life of the
    /// node is untouched. Needed only if the target cannot tell by itself.
    ///
    /// # Errors
    /// [`Error::Alive`] if the target says that the life goes on.
    pub fn node_dead(&self, life: Life) -> Result<(), Error> {
        self.live()?;
        if u32::from(life.node) >= self.geometry().nodes {
            return Err(Error::BadHandle);
        }
        let current = self.region.lane(life.node.into(), LIFE).load(SeqCst);
        if life == self.life()
            || current == life.incarnation && self.port.look(life.node) == Hold::Held
        {
            return Err(Error::Alive);
        }
        self.end(life);
        Ok(())
    }

    /// Takes back everything that has lost its owner. To be called from time to time: a death is
    /// noticed otherwise only when an asker finds something of the dead life.
    ///
    /// # Errors
    /// [`Error::Ended`], [`Error::Resetting`].
    pub fn sweep(&self) -> Result<Swept, Error> {
        self.live()?;
        let mut swept = Swept::default();
        for lane in self.region.lanes() {
            let incarnation = self.region.lane(lane, LIFE).load(SeqCst);
            let life = Life { node: lane as u16, incarnation };
            if incarnation != 0 && self.is_over(life) {
                self.end(life);
                swept.lives += 1;
            }
            for slot in self.region.slots(lane) {
                self.close_if_over(slot);
                let left = self.tidy_entries(slot);
                if left > 0 {
                    self.slot_changed(slot);
                }
                swept.cells += left;
            }
            swept.cells += self.tidy_executions(lane);
        }
        for key in 0..self.geometry().keys as usize {
            swept.cells += self.tidy_permits(key);
        }
        Ok(swept)
    }

    /// Ends a life. If it is another one than this node's own, its lane says so first: from then on
    /// every process sees what it had claimed as left behind, and can go on if this one dies in
    /// between. This node's own lane says so last, see [`Node`]'s drop.
    pub(super) fn end(&self, life: Life) {
        let lane = life.node.into();
        if life != self.life() {
            swap(self.region.lane(lane, LIFE), life.incarnation, 0);
        }
        for slot in self.region.slots(lane) {
            let tenancy = self.tenancy(slot);
            if tenancy.phase != Phase::Free && self.owner(slot) == life {
                self.close(slot, tenancy.generation);
            }
        }
        self.tidy_executions(lane);
        for slot in self.region.lanes().flat_map(|lane| self.region.slots(lane)) {
            if self.tidy_entries(slot) > 0 {
                self.slot_changed(slot);
            }
        }
        for key in 0..self.geometry().keys as usize {
            self.end_permits(key, |owner| owner == life);
        }
    }

    /// Clears the table for every node, and begins a new epoch: resources, leases, claims, keys.
    /// Spent slots and incarnations can be used again. The nodes stay members; what they held is
    /// stale.
    ///
    /// If a slot's generations were spent, its ids can come again after this, 2^30 registrations
    /// later.
    ///
    /// # Errors
    /// [`Error::Resetting`]: another resetter is at work.
    pub fn reset_all(&self) -> Result<(), Error> {
        self.live()?;
        let word = self.resetter();
        let seen = word.load(SeqCst);
        let free = match Cell::unpack(seen) {
            Cell::Claimed(life) => self.is_over(life),
            _ => true,
        };
        if !free || !Cell::take_over(word, seen, self.life()) {
            return Err(Error::Resetting);
        }
        let epoch = self.region.header(EPOCH);
        let now = epoch.load(SeqCst);
        if now & 1 == 0 {
            swap(epoch, now, now.wrapping_add(1));
        }
        self.clear_and_open();
        Ok(())
    }

    /// Finishes a reset whose process has died.
    pub(super) fn finish_reset(&self) -> Result<(), Error> {
        let word = self.resetter();
        let seen = word.load(SeqCst);
        let left = match Cell::unpack(seen) {
            Cell::Claimed(life) => self.is_over(life),
            _ => true,
        };
        if !left || !Cell::take_over(word, seen, self.life()) {
            return Err(Error::Resetting);
        }
        // Once more: the resetter may have finished meanwhile, and the new epoch may hold something
        // already.
        if self.epoch() & 1 != 0 {
            self.clear_and_open();
        } else {
            Cell::release(word, self.life());
        }
        Ok(())
    }

    /// Clears what the old epoch left, by steps that each do nothing when done twice, so that a
    /// second resetter can finish for a dead one. It overwrites nothing that an operation under way
    /// may still change: an operation looks at the epoch or the generation after it has published
    /// something, and takes that back itself.
    fn clear_and_open(&self) {
        for lane in 0..self.geometry().nodes as usize {
            for slot in self.region.slots(lane) {
                let tenancy = self.tenancy(slot);
                if tenancy.phase != Phase::Free {
                    self.close(slot, tenancy.generation);
                }
                self.tidy_entries(slot);
                let spent = Tenancy { generation: GENERATION_MAX, phase: Phase::Free };
                let anew = Tenancy { generation: 0, phase: Phase::Free };
                swap(self.region.tenancy(slot), spent.pack(), anew.pack());
            }
        }
        for key in 0..self.geometry().keys as usize {
            self.end_permits(key, |_| true);
            for part in (0..KEY_PARTS).rev() {
                self.region.key(key, part).store(0, SeqCst);
            }
            self.key_changed(key);
        }
        self.region.header(BOOTS).store(0, SeqCst);
        let epoch = self.region.header(EPOCH);
        let now = epoch.load(SeqCst);
        if now & 1 != 0 {
            swap(epoch, now, now.wrapping_add(1));
        }
        Cell::release(self.resetter(), self.life());
    }
}
