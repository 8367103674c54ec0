// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report, and ids as text.

use super::{crew_fleet, crew_resource, enter};
use crate::ffi::boot::CREW_TEXT_BYTES;
use crate::ffi::pointer::{give, read_text, status};
use crate::ffi::report::{crew_sink, with_c_text};
use crate::ffi::status::{
    CREW_BAD_HANDLE, CREW_BAD_TEXT, CREW_BAD_VALUE, CREW_NULL_ARGUMENT, CREW_OK,
};
use crate::fleet::Id;
use core::ffi::{c_char, c_void};
use core::fmt::Write;

/// Prints the table's nodes and what each holds, since when. Level 0: a line of figures, and one
/// for each node: name, process, life, whether it is alive. 1: the resources of each node too: key,
/// units reserved, at work, in all; and each key: how often it has changed, whether a caller has
/// waited for it since. 2 and above: each pending reservation (its holder and age), execution and
/// permit too. Crew is on the stack while `sink` runs, as with crew_report: it must return.
///
/// CREW_NULL_ARGUMENT (sink), CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// Calling `sink` with `context` is sound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_report(
    fleet: crew_fleet,
    level: u32,
    sink: crew_sink,
    context: *mut c_void,
) -> i32 {
    let Some(sink) = sink else { return CREW_NULL_ARGUMENT };
    status(enter(fleet).map(|node| {
        node.report(level, &mut |line| {
            with_c_text(line, |line| {
                // SAFETY: the caller's promise.
                unsafe { sink(context, line) }
            });
        });
    }))
}

/// Bytes of a resource's text, its NUL included: "63.1023.65535.1073741823".
pub const CREW_RESOURCE_TEXT_BYTES: u32 = 25;

/// Writes the resource as kind.node.slot.generation.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_VALUE (room is below CREW_RESOURCE_TEXT_BYTES), CREW_BAD_HANDLE.
///
/// # Safety
/// `text` is NULL or writable for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_resource_print(
    resource: crew_resource,
    text: *mut c_char,
    room: usize,
) -> i32 {
    if text.is_null() {
        return CREW_NULL_ARGUMENT;
    }
    if room < CREW_RESOURCE_TEXT_BYTES as usize {
        return CREW_BAD_VALUE;
    }
    let id = Id::from(resource);
    let mut line = heapless::String::<{ CREW_RESOURCE_TEXT_BYTES as usize - 1 }>::new();
    // Bits that do not parse again never were a resource's.
    if write!(line, "{id}").is_err() || line.parse() != Ok(id) {
        return CREW_BAD_HANDLE;
    }
    for (i, byte) in line.bytes().chain([0]).enumerate() {
        // SAFETY: within `room`, which was checked; the caller's promise.
        unsafe { text.add(i).write(byte as c_char) }
    }
    CREW_OK
}

/// Reads a resource from what crew_resource_print wrote. At most CREW_TEXT_BYTES are read.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_TEXT.
///
/// # Safety
/// `text` is NULL or readable up to its NUL or bound; `resource` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_resource_parse(
    text: *const c_char,
    resource: *mut crew_resource,
) -> i32 {
    let parse = || {
        // SAFETY: the caller's promise.
        let text = unsafe { read_text(text, CREW_TEXT_BYTES as usize) }?;
        text.parse::<Id>().map(crew_resource::from).map_err(|_| CREW_BAD_TEXT)
    };
    // SAFETY: the caller's promise.
    unsafe { give(resource, parse) }
}
