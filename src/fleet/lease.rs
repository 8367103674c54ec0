// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reserve, accept, complete, reconcile: the life of a lease.

use super::geometry::{
    CAPACITY, ENTRY_FENCE_HIGH, ENTRY_HOLDER, ENTRY_TENANCY, ENTRY_TIME, EXECUTION_CELL,
    LAST_RESERVE, Slot,
};
#[cfg(test)]
use super::id::Life;
use super::id::{Execution, FleetLease, Id};
use super::words::{Cell, EntryTenancy, Phase, Relaxed, SERIAL, SeqCst, Tenancy, Usage, update};
use super::{Error, Node, PENDING, Table};

/// An owner's count of its work, see [`Node::reconcile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The answer of [`Table::active`] at the moment when the owner counted.
    pub table: u32,
    /// The units that were really at work at that moment.
    pub really: u32,
}

/// What a reconciliation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reconciled {
    /// Reservations that were too old, and are gone.
    pub aged: u32,
    /// Active units now.
    pub active: u32,
}

impl Table<'_> {
    /// Whether the lease is still pending: its resource has not ended, and the owner has neither
    /// accepted nor aged this very reservation.
    pub fn is_current(&self, lease: &FleetLease) -> bool {
        let pending = |(slot, generation)| {
            self.tenancy(slot).is(generation) && self.find_entry(slot, lease.fence).is_some()
        };
        self.slot_of(lease.id).is_ok_and(pending)
    }

    /// The resource's active units.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::BadHandle`].
    pub fn active(&self, id: Id) -> Result<u32, Error> {
        let (slot, generation) = self.slot_of(id)?;
        let usage = self.usage(slot);
        if self.tenancy(slot).is(generation) { Ok(usage.active) } else { Err(Error::Stale) }
    }

    pub(super) fn usage(&self, slot: Slot) -> Usage {
        Usage::unpack(self.region.usage(slot).load(SeqCst))
    }

    /// The entry that holds this fence.
    fn find_entry(&self, slot: Slot, fence: u64) -> Option<usize> {
        let word = |entry, word| self.region.beside_entry(slot, entry, word).load(Relaxed);
        (0..PENDING).find(|entry| {
            let cell = Cell::unpack(self.region.entry(slot, *entry).load(SeqCst));
            // A published serial comes once in 2^30 reservations of the slot, and while it stands
            // the words beside it do not change.
            cell == Cell::Published(fence as u32 & SERIAL)
                && EntryTenancy::unpack(word(*entry, ENTRY_TENANCY)).fence_bits
                    == fence as u32 >> 30
                && word(*entry, ENTRY_FENCE_HIGH) == (fence >> 32) as u32
        })
    }

    /// The milliseconds since `then`; 0 if `then` is in the future, as another processor's clock
    /// may have it.
    pub(super) fn age_ms(&self, then: u32) -> u32 {
        (self.port.clock_ms().wrapping_sub(then) as i32).max(0) as u32
    }
}

