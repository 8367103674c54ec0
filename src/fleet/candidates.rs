// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looking: the resources under a key, the creations under way, the owners of anything.

use super::geometry::{CAPACITY, KEY_CLAIMS, LAST_RESERVE, OWNER, Slot};
use super::id::{Id, Key, Life};
use super::words::{Cell, Claims, Owner, Phase, Relaxed, SeqCst};
use super::{Error, Node, PERMITS, Table};

/// A resource under a key, as it was at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Candidate {
    /// The resource's name.
    pub id: Id,
    /// The life that owns it.
    pub owner: Life,
    /// Whether that is the asker's own life.
    pub local: bool,
    /// Whether it takes no new leases.
    pub draining: bool,
    /// Units in all.
    pub capacity: u32,
    /// Units reserved, and not yet accepted.
    pub reserved: u32,
    /// Units at work.
    pub active: u32,
    /// Units that an asker could reserve: none while it drains.
    pub free: u32,
    /// The time of its last reservation, by the port's clock; `None`: never.
    pub reserved_at_ms: Option<u32>,
}

/// The resources that count against a key's `max_live`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CreationBudget {
    /// Resources that are live, and not draining.
    pub live: u32,
    /// Creations that were claimed and have not ended.
    pub creating: u32,
}

impl Table<'_> {
    /// The slot's resource, if it belongs to the key. `of`: the asker.
    fn candidate(&self, slot: Slot, key: usize, of: Option<Life>) -> Option<Candidate> {
        // Most slots end here, after one word.
        if self.region.slot_key(slot).load(SeqCst) as usize != key {
            return None;
        }
        let tenancy = self.tenancy(slot);
        if tenancy.phase == Phase::Free {
            return None;
        }
        let owner = self.owner(slot);
        let capacity = self.region.slot(slot, CAPACITY).load(SeqCst);
        // Reserved and active are in one word, and so of one moment.
        let usage = self.usage(slot);
        let last = self.region.slot(slot, LAST_RESERVE).load(Relaxed);
        // If the tenancy is still the same, key, owner and capacity were this one's.
        let now = self.tenancy(slot);
        if now.phase == Phase::Free || now.generation != tenancy.generation {
            return None;
        }
        let draining = now.phase == Phase::Draining;
        let room = capacity.saturating_sub(usage.reserved() + usage.active);
        Some(Candidate {
            id: self.id(slot, tenancy.generation),
            owner,
            local: of == Some(owner),
            draining,
            capacity,
            reserved: usage.reserved(),
            active: usage.active,
            free: if draining { 0 } else { room },
            reserved_at_ms: (last != 0).then_some(last),
        })
    }

    /// Writes the lives that own a resource or a permit into `owners`, sorted, as many as fit;
    /// answers how many there are. The table does not say whether they are alive.
    pub fn owners(&self, owners: &mut [Life]) -> usize {
        self.each_owner(|index, owner| {
            if let Some(place) = owners.get_mut(index) {
                *place = owner;
            }
        })
    }

    /// As [`Self::owners`]: gives each owner, with its number, to `found`.
    pub(crate) fn each_owner(&self, mut found: impl FnMut(usize, Life)) -> usize {
        let mut count = 0;
        let mut last = None;
        // Each round finds the next owner. The bound is the most that a table can hold.
        let bound = u64::from(self.geometry().nodes) * u64::from(self.geometry().resources)
            + u64::from(self.geometry().keys) * PERMITS as u64;
        for _ in 0..bound {
            let next = self.all_owners().filter(|owner| Some(*owner) > last).min();
            let Some(owner) = next else { break };
            found(count, owner);
            count += 1;
            last = Some(owner);
        }
        count
    }

    fn all_owners(&self) -> impl Iterator<Item = Life> {
        let slots = self.region.lanes().flat_map(|lane| self.region.slots(lane));
        let of_slots = slots.filter_map(|slot| {
            let owner = self.region.slot(slot, OWNER).load(SeqCst);
            let node = slot.lane as u16;
            let life = Life { node, incarnation: Owner::unpack(owner).incarnation };
            (self.tenancy(slot).phase != Phase::Free).then_some(life)
        });
        let cells = (0..self.geometry().keys as usize)
            .filter(|key| self.region.key(*key, KEY_CLAIMS).load(SeqCst) & 0xff != 0)
            .flat_map(|key| (0..PERMITS).map(move |cell| (key, cell)));
        let of_permits = cells.filter_map(|(key, cell)| {
            let word = self.region.permit(key, cell).load(SeqCst);
            let owner = self.region.beside_permit(key, cell, super::geometry::PERMIT_OWNER);
            let published = matches!(Cell::unpack(word), Cell::Published(_));
            published.then(|| Life::from_tag(owner.load(SeqCst)))
        });
        of_slots.chain(of_permits)
    }
}

