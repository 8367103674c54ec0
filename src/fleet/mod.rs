// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fleet leases: one table of limited things, shared by the processes of a machine.
//!
//! A *resource* is something that one process, its *owner*, has and that others use through it: a
//! gateway's circuit, a serial line, a pool's admission. A *key* says what a resource is usable
//! for. A *lease* is the right to ask the owner. The table neither moves anything nor decides: the
//! caller's policy chooses among the candidates. A *node* is one lane of the table; a *life* is one
//! process in that lane, from its join to its end.
//!
//! The table is words of 32 bits in memory of any kind, without a lock and without a pointer. Every
//! step is one compare-and-swap, and a process that is killed between any two instructions leaves a
//! table that the others can go on with. No death has to be reported: the system takes the lane
//! from a process that ends ([`FleetPort::hold`]), and the first process that finds something of a
//! dead life takes it back.
//!
//! # The life of a slot
//! ```text
//!           (1) register                   (2) drain
//!    FREE ---------------> LIVE(generation) -------> DRAINING(generation)
//!     ^                        |                          |
//!     +--------(3) close-------+--------(3) close---------+
//! ```
//! 1. [`Node::register`]: the owner takes the slot by its owner word, prepares it, and makes it
//!    live with the next generation. An owner that dies before that leaves the slot free.
//! 2. [`Node::drain`]: the owner gives no new leases. It still accepts those that are out, and
//!    finishes their work.
//! 3. [`Node::unregister`], [`Node::leave`], [`Node::node_dead`], [`Node::reset_all`]. Leases and
//!    executions of that generation are stale from here on. After its last generation a slot is
//!    spent.
//!
//! One *tenancy* of the slot lies between (1) and (3). All three are changes of one word,
//! `generation:30 phase:2`, and no value of it comes twice. So a thread that first changes
//! something of the slot and *then* reads this word knows whether its change still met the tenancy
//! it was meant for.
//!
//! # The life of a reservation
//! ```text
//!          (1)          (2)             (3)         (4)
//!   EMPTY -----> CLAIMED ----> PUBLISHED ----> CLAIMED ----> EMPTY
//!                  |   (5)                       | (5)
//!                  +-----> CLAIMED by another <--+
//! ```
//! 1. [`Node::reserve`]: the reserver takes one of the slot's eight pending entries, writes
//!    generation, time and fence beside it, and sets the entry's bit in the slot's units if there
//!    is room.
//! 2. [`Node::reserve`]: the reserver publishes the fence, and looks at the slot's generation once
//!    more. If the generation has ended, the thread that takes the entry (3), the reserver or
//!    another one, gives the unit back.
//! 3. [`Node::accept`] takes the entry that has the lease's fence, [`Node::reconcile`] one that is
//!    too old; [`Node::unregister`] and every other call that closes a slot takes those whose
//!    generation has ended.
//! 4. The same calls: accept turns the unit into an active one, the others give it back.
//! 5. [`Node::reserve`], [`Node::reconcile`], [`Node::register`] and [`Node::sweep`] take an entry
//!    over that a dead life has claimed.
//!
//! **Bit i of the units is changed only by the thread that has claimed entry i.** So a unit is
//! given back exactly once, and to its own tenancy rather than to the slot's next one, whichever
//! process dies in between.
//!
//! # The life of a claim
//! It has the steps of a reservation. (1) and (2) are [`Node::claim_create`]. (3) and (4) are the
//! drop of the [`Permit`] or [`Node::finish`]; for a dead life they are done by the next
//! [`Node::claim_create`], [`Node::budget`] or [`Node::sweep`]. An execution's cell has them too:
//! (1) and (2) are [`Node::accept`], (3) and (4) [`Node::complete`].
//!
//! # Limits
//! Eight reservations of one resource that its owner has not accepted yet; eight creations under
//! one key; 65,535 units of one resource; 2^30 - 1 generations of one slot and 2^20 - 1 lives in
//! one epoch, both until [`Node::reset_all`]; ages up to 24 days.

mod acquire;
mod audit;
mod candidates;
mod death;
mod execution;
mod geometry;
mod id;
mod keys;
mod lane;
mod lease;
#[cfg_attr(any(loom, shuttle), allow(dead_code))] // The C ABI's, which no model has.
pub(crate) mod membership;
mod permit;
mod port;
mod report;
mod resource;
mod words;

pub use acquire::{Choice, Limits, Plan, Policy, View, local_first, local_only};
pub use audit::{TableDisagreement, TableFigures};
pub use candidates::{Candidate, Candidates, CreationBudget};
pub use death::Swept;
pub use geometry::Geometry;
pub use id::{Claim, Execution, FleetLease, Id, Key, Life, NotAnId};
pub use keys::Wait;
pub use lane::{NAME_MAX, Node, Peer};
pub use lease::{Counted, Reconciled};
pub use permit::Permit;
pub use port::{FleetPort, Hold, Image, WaitSlot};
pub use words::MAX_CAPACITY;

use core::fmt;
use geometry::Region;
use words::AtomicU32;

/// The most reservations of one resource that its owner has not accepted yet.
pub const PENDING: usize = 8;
/// The most creations under one key at one time.
pub const PERMITS: usize = 8;