impl Node<'_> {
    /// Reserves one unit of the resource: the right to ask its owner. Any member may do so, the
    /// owner too.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::Draining`], [`Error::Stale`].
    pub fn reserve(&self, id: Id) -> Result<FleetLease, Error> {
        self.live()?;
        let (slot, generation) = self.slot_of(id)?;
        match self.try_reserve(id, slot, generation) {
            // Dead reservers' leftovers are taken back only here, when they are in the way.
            Err(Error::Busy) if self.tidy_entries(slot) > 0 => {
                self.try_reserve(id, slot, generation)
            }
            result => result,
        }
    }

    fn try_reserve(&self, id: Id, slot: Slot, generation: u32) -> Result<FleetLease, Error> {
        self.expect_live(slot, generation)?;
        let capacity = self.region.slot(slot, CAPACITY).load(Relaxed);
        let usage = self.usage(slot);
        if usage.reserved() + usage.active >= capacity {
            return Err(Error::Busy); // before anything is written
        }
        let claim = |entry: &usize| Cell::claim(self.region.entry(slot, *entry), self.life());
        let entry = (0..PENDING).find(claim).ok_or(Error::Busy)?;
        let fence = match self.fill(slot, generation, entry, capacity) {
            Ok(fence) => fence,
            Err(error) => {
                self.give_back(slot, entry);
                return Err(error);
            }
        };
        if !Cell::publish(self.region.entry(slot, entry), self.life(), fence as u32) {
            return Err(Error::Ended);
        }
        // A thread that ends the tenancy says so first and then looks at the entries: so it sees
        // this one, or the end is seen here. The one that takes the entry gives the unit back.
        if let Err(error) = self.expect_live(slot, generation) {
            if Cell::take(self.region.entry(slot, entry), fence as u32, self.life()) {
                self.give_back(slot, entry);
                self.slot_changed(slot);
            }
            return Err(error);
        }
        Ok(FleetLease { id, fence, holder: self.life() })
    }

    fn expect_live(&self, slot: Slot, generation: u32) -> Result<(), Error> {
        match self.tenancy(slot) {
            Tenancy { generation: now, phase } if now == generation && phase != Phase::Free => {
                if phase == Phase::Live {
                    Ok(())
                } else {
                    Err(Error::Draining)
                }
            }
            _ => Err(Error::Stale),
        }
    }

    /// Takes a unit for the claimed entry, and writes the words beside the entry.
    fn fill(&self, slot: Slot, generation: u32, entry: usize, capacity: u32) -> Result<u64, Error> {
        let now = self.port.clock_ms();
        let fence = self.next_fence(slot)?;
        let beside =
            |word, value| self.region.beside_entry(slot, entry, word).store(value, Relaxed);
        beside(ENTRY_TENANCY, EntryTenancy::new(generation, fence).pack());
        beside(ENTRY_TIME, now);
        beside(ENTRY_HOLDER, self.life().tag());
        beside(ENTRY_FENCE_HIGH, (fence >> 32) as u32);
        let bit = 1 << entry;
        update(self.region.usage(slot), |word| {
            // A bit that is set already is a leftover in this entry, so it is this reserver's now:
            // it is not counted twice.
            let usage = Usage::unpack(word & !bit);
            if !usage.is(generation) {
                Err(Error::Stale)
            } else if usage.reserved() + usage.active >= capacity {
                Err(Error::Busy)
            } else {
                Ok(word | bit)
            }
        })?;
        self.region.slot(slot, LAST_RESERVE).store(now.max(1), Relaxed);
        Ok(fence)
    }

    /// Gives the claimed entry's unit back, and then the entry.
    pub(super) fn give_back(&self, slot: Slot, entry: usize) {
        let bit = 1 << entry;
        if self.usage(slot).mask & bit != 0 {
            self.region.usage(slot).fetch_and(!bit, SeqCst);
        }
        Cell::release(self.region.entry(slot, entry), self.life());
    }

    /// Takes back the entries that no process can use any more: those of a generation that has
    /// ended, and those whose claimer's life is over. Answers how many.
    pub(super) fn tidy_entries(&self, slot: Slot) -> u32 {
        (0..PENDING).map(|entry| u32::from(self.tidy_entry(slot, entry))).sum()
    }

    fn tidy_entry(&self, slot: Slot, entry: usize) -> bool {
        let word = self.region.entry(slot, entry);
        let seen = word.load(SeqCst);
        let left = match Cell::unpack(seen) {
            Cell::Empty => self.usage(slot).mask & 1 << entry != 0,
            Cell::Claimed(life) => self.is_over(life),
            // The entry's generation is read first: if it has ended when the tenancy is read, it
            // stays ended.
            Cell::Published(_) => {
                let of = self.region.beside_entry(slot, entry, ENTRY_TENANCY).load(SeqCst);
                !self.tenancy(slot).is(EntryTenancy::unpack(of).generation)
            }
            Cell::Broken => true,
        };
        let taken = left && Cell::take_over(word, seen, self.life());
        if taken {
            self.give_back(slot, entry);
        }
        taken
    }

    /// Accepts the lease: its unit is active from here on, until [`Self::complete`]. The owner
    /// only, once for each reservation, in any order; also while it drains, so that the leases that
    /// are out finish.
    ///
    /// # Errors
    /// [`Error::NotReserved`], [`Error::Stale`], [`Error::NotOwner`], [`Error::TooManyExecutions`].
    pub fn accept(&self, lease: &FleetLease) -> Result<Execution, Error> {
        let (slot, generation) = self.owned(lease.id)?;
        let (cell, serial) = self.claim_execution(slot, generation)?;
        match self.accept_into(slot, generation, lease.fence, cell, serial) {
            Ok(()) => Ok(Execution::new(self.geometry().kind, slot.lane, cell, serial)),
            Err(error) => {
                Cell::release(self.region.execution(slot.lane, cell, EXECUTION_CELL), self.life());
                Err(error)
            }
        }
    }

    fn accept_into(
        &self,
        slot: Slot,
        generation: u32,
        fence: u64,
        cell: usize,
        serial: u32,
    ) -> Result<(), Error> {
        let entry = self.find_entry(slot, fence).ok_or(Error::NotReserved)?;
        let entry_word = self.region.entry(slot, entry);
        if !Cell::take(entry_word, fence as u32, self.life()) {
            return Err(Error::NotReserved);
        }
        let bit = 1 << entry;
        let moved = update(self.region.usage(slot), |word| {
            let usage = Usage::unpack(word);
            if usage.is(generation) && word & bit != 0 {
                Ok(usage.with(usage.mask & !bit, usage.active + 1).pack())
            } else {
                Err(Error::Stale)
            }
        });
        let before = match moved {
            Ok(before) => Usage::unpack(before),
            Err(error) => {
                self.give_back(slot, entry);
                return Err(error);
            }
        };
        Cell::release(entry_word, self.life());
        // No unit came back, but a reserver that found every entry taken can have this one now.
        if before.reserved() == PENDING as u32 {
            self.slot_changed(slot);
        }
        let execution = self.region.execution(slot.lane, cell, EXECUTION_CELL);
        if !Cell::publish(execution, self.life(), serial) {
            return Err(Error::Ended);
        }
        // As in `try_reserve`, but nothing is given back: the units of a tenancy that has ended do
        // not count.
        if !self.tenancy(slot).is(generation) {
            Cell::take(execution, serial, self.life());
            return Err(Error::Stale);
        }
        Ok(())
    }

    /// Gives an active unit back, and wakes the key's waiters. Once: a second call is stale, and so
    /// is one after the resource has ended. No other call makes room: the asker may have vanished
    /// long ago, and only the owner knows when the work has ended.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::NotOwner`], [`Error::BadHandle`].
    pub fn complete(&self, execution: Execution) -> Result<(), Error> {
        self.live()?;
        let (slot, generation) = self.end_execution(execution)?;
        if !self.tenancy(slot).is(generation) {
            return Err(Error::Stale);
        }
        update(self.region.usage(slot), |word| {
            let usage = Usage::unpack(word);
            // If none is active, a correction has taken this unit away already.
            match usage.active {
                1.. if usage.is(generation) => Ok(usage.with(usage.mask, usage.active - 1).pack()),
                _ => Err(Error::Stale),
            }
        })?;
        self.slot_changed(slot);
        Ok(())
    }

    /// Corrects the table by what the owner knows: gives back the units whose execution was lost,
    /// and ends, one by one, the reservations older than `grace_ms` that were not brought to the
    /// owner. A lease that arrives after that is not reserved any more. Does nothing to running
    /// work. Owner only.
    ///
    /// The owner counts its work and reads [`Table::active`] at one moment, under the lock that
    /// keeps its own count and its calls of [`Self::accept`] and [`Self::complete`] together, and
    /// passes both numbers. Only their difference is applied: an accept or complete between that
    /// moment and this call changes the table and the truth alike, so the difference stays right
    /// and neither is lost. Two threads that counted the same work would correct it twice, so only
    /// one may do so at a time.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::NotOwner`].
    pub fn reconcile(&self, id: Id, counted: Counted, grace_ms: u32) -> Result<Reconciled, Error> {
        let (slot, generation) = self.owned(id)?;
        let aged = self.age(slot, grace_ms) + self.tidy_entries(slot);
        let corrected = |active: u32| {
            let sum = i64::from(active) + i64::from(counted.really) - i64::from(counted.table);
            sum.clamp(0, i64::from(super::MAX_CAPACITY)) as u32
        };
        let before = update(self.region.usage(slot), |word| {
            let usage = Usage::unpack(word);
            if usage.is(generation) {
                Ok(usage.with(usage.mask, corrected(usage.active)).pack())
            } else {
                Err(Error::Stale)
            }
        })?;
        let before = Usage::unpack(before).active;
        if aged > 0 || before != corrected(before) {
            self.slot_changed(slot);
        }
        Ok(Reconciled { aged, active: corrected(before) })
    }

    fn age(&self, slot: Slot, grace_ms: u32) -> u32 {
        let is_old = |entry: &usize| {
            let word = self.region.entry(slot, *entry);
            let seen = word.load(SeqCst);
            let time = self.region.beside_entry(slot, *entry, ENTRY_TIME).load(SeqCst);
            matches!(Cell::unpack(seen), Cell::Published(_))
                && self.age_ms(time) > grace_ms
                && Cell::take_over(word, seen, self.life())
        };
        let mut aged = 0;
        for entry in (0..PENDING).filter(is_old) {
            self.give_back(slot, entry);
            aged += 1;
        }
        aged
    }

    /// For models: leaves the claimed entry and the unit of a life that ends in the middle of a
    /// reservation.
    #[cfg(test)]
    pub(crate) fn leave_claimed(&self, id: Id, life: Life) {
        let (slot, _) = self.slot_of(id).expect("an id");
        assert!(Cell::claim(self.region.entry(slot, 0), life));
        self.region.usage(slot).fetch_or(1, SeqCst);
    }
}
