// SPDX-License-Identifier: MIT OR Apache-2.0
//! The second of Crew's two ideas: a fixed number of slots, each with one packed state word and a
//! generation. This module has what every table shares: the [`Handle`] that names a slot's present
//! life, the [`Bitmap`] that finds a free or idle slot, and the `Waiters` for those who found none.

mod bitmap;
mod handle;
mod waiters;

pub use bitmap::Bitmap;
pub use handle::{Handle, Kind};
pub(crate) use waiters::{Seat, Waiters, Wake, Want};
