// SPDX-License-Identifier: MIT OR Apache-2.0
//! Worker sets: a bounded pool of persistent threads that a connection borrows as a whole.
//!
//! A *worker* is one persistent thread; a *role* is what a member of a set is for; a *roster* is a
//! pool's roles; a *set* is one worker per role, leased as a unit, so that two connections can
//! never each hold half of what both need.
//!
//! # The life of a set's slot
//! ```text
//!          (1) grow             (2) publish          (3) lease
//!    FREE ----------> BUILDING ------------> IDLE --------------> LEASED --+ (4) run:  jobs + 1
//!     ^                  |                    | ^                  | | ^   | (5) done: jobs - 1
//!     |                  |                    | +----(7) leave-----+ | +---+
//!     |                  | (6)                | (6) retire           | (6)
//!     |                  v                    v                      v
//!     +---(8) free--- RETIRED <---------------+----------------------+
//! ```
//! 1. `grow`: a slot is claimed, bytes reserved, events and threads made.
//! 2. `publish`: all threads exist and none has died. The set is idle (prestart, seal); one that a
//!    caller of acquire has grown is that caller's, and goes to LEASED at once.
//! 3. `lease_idle`: the claimer of the idle bit leases the set.
//! 4. `run`: counts the job before its worker can finish it.
//! 5. `done`: only the worker that ran the job counts it out.
//! 6. `retire`: a step of its making failed, a member died, or the set was trimmed, reclaimed or
//!    closed. Never idle again.
//! 7. `leave`: the lease is released *and* no job is left; the thread whose compare-and-swap made
//!    both true puts the set back, exactly once.
//! 8. `free`: the last thread was reaped; the slot returns.
//!
//! All of it is one word per set (`slot::SetSlot`), so each edge has one winner (P5).
//!
//! # The life of a worker
//! ```text
//!        (1)           (2)            (3)              (4)
//!  EMPTY ----> PARKED ----> BOOKED ----> ASSIGNED ----> RUNNING ----+
//!    ^           |  ^                                               |
//!    |       (6) |  +-------------------- (5) ----------------------+
//!    |           v
//!    |        STOPPED ---(7)--> EXITED <--(7)-- any state: a death
//!    |                             |
//!    +------------(8)--------------+
//! ```
//! 1. `grow`.
//! 2. `run` has the worker to itself.
//! 3. `run` has written the job.
//! 4. `next`.
//! 5. `done`.
//! 6. `next`, asked to stop.
//! 7. `exited`, the exit hook.
//! 8. `reap`, after the thread is joined: only now are its bytes given back, because only now is
//!    its stack gone.
//!
//! # The life of a job cell
//! ```text
//!            (1)          (2)          (4)
//!      FREE ----> PENDING ----> WAITED ----> DONE --(5)--> FREE
//!                  |  ^----(3)----'            ^
//!                  |  '------------(4)---------'
//!                  '-----(6)----> DETACHED --(4)--> FREE
//! ```
//! 1. `run`.
//! 2. `join` waits.
//! 3. `join` timed out.
//! 4. `done`, or `exited` for a job that a dead worker ran or had been given.
//! 5. `join` or `detach`.
//! 6. `detach`.

mod acquire;
mod give_back;
mod grow;
mod job;
pub(crate) mod peer;
mod pool;
mod report;
mod retire;
mod run;
pub(crate) mod slot;
mod tables;
mod usage;
pub(crate) mod waiting;
mod worker;

pub use acquire::AcquireError;
pub use job::{JobError, JobResult};
pub use pool::{CloseError, OpenError, PoolOptions, Role};
pub use run::RunError;
pub use usage::{PoolUsage, REFUSAL_KINDS};

pub(crate) use run::Work;
pub(crate) use slot::WorkerIndex;
pub(crate) use tables::{Sets, Tables};

use crate::account::Shortfall;
use core::fmt;

/// Why a set was not lent. Each kind has its own remedy; none changes anything (P3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Refusal {
    /// The pool's own bound. Remedy: raise the capacity, or accept it as the connection limit.
    AtCapacity {
        /// The pool's capacity in sets.
        capacity: u32,
    },
    /// The process' account. Remedy: more memory and a larger budget.
    OutOfReservation(Shortfall),
    /// The target made no thread. Remedy: memory.
    SpawnFailed {
        /// The system's error number; 0: the thread was made, and died before it was ready.
        os_error: i32,
        /// Which role's thread.
        role: u32,
    },
    /// The target made no kernel object, for now. Remedy: try again.
    ObjectsExhausted {
        /// How many objects the set needed.
        objects: u32,
    },
    /// The pool's owner closes it.
    ShuttingDown,
    /// The peer has as many sets as one peer may. Remedy: fewer connections from there, or a larger
    /// limit.
    PeerLimit {
        /// The limit per peer in sets.
        limit: u32,
    },
    /// The target has not that much memory in one piece just now, whatever the account says.
    TargetMemory {
        /// What one thread of the set takes, in bytes: its stack and the port's overhead.
        requested: usize,
    },
    /// No set is idle, and after sealing none is made. Remedy: a larger `keep` or `prestart`.
    Sealed,
    /// As many threads wait already as can. Remedy: a larger `CREW_MAX_WAITERS`, or fewer waiters.
    TooManyWaiters {
        /// How many can wait.
        bound: u32,
    },
}

