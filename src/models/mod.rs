// SPDX-License-Identifier: MIT OR Apache-2.0
//! Models of what two or more threads do to the same words. Each is a body of a few threads with
//! what must hold whatever their order; [`explore`] decides how often it is run:
//!
//! - under loom (`--cfg loom`): in every interleaving with few preemptions, and with every value
//!   that the orderings allow a load to see; the tables are small;
//! - under shuttle (`--cfg shuttle`): in random schedules, from a seed that replays them;
//! - in the normal tests: once, by real threads.
//!
//! `ci/models.sh` runs the first two.

mod account;
mod bitmap;
mod closing;
mod deaths;
mod explore;
mod fleet;
mod growth;
mod jobs;
mod leases;
mod membership;
mod peers;
#[cfg(not(loom))]
mod scenarios;
mod stage;
mod waiters;
mod waiting;