/// The resources under a key, in table order, each as it is when the iterator comes to it: a
/// snapshot, and never a reservation. The iterator takes a dead life's resources back when it finds
/// them.
#[derive(Debug)]
pub struct Candidates<'n, 'a> {
    node: &'n Node<'a>,
    key: Option<usize>,
    next: Slot,
    /// The slots of the lane that `next` is in.
    slots: usize,
    lanes: usize,
    /// The last owner that was asked about and found alive, so that a lane is asked about once.
    alive: Option<Life>,
}

impl Candidates<'_, '_> {
    fn is_alive(&mut self, owner: Life) -> bool {
        if owner == self.node.life() || Some(owner) == self.alive {
            return true;
        }
        if self.node.is_over(owner) {
            self.node.end(owner);
            return false;
        }
        self.alive = Some(owner);
        true
    }
}

impl Iterator for Candidates<'_, '_> {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        let key = self.key?;
        while self.next.lane < self.lanes {
            if self.next.index >= self.slots {
                let lane = self.next.lane + 1;
                self.next = Slot { lane, index: 0 };
                self.slots = if lane < self.lanes { self.node.region.slots_used(lane) } else { 0 };
                continue;
            }
            let slot = self.next;
            self.next.index += 1;
            if let Some(candidate) = self.node.candidate(slot, key, Some(self.node.life()))
                && self.is_alive(candidate.owner)
            {
                return Some(candidate);
            }
        }
        None
    }
}

impl<'a> Node<'a> {
    /// The resources under the key, one after the other. Looking installs no key.
    pub fn candidates(&self, key: Key) -> Candidates<'_, 'a> {
        let lanes = self.region.lanes().end;
        let slots = if lanes > 0 { self.region.slots_used(0) } else { 0 };
        let next = Slot { lane: 0, index: 0 };
        Candidates { node: self, key: self.find(key), next, slots, lanes, alive: None }
    }

    /// Writes the resources under the key into `buffer`, as many as fit; answers how many there
    /// are.
    pub fn candidates_into(&self, key: Key, buffer: &mut [Candidate]) -> usize {
        let mut count = 0;
        for candidate in self.candidates(key) {
            if let Some(place) = buffer.get_mut(count) {
                *place = candidate;
            }
            count += 1;
        }
        count
    }

    pub(super) fn live_resources(&self, key: Key) -> u32 {
        self.candidates(key).filter(|member| !member.draining).count() as u32
    }

    /// How many resources are live under the key, and how many are being created.
    ///
    /// # Errors
    /// [`Error::Resetting`], [`Error::Ended`].
    pub fn budget(&self, key: Key) -> Result<CreationBudget, Error> {
        self.live()?;
        let Some(entry) = self.find(key) else {
            return Ok(CreationBudget { live: 0, creating: 0 });
        };
        self.tidy_permits(entry);
        let claims = Claims(self.region.key(entry, KEY_CLAIMS).load(SeqCst));
        Ok(CreationBudget { live: self.live_resources(key), creating: claims.mask().count_ones() })
    }
}