/// A refusal's kind, as the number that C knows it by. Numbers are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)] // The variants are those of `Refusal`.
pub enum RefusalKind {
    AtCapacity = 1,
    OutOfReservation = 2,
    SpawnFailed = 3,
    ObjectsExhausted = 4,
    ShuttingDown = 5,
    PeerLimit = 6,
    TargetMemory = 7,
    Sealed = 8,
    TooManyWaiters = 9,
}

impl RefusalKind {
    /// One more than the largest number of a kind.
    pub const COUNT: usize = 10;

    /// Every kind, in order of number.
    pub const ALL: [RefusalKind; Self::COUNT - 1] = [
        RefusalKind::AtCapacity,
        RefusalKind::OutOfReservation,
        RefusalKind::SpawnFailed,
        RefusalKind::ObjectsExhausted,
        RefusalKind::ShuttingDown,
        RefusalKind::PeerLimit,
        RefusalKind::TargetMemory,
        RefusalKind::Sealed,
        RefusalKind::TooManyWaiters,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            RefusalKind::AtCapacity => "at capacity",
            RefusalKind::OutOfReservation => "out of reservation",
            RefusalKind::SpawnFailed => "spawn failed",
            RefusalKind::ObjectsExhausted => "objects exhausted",
            RefusalKind::ShuttingDown => "shutting down",
            RefusalKind::PeerLimit => "peer limit",
            RefusalKind::TargetMemory => "target memory",
            RefusalKind::Sealed => "sealed",
            RefusalKind::TooManyWaiters => "too many waiters",
        }
    }
}

/// `EAGAIN`, the same number on Linux, RTEMS and VxWorks.
pub(crate) const EAGAIN: i32 = 11;
/// `EPIPE`, the same number on Linux, RTEMS and VxWorks.
pub(crate) const EPIPE: i32 = 32;

impl Refusal {
    /// Which of the kinds this is.
    pub const fn kind(&self) -> RefusalKind {
        match self {
            Refusal::AtCapacity { .. } => RefusalKind::AtCapacity,
            Refusal::OutOfReservation(_) => RefusalKind::OutOfReservation,
            Refusal::SpawnFailed { .. } => RefusalKind::SpawnFailed,
            Refusal::ObjectsExhausted { .. } => RefusalKind::ObjectsExhausted,
            Refusal::ShuttingDown => RefusalKind::ShuttingDown,
            Refusal::PeerLimit { .. } => RefusalKind::PeerLimit,
            Refusal::TargetMemory { .. } => RefusalKind::TargetMemory,
            Refusal::Sealed => RefusalKind::Sealed,
            Refusal::TooManyWaiters { .. } => RefusalKind::TooManyWaiters,
        }
    }

    /// For callers that only pass errors on: `EAGAIN` for what may pass, the system's own number
    /// for a failed thread creation, `EPIPE` for a pool that closes. Several kinds share a number,
    /// and a failed thread creation may itself be `EAGAIN`: a caller that must tell them apart
    /// looks at the kind.
    pub const fn errno(&self) -> i32 {
        match self {
            Refusal::SpawnFailed { os_error, .. } if *os_error != 0 => *os_error,
            Refusal::ShuttingDown => EPIPE,
            _ => EAGAIN,
        }
    }

    /// Whether a growth was begun, refused, and undone.
    pub(crate) const fn comes_from_growth(&self) -> bool {
        matches!(
            self,
            Refusal::OutOfReservation(_)
                | Refusal::SpawnFailed { .. }
                | Refusal::ObjectsExhausted { .. }
                | Refusal::TargetMemory { .. }
        )
    }

    /// Whether what refused may come free while the caller waits.
    pub(crate) const fn may_pass(&self) -> bool {
        !matches!(self, Refusal::ShuttingDown | Refusal::TooManyWaiters { .. })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::AtCapacity { capacity } => {
                write!(f, "at capacity: all {capacity} sets are busy")
            }
            Refusal::OutOfReservation(s) => write!(
                f,
                "out of reservation: {} B asked, {} B of {} B held",
                s.requested, s.held, s.budget
            ),
            Refusal::SpawnFailed { os_error, role } => {
                write!(
                    f,
                    "spawn failed: the target made no thread for role {role} (error {os_error})"
                )
            }
            Refusal::ObjectsExhausted { objects } => {
                write!(f, "objects exhausted: the target has not {objects} kernel objects just now")
            }
            Refusal::ShuttingDown => f.write_str("shutting down: the pool is being closed"),
            Refusal::PeerLimit { limit } => write!(f, "peer limit: this peer has its {limit} sets"),
            Refusal::TargetMemory { requested } => {
                write!(f, "target memory: the target has not {requested} B in one piece just now")
            }
            Refusal::Sealed => {
                f.write_str("sealed: no set is idle and none is made after the seal")
            }
            Refusal::TooManyWaiters { bound } => {
                write!(f, "too many waiters: {bound} threads wait already")
            }
        }
    }
}

impl core::error::Error for Refusal {}