/// Why a table was not opened. The region's content is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TableError {
    /// A number of the geometry is outside of its bounds, which this names.
    BadGeometry(&'static str),
    /// The region is smaller than such a table.
    TooSmall {
        /// What the table needs.
        bytes: usize,
    },
    /// The region holds something else.
    NotATable,
    /// A table that a processor of the other byte order wrote.
    OtherByteOrder,
    /// A table of another layout: the peers are of another version of Crew.
    OtherVersion,
    /// A table whose geometry has another number for what this names.
    OtherGeometry(&'static str),
    /// The target cannot wait for a word.
    CannotWait,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::BadGeometry(bounds) => write!(f, "bad geometry: {bounds}"),
            TableError::TooSmall { bytes } => write!(f, "too small: such a table takes {bytes} B"),
            TableError::NotATable => f.write_str("not a table: the region holds something else"),
            TableError::OtherByteOrder => f.write_str("a table of the other byte order"),
            TableError::OtherVersion => f.write_str("a table of another version of Crew"),
            TableError::OtherGeometry(what) => {
                write!(f, "a table of another geometry: other {what}")
            }
            TableError::CannotWait => f.write_str("this target cannot wait for a word in memory"),
        }
    }
}

impl core::error::Error for TableError {}

/// Why an operation on a table was refused. Each kind has its own remedy, and a refused operation
/// changes nothing (P3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// No unit is free, or as many reservations of the resource are pending as can be. Remedy:
    /// another candidate, or wait.
    Busy,
    /// The resource takes no new leases.
    Draining,
    /// What the handle names has ended.
    Stale,
    /// Not a handle of this table.
    BadHandle,
    /// Only the resource's owner may do this.
    NotOwner,
    /// The lease is not pending: its owner has accepted it before, or aged it.
    NotReserved,
    /// Capacity: 1 to [`MAX_CAPACITY`].
    BadCapacity,
    /// The node has as many resources as a node may. Remedy: a larger geometry.
    Full,
    /// As many keys were used in this epoch as the table has. Remedy: [`Node::reset_all`].
    KeyTableFull,
    /// As many leases of the node are at work as its lane can count; the lease stays reserved.
    /// Remedy: complete one, or a larger geometry.
    TooManyExecutions,
    /// As many resources live or are being created as the caller allows. Remedy: wait for one.
    BudgetSpent(CreationBudget),
    /// Every lane is held. Remedy: a larger geometry.
    NoLane,
    /// No incarnation is left. Remedy: [`Node::reset_all`].
    NoMoreLives,
    /// A report has ended this node's life. Remedy: leave and join again.
    Ended,
    /// The node that was reported dead is alive.
    Alive,
    /// As many threads wait already as can.
    TooManyWaiters,
    /// The table is being reset. Remedy: try again.
    Resetting,
    /// The table was reset meanwhile, and nothing was done. Remedy: look again.
    Reset,
    /// Something other than Crew writes into the region.
    Corrupt,
}

impl Error {
    /// Its name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Error::Busy => "busy",
            Error::Draining => "draining",
            Error::Stale => "stale",
            Error::BadHandle => "bad handle",
            Error::NotOwner => "not owner",
            Error::NotReserved => "not reserved",
            Error::BadCapacity => "bad capacity",
            Error::Full => "full",
            Error::KeyTableFull => "key table full",
            Error::TooManyExecutions => "too many executions",
            Error::BudgetSpent(_) => "creation budget spent",
            Error::NoLane => "no lane",
            Error::NoMoreLives => "no more lives",
            Error::Ended => "ended",
            Error::Alive => "alive",
            Error::TooManyWaiters => "too many waiters",
            Error::Resetting => "resetting",
            Error::Reset => "reset",
            Error::Corrupt => "corrupt",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Error::BudgetSpent(CreationBudget { live, creating }) => {
                write!(f, ": {live} live, {creating} being created")
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Error {}

/// An opened table: a value that can be copied. It has the questions that need no membership; what
/// only a member may do is on [`Node`].
#[derive(Clone, Copy)]
pub struct Table<'a> {
    region: Region<'a>,
    port: &'a dyn FleetPort,
}

impl<'a> Table<'a> {
    /// Opens the table in `words`, and makes it there if they are all zero. Several processes may
    /// do so at once, and one that dies meanwhile does not hinder the others.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn open(
        words: &'a [AtomicU32],
        geometry: Geometry,
        port: &'a dyn FleetPort,
    ) -> Result<Self, TableError> {
        if !port.can_wait() {
            return Err(TableError::CannotWait);
        }
        Ok(Self { region: Region::open(words, geometry)?, port })
    }

    /// What the table was opened with.
    pub fn geometry(&self) -> Geometry {
        self.region.geometry
    }

    /// Twice the number of resets so far; odd while the table is being reset.
    pub fn epoch(&self) -> u32 {
        self.region.header(geometry::EPOCH).load(words::SeqCst)
    }
}

impl fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("geometry", &self.geometry()).finish_non_exhaustive()
    }
}

// They wait on the std port.
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
