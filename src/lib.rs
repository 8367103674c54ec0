// SPDX-License-Identifier: MIT OR Apache-2.0
//! Crew decides inside an EPICS IOC **who may run, on which threads, in which memory**.
//!
//! Servers in an IOC make threads for each connection until the heap, the descriptor table or the
//! address space is spent. Then they do not refuse: they stall for 15 s a client and leak, or abort
//! the IOC. Crew lends each connection a *set* of persistent threads instead, from a bounded pool,
//! with its memory reserved on one account beforehand, and says no, with a typed reason, when there
//! is none to lend.
//!
//! Two ideas carry all of it. An [`account`] is a limit and what is held against it, changed by one
//! compare-and-swap. A [`table`] is a fixed number of slots, each with one packed state word and a
//! generation. [`sets`] is their first use.
//!
//! # Principles
//! Code and tests cite these by number.
//!
//! - **P1** Everything is bounded and fixed at boot. Only growth makes threads; running, joining,
//!   releasing and leasing an idle set allocate nothing, ever.
//! - **P2** Ask before taking: bytes are reserved and kernel objects made before the thread that
//!   needs them.
//! - **P3** A refusal is a typed result with its numbers, and changes nothing.
//! - **P4** What happened is counted where it happened, once, by the thread that did it.
//! - **P5** One transition, one compare-and-swap, one winner.
//! - **P6** No thread waits for another's progress except in a bounded event wait. No spin lock
//!   is shared by two priorities.
//! - **P7** No Rust frame is live while foreign code runs in a C image.
//! - **P8** The core knows no operating system: `no_std`, no `alloc`, atomics of 32 bits or of a
//!   pointer's width.
//! - **P9** A number measured on a target is a named constant that says where.
//! - **P10** Handles, not pointers, cross the ABI; a stale or forged one is an error code.
//!
//! # Modules
//! An arrow in `ARCHITECTURE.md` is the only direction in which a module may know another.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(missing_docs)]

pub mod account;
pub mod audit;
#[cfg(not(any(loom, shuttle)))]
pub mod ffi;
pub mod fleet;
pub mod limits;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub mod plan;
pub mod port;
pub mod sets;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub mod shim;
pub mod table;

mod crew;
#[cfg(feature = "defmt")]
mod format;
mod host;
#[cfg(test)]
mod models;
mod rust_api;
mod sync;

pub use account::verdict::Verdict;
pub use crew::{Charge, Crew};
pub use host::{AccountUsage, BootError, BootOptions, Budget};
pub use port::Outcome;
pub use rust_api::{Job, Lease, NotStarted, Pool, Worker};
pub use sets::{
    AcquireError, CloseError, JobError, JobResult, OpenError, PoolOptions, PoolUsage, Refusal,
    RefusalKind, Role, RunError,
};
