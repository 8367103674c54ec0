// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register, drain, unregister: the life of a slot.

use super::geometry::{
    CAPACITY, FENCE_HIGH, FENCE_LOW, LAST_RESERVE, NEXT_SLOT, OWNER, SLOTS_USED, Slot,
};
use super::id::{Id, Key, Life};
use super::words::{
    GENERATION_MAX, MAX_CAPACITY, Owner, Phase, Relaxed, SeqCst, Tenancy, Usage, swap, update,
};
use super::{Error, Node, PENDING, Table};

impl Table<'_> {
    /// The slot and the generation that an id of this table names.
    pub(super) fn slot_of(&self, id: Id) -> Result<(Slot, u32), Error> {
        let geometry = self.geometry();
        let (lane, index, generation) = id.parts(geometry.kind).ok_or(Error::BadHandle)?;
        if lane >= geometry.nodes as usize || index >= geometry.resources as usize {
            return Err(Error::BadHandle);
        }
        Ok((Slot { lane, index }, generation))
    }

    pub(super) fn tenancy(&self, slot: Slot) -> Tenancy {
        Tenancy::unpack(self.region.tenancy(slot).load(SeqCst))
    }

    pub(super) fn owner(&self, slot: Slot) -> Life {
        let owner = Owner::unpack(self.region.slot(slot, OWNER).load(SeqCst));
        Life { node: slot.lane as u16, incarnation: owner.incarnation }
    }

    pub(super) fn id(&self, slot: Slot, generation: u32) -> Id {
        Id::new(self.geometry().kind, slot.lane, slot.index, generation)
    }

    /// The next fence of the slot: 64 bits from two words of 32. The low word counts; the high word
    /// counts how often the low word's top bit has changed. A reserver that takes a number with the
    /// other top bit moves the high word. If the high word moved meanwhile, the reserver cannot
    /// tell which high word its number belongs to, and takes another number. So the result is exact
    /// however long a reserver is held up in between.
    pub(super) fn next_fence(&self, slot: Slot) -> Result<u64, Error> {
        let (low, high) = (self.region.slot(slot, FENCE_LOW), self.region.slot(slot, FENCE_HIGH));
        // At most eight reservers take fences of one slot at a time, and the high word moves once
        // in 2^31 numbers.
        for _ in 0..=PENDING {
            let halves = high.load(SeqCst);
            let number = low.fetch_add(1, SeqCst);
            let half = halves.wrapping_add(halves & 1 ^ number >> 31);
            let moved = if half == halves {
                high.load(SeqCst) != halves
            } else {
                !swap(high, halves, half)
            };
            if !moved {
                return Ok(u64::from(half >> 1) << 32 | u64::from(number));
            }
        }
        Err(Error::Corrupt)
    }
}

