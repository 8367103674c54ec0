// SPDX-License-Identifier: MIT OR Apache-2.0
//! The second of Crew's two ideas: a fixed number of slots, each with one packed state word and a
//! generation. Here is what every table shares: `word`, the packed word and the one way to change
//! it; the [`Handle`] that names a slot's present life; the [`Bitmap`] that finds a free or idle
//! slot; the `Waiters`, a line for the threads that found none; `text`, a short text in atomics.

mod bitmap;
mod handle;
pub(crate) mod text;
mod waiters;
pub(crate) mod word;

pub use bitmap::Bitmap;
pub use handle::{Handle, Kind};
pub(crate) use text::Text;
pub(crate) use waiters::{Queue, Seat, Waiters, Wake};
pub(crate) use word::{Packed, Word};
