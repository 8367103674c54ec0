// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charges: the memory of fixed threads (a scan band, an acceptor) on the account.
//!
//! ```text
//!           (1) charge                (2) charge
//!   FREE(g) ----------> CHANGING(g) -----------> TAKEN(g)
//!     ^                                             |
//!     +------------- FREE(g + 1) <------------------+ (3) uncharge
//! ```
//! 1. The charger claims the slot.
//! 2. The charger has written the bytes; from here on the handle is valid.
//! 3. Of the threads that take the charge back one wins; the slot's next life begins.

use super::Host;
use crate::account::Shortfall;
use crate::limits::MAX_CHARGES;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::table::{Handle, Kind, Word};

const STATE_BITS: u32 = 2;
pub(crate) const FREE: u32 = 0;
const CHANGING: u32 = 1;
pub(crate) const TAKEN: u32 = 2;

/// One charge.
pub(crate) struct ChargeSlot {
    pub(crate) word: Word<STATE_BITS>,
    /// Written before the state says taken.
    pub(crate) bytes: AtomicUsize,
}

/// All charges of the process.
pub(crate) struct Charges {
    pub(crate) slots: [ChargeSlot; MAX_CHARGES],
    /// The sum of all charges.
    pub(crate) bytes: AtomicUsize,
}

impl Charges {
    pub(super) const fn new() -> Self {
        Self {
            slots: [const { ChargeSlot { word: Word::new(), bytes: AtomicUsize::new(0) } };
                MAX_CHARGES],
            bytes: AtomicUsize::new(0),
        }
    }

    /// Bytes of all charges together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// How many charges there are.
    pub(crate) fn count(&self) -> usize {
        self.slots.iter().filter(|slot| slot.word.load().state() == TAKEN).count()
    }

    /// Claims a free slot and writes the bytes. `None`: all are taken.
    fn take(&self, bytes: usize) -> Option<Handle> {
        let (index, slot, free) = self.slots.iter().enumerate().find_map(|(index, slot)| {
            let word = slot.word.load();
            (word.state() == FREE && slot.word.step(word, word.with(CHANGING)))
                .then_some((index, slot, word))
        })?;
        self.bytes.fetch_add(bytes, Relaxed);
        slot.bytes.store(bytes, Relaxed);
        slot.word.store(free.with(TAKEN));
        Some(Handle::new(Kind::Charge, index, free.generation()))
    }
}

impl Host {
    /// Puts `bytes` on the account, whatever its budget says, until [`Self::uncharge`].
    ///
    /// # Errors
    /// `None`: all [`MAX_CHARGES`] are taken.
    /// `Some`: no address space holds that much.
    pub(crate) fn charge(&self, bytes: usize) -> Result<Handle, Option<Shortfall>> {
        // Charged first: a charge that is taken back at once has its bytes on the account.
        self.account.charge(bytes).map_err(Some)?;
        self.charges.take(bytes).ok_or_else(|| {
            self.account.release(bytes);
            None
        })
    }

    /// Whether the handle is, or once was, or will be, a charge's.
    pub(crate) fn is_charge(&self, handle: Handle) -> bool {
        handle.parts(Kind::Charge, MAX_CHARGES).is_some()
    }

    /// Takes a charge back. False: the charge has ended before, or is none.
    pub(crate) fn uncharge(&self, handle: Handle) -> bool {
        let Some((index, generation)) = handle.parts(Kind::Charge, MAX_CHARGES) else {
            return false;
        };
        let slot = &self.charges.slots[index];
        let word = slot.word.load();
        if !word.is_life(generation) || word.state() != TAKEN {
            return false;
        }
        let bytes = slot.bytes.load(Relaxed);
        // Of two that take the same charge back, this decides.
        if !slot.word.step(word, word.next_life(FREE)) {
            return false;
        }
        self.charges.bytes.fetch_sub(bytes, Relaxed);
        self.account.release(bytes);
        true
    }
}