impl Node<'_> {
    /// Registers a resource with room for `capacity` leases at a time; 1 is exclusive. Slots are
    /// used in turn, so that the one that came free last is the last to be used again.
    ///
    /// # Errors
    /// [`Error::BadCapacity`], [`Error::Full`], [`Error::KeyTableFull`].
    pub fn register(&self, key: Key, capacity: u32) -> Result<Id, Error> {
        let epoch = self.live()?;
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(Error::BadCapacity);
        }
        let key = self.install(key)?;
        let (lane, resources) = (self.life().node.into(), self.geometry().resources);
        let next = self.region.lane(lane, NEXT_SLOT);
        let start = next.load(SeqCst);
        for step in 0..resources {
            let index = start.wrapping_add(step) % resources;
            let slot = Slot { lane, index: index as usize };
            if let Some(generation) = self.build(slot, key, capacity)? {
                swap(next, start, index + 1);
                self.key_changed(key);
                return match self.still(epoch) {
                    Ok(()) => Ok(self.id(slot, generation)),
                    Err(error) => {
                        self.close(slot, generation);
                        Err(error)
                    }
                };
            }
        }
        Err(Error::Full)
    }

    /// Makes the slot live, if it is free. Answers the new generation.
    fn build(&self, slot: Slot, key: usize, capacity: u32) -> Result<Option<u32>, Error> {
        let free = self.tenancy(slot);
        if free.phase != Phase::Free || free.generation == GENERATION_MAX {
            return Ok(None);
        }
        let generation = free.generation + 1;
        let mine = Owner::new(self.life().incarnation, generation).pack();
        let owner_word = self.region.slot(slot, OWNER);
        let owner = owner_word.load(SeqCst);
        // Only this life builds in this lane. If the word is its own already, another thread of it
        // is building here.
        if owner == mine || !swap(owner_word, owner, mine) {
            return Ok(None);
        }
        let give_up = || {
            swap(owner_word, mine, 0);
        };
        if self.tenancy(slot) != free {
            give_up();
            return Ok(None);
        }
        // The mask stays: a reserver that is still on its way for an earlier tenancy clears its own
        // bit.
        let begun = update(self.region.usage(slot), |usage| {
            Ok(Usage::unpack(usage).begin(generation).pack())
        });
        if let Err(error) = begun {
            give_up();
            return Err(error);
        }
        self.tidy_entries(slot);
        self.region.slot_key(slot).store(key as u32, SeqCst);
        self.region.slot(slot, CAPACITY).store(capacity, SeqCst);
        self.region.slot(slot, LAST_RESERVE).store(0, Relaxed);
        self.region.lane(slot.lane, SLOTS_USED).fetch_max(slot.index as u32 + 1, SeqCst);
        let live = Tenancy { generation, phase: Phase::Live };
        if !swap(self.region.tenancy(slot), free.pack(), live.pack()) {
            give_up();
            return Ok(None);
        }
        Ok(Some(generation))
    }

    /// Ends a resource: the leases that are out on it become stale. Owner only.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::NotOwner`].
    pub fn unregister(&self, id: Id) -> Result<(), Error> {
        let (slot, generation) = self.owned(id)?;
        if self.close(slot, generation) { Ok(()) } else { Err(Error::Stale) }
    }

    /// Gives no new leases from here on. The owner still accepts those that are reserved, and the
    /// work ends at its own pace. Draining twice is draining once. Owner only.
    ///
    /// # Errors
    /// [`Error::Stale`], [`Error::NotOwner`].
    pub fn drain(&self, id: Id) -> Result<(), Error> {
        let (slot, generation) = self.owned(id)?;
        let live = Tenancy { generation, phase: Phase::Live };
        let draining = Tenancy { generation, phase: Phase::Draining };
        if swap(self.region.tenancy(slot), live.pack(), draining.pack()) {
            self.slot_changed(slot);
            Ok(())
        } else if self.tenancy(slot) == draining {
            Ok(())
        } else {
            Err(Error::Stale)
        }
    }

    /// The slot and the generation of a resource that this life owns and that has not ended.
    pub(super) fn owned(&self, id: Id) -> Result<(Slot, u32), Error> {
        self.live()?;
        let (slot, generation) = self.slot_of(id)?;
        if !self.tenancy(slot).is(generation) {
            return Err(Error::Stale);
        }
        if self.owner(slot) == self.life() { Ok((slot, generation)) } else { Err(Error::NotOwner) }
    }

    /// Ends the tenancy, this life's or another's. True: this call did it. A closer that dies right
    /// after leaves entries of a generation that has ended, and the next one that finds them takes
    /// them back.
    pub(super) fn close(&self, slot: Slot, generation: u32) -> bool {
        let key = self.region.slot_key(slot).load(SeqCst) as usize;
        let closed = update(self.region.tenancy(slot), |word| {
            let tenancy = Tenancy::unpack(word);
            let ended = Tenancy { generation, phase: Phase::Free };
            if tenancy.is(generation) { Ok(ended.pack()) } else { Err(Error::Stale) }
        });
        if closed.is_err() {
            return false;
        }
        self.tidy_entries(slot);
        self.tidy_executions(slot.lane);
        self.key_changed(key);
        true
    }

    /// Ends the tenancy if its owner's life is over.
    pub(super) fn close_if_over(&self, slot: Slot) -> bool {
        let tenancy = self.tenancy(slot);
        let owner = self.owner(slot);
        tenancy.phase != Phase::Free
            && owner != self.life()
            && self.is_over(owner)
            && self.close(slot, tenancy.generation)
    }
}
