// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acquire: look, let a policy choose, and carry out what it chose.

use super::candidates::{Candidates, CreationBudget};
use super::id::{FleetLease, Id, Key};
use super::permit::Permit;
use super::{Error, Node};

/// The bounds of one acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limits {
    /// Resources under the key that may live or be created, in the whole fleet.
    pub max_live: u32,
    /// The most tries, each from a fresh look, while the caller loses one race after the other.
    pub attempts: u32,
}

/// A policy's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Choice {
    /// Reserve this candidate.
    Reuse(Id),
    /// Create a new resource.
    Create,
    /// Nothing now, but a change may bring something.
    Wait,
    /// Nothing, for this reason of the policy's own.
    Reject(u32),
}

/// What an acquire got. It is no mere advice: a reuse holds its reservation, a creation its claim.
#[derive(Debug)]
#[must_use = "a lease that is not brought to its owner keeps a unit until the owner ages it"]
pub enum Plan<'n, 'a> {
    /// A resource of this life's own.
    LocalReuse(FleetLease),
    /// A resource of another life.
    RemoteReuse(FleetLease),
    /// Create one, register it, and drop the permit.
    Create(Permit<'n, 'a>),
    /// Wait until the key's count is no longer this; see [`super::Table::wait`].
    Wait(u32),
    /// The policy refused, for this reason of its own.
    Reject(u32),
}

/// What a policy can look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'n, 'a> {
    node: &'n Node<'a>,
    /// The key.
    pub key: Key,
    /// The bounds that the caller of acquire set.
    pub limits: Limits,
}

impl<'n, 'a> View<'n, 'a> {
    /// The candidates, in table order.
    pub fn candidates(&self) -> Candidates<'n, 'a> {
        self.node.candidates(self.key)
    }

    /// How many resources are live, and how many are being created.
    ///
    /// # Errors
    /// As [`Node::budget`].
    pub fn budget(&self) -> Result<CreationBudget, Error> {
        self.node.budget(self.key)
    }

    /// Create if the budget allows it, else wait.
    fn create_or_wait(&self) -> Choice {
        match self.budget() {
            Ok(CreationBudget { live, creating }) if live + creating < self.limits.max_live => {
                Choice::Create
            }
            _ => Choice::Wait,
        }
    }
}

/// Chooses among the candidates. Any function of a view is one.
pub trait Policy {
    /// The choice.
    fn choose(&mut self, view: &View<'_, '_>) -> Choice;
}

impl<F: FnMut(&View<'_, '_>) -> Choice> Policy for F {
    fn choose(&mut self, view: &View<'_, '_>) -> Choice {
        self(view)
    }
}

/// A local resource with room, else a remote one, else create within the budget, else wait.
pub fn local_first(view: &View<'_, '_>) -> Choice {
    let mut remote = None;
    for candidate in view.candidates().filter(|candidate| candidate.free > 0) {
        if candidate.local {
            return Choice::Reuse(candidate.id);
        }
        remote = remote.or(Some(candidate.id));
    }
    remote.map_or_else(|| view.create_or_wait(), Choice::Reuse)
}

/// A local resource with room, else create within the budget, else wait.
pub fn local_only(view: &View<'_, '_>) -> Choice {
    let local = view.candidates().find(|candidate| candidate.local && candidate.free > 0);
    local.map_or_else(|| view.create_or_wait(), |candidate| Choice::Reuse(candidate.id))
}

impl<'a> Node<'a> {
    /// Looks, asks the policy, and carries out its choice. After a race that this caller lost it
    /// begins again with a fresh look, as often as the limits say; after the last one the plan is
    /// to wait.
    ///
    /// # Errors
    /// [`Error::KeyTableFull`], and the errors that say that this node or table cannot go on; never
    /// those of a lost race.
    pub fn acquire(
        &self,
        key: Key,
        limits: Limits,
        mut policy: impl Policy,
    ) -> Result<Plan<'_, 'a>, Error> {
        self.live()?;
        let mut version = 0;
        for _ in 0..limits.attempts.max(1) {
            // The count is read before the look, so that a change after the look ends the wait,
            // also when this was the last look.
            version = self.version(key);
            let choice = policy.choose(&self.view(key, limits));
            if let Some(plan) = self.carry_out(key, limits.max_live, version, choice)? {
                return Ok(plan);
            }
        }
        Ok(Plan::Wait(version))
    }

    /// The key's count of changes, read by a life that goes on.
    pub(crate) fn look(&self, key: Key) -> Result<u32, Error> {
        self.live()?;
        Ok(self.version(key))
    }

    /// The view for a policy.
    pub(crate) fn view(&self, key: Key, limits: Limits) -> View<'_, 'a> {
        View { node: self, key, limits }
    }

    /// Carries out a choice that was made after the key's count of changes was `version`. `None`:
    /// another asker was faster.
    pub(crate) fn carry_out(
        &self,
        key: Key,
        max_live: u32,
        version: u32,
        choice: Choice,
    ) -> Result<Option<Plan<'_, 'a>>, Error> {
        let carried_out = match choice {
            Choice::Wait => Ok(Plan::Wait(version)),
            Choice::Reject(reason) => Ok(Plan::Reject(reason)),
            Choice::Reuse(id) => self.reserve(id).map(|lease| match id.node() {
                node if node == self.life().node => Plan::LocalReuse(lease),
                _ => Plan::RemoteReuse(lease),
            }),
            Choice::Create => self.claim_create(key, max_live).map(Plan::Create),
        };
        match carried_out {
            Err(Error::Busy | Error::Draining | Error::Stale | Error::BudgetSpent(_)) => Ok(None),
            result => result.map(Some),
        }
    }
}
