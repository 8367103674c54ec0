// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI: converts, checks, calls; no logic. `include/crew.h` is made from the files of this
//! folder, the header of each service from the service's own: `include/crew_pool.h` from `pool`,
//! `include/crew_fleet.h` from `fleet`. One file per section of a header.
//!
//! Every entry is free of panics by construction: it indexes nothing that it has not checked.
//! Should one panic all the same, the image's panic handler aborts; nothing unwinds into C.

#![allow(non_camel_case_types)] // C's names

mod account;
mod boot;
mod fleet;
mod pointer;
mod pool;
mod port;
mod report;
mod status;
mod worker;

pub use account::*;
pub use boot::*;
pub use fleet::*;
pub use pool::*;
pub use port::*;
pub use report::*;
pub use status::*;
pub use worker::*;

#[cfg(not(feature = "restart"))]
use crate::crew::Crew;

/// The image's one process.
#[cfg(not(feature = "restart"))]
pub(crate) static CREW: Crew = Crew::new();
/// Its memberships in fleets' tables.
#[cfg(not(feature = "restart"))]
pub(crate) static FLEETS: fleet::Fleets = fleet::Fleets::new();

#[cfg(feature = "restart")]
mod restart;
#[cfg(feature = "restart")]
pub use restart::crew_restart;
#[cfg(feature = "restart")]
pub(crate) static CREW: restart::Process<crate::crew::Crew> =
    restart::Process::new(crate::crew::Crew::new());
#[cfg(feature = "restart")]
pub(crate) static FLEETS: restart::Process<fleet::Fleets> =
    restart::Process::new(fleet::Fleets::new());
