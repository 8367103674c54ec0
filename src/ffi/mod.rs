// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI, one file per section of `include/crew.h`: converts, checks, calls; no logic.
//!
//! Every entry is free of panics by construction: it indexes nothing that it has not checked. Should
//! one panic all the same, the image's panic handler aborts; nothing unwinds into C.

#![allow(non_camel_case_types)] // C's names

// The order of the header's sections; the blank lines keep it.
mod status;

mod port;

mod boot;

mod pool;

mod lease;

mod job;

mod usage;

mod worker;

mod fleet;

pub use boot::*;
pub use fleet::*;
pub use job::*;
pub use lease::*;
pub use pool::*;
pub use port::*;
pub use status::*;
pub use usage::*;
pub use worker::*;

#[cfg(not(feature = "restart"))]
use crate::crew::Crew;
use core::ffi::{CStr, c_char};

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

/// The text at `text`, if it ends within `bound` bytes and is UTF-8.
///
/// # Safety
/// `text` is NULL or points to bytes that are readable, and unchanged for `'a`, up to its NUL or
/// `bound`, whichever comes first.
unsafe fn read_text<'a>(text: *const c_char, bound: usize) -> Result<&'a str, i32> {
    if text.is_null() {
        return Err(CREW_NULL_ARGUMENT);
    }
    let bytes = text.cast::<u8>();
    // SAFETY: the caller's promise: each byte is read only if the ones before were not NUL.
    let length = (0..bound).find(|&i| unsafe { *bytes.add(i) } == 0).ok_or(CREW_BAD_TEXT)?;
    // SAFETY: `length` bytes and a NUL were just read there.
    let slice = unsafe { core::slice::from_raw_parts(bytes, length + 1) };
    CStr::from_bytes_with_nul(slice).ok().and_then(|c| c.to_str().ok()).ok_or(CREW_BAD_TEXT)
}

/// A struct that begins with its size.
///
/// # Safety
/// Implementors are `repr(C)` and begin with a `u32` that holds their size.
unsafe trait Sized32 {}

/// Checks pointer and size of a struct from C.
///
/// # Safety
/// `pointer` is NULL or points to an aligned `T`, or to a smaller struct that begins with its size.
unsafe fn check_size<T: Sized32>(pointer: *const T) -> Result<(), i32> {
    if pointer.is_null() {
        return Err(CREW_NULL_ARGUMENT);
    }
    // SAFETY: a `Sized32` begins with its size, and the caller promises that much to be readable.
    if unsafe { *pointer.cast::<u32>() } as usize == size_of::<T>() {
        Ok(())
    } else {
        Err(CREW_BAD_SIZE)
    }
}

/// The status of a result.
fn status(result: Result<(), i32>) -> i32 {
    match result {
        Ok(()) => CREW_OK,
        Err(status) => status,
    }
}
