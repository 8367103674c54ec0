// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first of Crew's two ideas: a limit, and what is held against it, changed by one
//! compare-and-swap.
//!
//! There is one account for the process, because the memory is the process's: three pools inside
//! their own bounds can walk past its end together. Elastic users *reserve* and can be refused.
//! Fixed threads are *charged* and cannot; held may pass the budget then, and elastic users are
//! refused the sooner. No call waits; a loop repeats only when another thread changed the account
//! in between (P6).

pub mod verdict;

use crate::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Relaxed},
};

/// A budget in bytes and what is held against it. `usize` holds any number of bytes that one
/// process can have, and its atomic exists on every target (P8).
#[derive(Debug)]
pub struct Account {
    budget: AtomicUsize,
    held: AtomicUsize,
    high_water: AtomicUsize,
}

/// Why a reservation was refused, with the numbers of that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shortfall {
    /// Bytes asked for.
    pub requested: usize,
    /// Bytes held when the answer was given.
    pub held: usize,
    /// The budget.
    pub budget: usize,
}

impl Account {
    /// The budget of an account without a limit.
    pub const UNBOUNDED: usize = usize::MAX;

    /// An empty account.
    pub const fn new(budget: usize) -> Self {
        Self {
            budget: AtomicUsize::new(budget),
            held: AtomicUsize::new(0),
            high_water: AtomicUsize::new(0),
        }
    }

    /// Reserves all of `bytes` or nothing.
    ///
    /// # Errors
    /// The numbers of the refusal; the account is as it was.
    pub fn try_reserve(&self, bytes: usize) -> Result<(), Shortfall> {
        self.add(bytes, self.budget())
    }

    /// Adds `bytes` whatever the budget says.
    ///
    /// # Errors
    /// The sum is more than an address space can hold; the account is as it was.
    pub fn charge(&self, bytes: usize) -> Result<(), Shortfall> {
        self.add(bytes, usize::MAX)
    }

    fn add(&self, bytes: usize, limit: usize) -> Result<(), Shortfall> {
        // The check and the addition are one compare-and-swap: the limit cannot be passed.
        let sum = |held: usize| held.checked_add(bytes).filter(|&sum| sum <= limit);
        match self.held.fetch_update(AcqRel, Relaxed, sum) {
            Ok(before) => {
                self.high_water.fetch_max(before + bytes, Relaxed);
                Ok(())
            }
            Err(held) => Err(Shortfall { requested: bytes, held, budget: self.budget() }),
        }
    }

    /// Gives back `bytes` that were reserved or charged. Each byte exactly once.
    pub fn release(&self, bytes: usize) {
        let before = self.held.fetch_sub(bytes, AcqRel);
        debug_assert!(before >= bytes, "more given back than was held");
    }

    /// The budget in bytes.
    pub fn budget(&self) -> usize {
        self.budget.load(Relaxed)
    }

    /// Bytes held now.
    pub fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// The most that was ever held.
    pub fn high_water(&self) -> usize {
        self.high_water.load(Relaxed)
    }

    /// Boot only: the budget that the target confirmed.
    pub(crate) fn set_budget(&self, budget: usize) {
        self.budget.store(budget, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_to_the_byte_and_refuses_with_the_numbers() {
        let account = Account::new(100);
        assert_eq!(account.try_reserve(60), Ok(()));
        assert_eq!(account.try_reserve(40), Ok(()));
        let refusal = Shortfall { requested: 1, held: 100, budget: 100 };
        assert_eq!(account.try_reserve(1), Err(refusal));
        assert_eq!(account.held(), 100, "a refusal changes nothing");
        account.release(100);
        assert_eq!((account.held(), account.high_water()), (0, 100));
    }

    #[test]
    fn a_charge_passes_the_budget_and_makes_reservations_fail_sooner() {
        let account = Account::new(100);
        assert_eq!(account.charge(150), Ok(()));
        assert!(account.try_reserve(1).is_err());
        assert_eq!(account.held(), 150);
    }

    #[test]
    fn never_wraps() {
        let account = Account::new(Account::UNBOUNDED);
        assert_eq!(account.charge(usize::MAX - 1), Ok(()));
        assert!(account.try_reserve(2).is_err(), "a reservation does not wrap");
        assert!(account.charge(2).is_err(), "nor does a charge");
        assert_eq!(account.held(), usize::MAX - 1);
    }

    #[test]
    fn threads_cannot_pass_the_budget_together() {
        let account = Account::new(1_000);
        let granted: usize = std::thread::scope(|scope| {
            let ask = || (0..10_000).filter(|_| account.try_reserve(7).is_ok()).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(granted, 1_000 / 7);
        assert_eq!(account.held(), granted * 7);
    }
}
