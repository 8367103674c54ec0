// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claims to create: they keep many askers that find a key empty from all creating at once.

use super::candidates::CreationBudget;
use super::geometry::{KEY_CLAIMS, PERMIT_OWNER, PERMIT_SERIAL};
use super::id::{Claim, Key, Life};
use super::words::{Cell, Claims, Relaxed, SERIAL, SeqCst, update};
use super::{Error, Node, PERMITS, Table};

/// The right to create one resource under a key. Dropping it ends it, and so does [`Node::finish`].
#[derive(Debug)]
#[must_use = "a permit that is dropped lets another one create"]
pub struct Permit<'n, 'a> {
    node: &'n Node<'a>,
    claim: Claim,
}

impl Permit<'_, '_> {
    /// The permit as a value, for [`Node::finish`]. Dropping the permit ends it all the same.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// The permit as a value that only [`Node::finish`] or the end of this life ends.
    pub fn into_claim(self) -> Claim {
        let claim = self.claim;
        core::mem::forget(self);
        claim
    }
}

impl Drop for Permit<'_, '_> {
    fn drop(&mut self) {
        // A report or a reset may have ended it before: its serial is not in the table any more
        // then.
        let _ = self.node.finish(self.claim);
    }
}

impl Table<'_> {
    pub(super) fn permit_owner(&self, entry: usize, cell: usize) -> Life {
        Life::from_tag(self.region.beside_permit(entry, cell, PERMIT_OWNER).load(SeqCst))
    }
}

impl<'a> Node<'a> {
    /// Claims the right to create a resource under the key, if fewer than `max_live` are live or
    /// being created, in the whole fleet. The claimer registers the resource, then drops the
    /// permit.
    ///
    /// # Errors
    /// [`Error::BudgetSpent`]; [`Error::Busy`] if [`PERMITS`] are being created, whatever
    /// `max_live`; [`Error::KeyTableFull`].
    pub fn claim_create(&self, key: Key, max_live: u32) -> Result<Permit<'_, 'a>, Error> {
        let epoch = self.live()?;
        let entry = self.install(key)?;
        let claim = match self.try_claim(key, entry, max_live) {
            // Dead claimers' permits are taken back only here, when they are in the way.
            Err(Error::BudgetSpent(_) | Error::Busy) if self.tidy_permits(entry) > 0 => {
                self.try_claim(key, entry, max_live)
            }
            result => result,
        }?;
        let permit = Permit { node: self, claim };
        self.still(epoch).map(|()| permit)
    }

    fn try_claim(&self, key: Key, entry: usize, max_live: u32) -> Result<Claim, Error> {
        let claim = |cell: &usize| Cell::claim(self.region.permit(entry, *cell), self.life());
        let cell = (0..PERMITS).find(claim).ok_or(Error::Busy)?;
        let beside = |word| self.region.beside_permit(entry, cell, word);
        let serial = beside(PERMIT_SERIAL).load(Relaxed).wrapping_add(1) & SERIAL;
        beside(PERMIT_SERIAL).store(serial, Relaxed);
        beside(PERMIT_OWNER).store(self.life().tag(), Relaxed);
        let bit = 1 << cell;
        let counted = update(self.region.key(entry, KEY_CLAIMS), |word| {
            // The word is read first, then the resources are counted. A creation that ends
            // meanwhile shows its resource first and then changes the word, so the swap fails and
            // counts again. A bit that is set already is a leftover in this cell, so it is this
            // claimer's now.
            let claims = Claims(word);
            let others = claims.mask() & !bit;
            let budget =
                CreationBudget { live: self.live_resources(key), creating: others.count_ones() };
            if budget.live + budget.creating < max_live {
                Ok(claims.with(others | bit).0)
            } else {
                Err(Error::BudgetSpent(budget))
            }
        });
        if let Err(error) = counted {
            self.end_permit(entry, cell);
            return Err(error);
        }
        if !Cell::publish(self.region.permit(entry, cell), self.life(), serial) {
            return Err(Error::Ended);
        }
        Ok(Claim::new(self.geometry().kind, entry, cell, serial))
    }

    /// Ends a permit: its resource is registered, or never will be.
    ///
    /// # Errors
    /// [`Error::Stale`]: it has ended. [`Error::BadHandle`]. [`Error::NotOwner`]: it is another
    /// life's.
    pub fn finish(&self, claim: Claim) -> Result<(), Error> {
        let (entry, cell, serial) = claim.parts(self.geometry().kind).ok_or(Error::BadHandle)?;
        if entry >= self.geometry().keys as usize {
            return Err(Error::BadHandle);
        }
        let word = self.region.permit(entry, cell);
        if Cell::unpack(word.load(SeqCst)) != Cell::Published(serial) {
            return Err(Error::Stale);
        }
        if self.permit_owner(entry, cell) != self.life() {
            return Err(Error::NotOwner);
        }
        if !Cell::take(word, serial, self.life()) {
            return Err(Error::Stale);
        }
        self.end_permit(entry, cell);
        self.key_changed(entry);
        Ok(())
    }

    /// Clears the bit of the claimed cell, and then frees the cell.
    fn end_permit(&self, entry: usize, cell: usize) {
        let permit = self.region.permit(entry, cell);
        let bit = 1 << cell;
        // If a report has ended this life while it is in here, cell and bit may be another life's
        // by now. The word is read first, then the cell: if they become another's after that look,
        // the word has changed too, and the swap fails.
        let _ = update(self.region.key(entry, KEY_CLAIMS), |word| {
            if Cell::unpack(permit.load(SeqCst)) != Cell::Claimed(self.life()) {
                return Err(Error::Ended);
            }
            let claims = Claims(word);
            if claims.mask() & bit == 0 {
                return Err(Error::Stale); // nothing to clear
            }
            Ok(claims.with(claims.mask() & !bit).0)
        });
        Cell::release(permit, self.life());
    }

    /// Takes back the key's permits whose life is over. Answers how many.
    pub(super) fn tidy_permits(&self, entry: usize) -> u32 {
        self.end_permits(entry, |life| self.is_over(life))
    }

    /// Takes back the key's permits of the lives that `ends` names. Answers how many.
    pub(super) fn end_permits(&self, entry: usize, ends: impl Fn(Life) -> bool) -> u32 {
        let mut ended = 0;
        for cell in 0..PERMITS {
            let word = self.region.permit(entry, cell);
            let seen = word.load(SeqCst);
            let left = match Cell::unpack(seen) {
                Cell::Empty => self.region.key(entry, KEY_CLAIMS).load(SeqCst) & 1 << cell != 0,
                Cell::Claimed(life) => self.is_over(life),
                Cell::Published(_) => ends(self.permit_owner(entry, cell)),
                Cell::Broken => true,
            };
            if left && Cell::take_over(word, seen, self.life()) {
                self.end_permit(entry, cell);
                ended += 1;
            }
        }
        if ended > 0 {
            self.key_changed(entry);
        }
        ended
    }
}
