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

#[cfg(feature = "restart")]
use crate::crew::Restartable;

/// The image's memberships in fleets' tables.
#[cfg(not(feature = "restart"))]
static FLEETS: fleet::Fleets = fleet::Fleets::new();
#[cfg(feature = "restart")]
static FLEETS: Restartable<fleet::Fleets> = Restartable::new(fleet::Fleets::new());

/// Forgets the process and its memberships: afterwards both are as before `crew_boot`. For fuzzing.
///
/// # Safety
/// No call of the C ABI is under way on any thread, no thread of a port will make another, and
/// no port keeps an event that it was given.
#[cfg(feature = "restart")]
pub unsafe fn crew_restart() {
    // SAFETY: the caller's promise: no reference into the old process is used from here on. Neither
    // owns anything that would have to be dropped.
    unsafe {
        crate::crew::CREW.begin_anew(crate::crew::Crew::new());
        FLEETS.begin_anew(fleet::Fleets::new());
    }
}
