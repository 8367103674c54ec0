// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report.

use super::status::{CREW_NULL_ARGUMENT, CREW_OK};
use crate::crew::CREW;
use crate::limits::TEXT_BYTES;
use core::ffi::{c_char, c_void};

/// Takes one line of a report, without newline. Must return; may be called many times.
pub type crew_sink = Option<unsafe extern "C" fn(context: *mut c_void, line: *const c_char)>;

/// Prints the holders, what each holds and since when, and the refusals with their reasons. Level
/// 0: a line for the account and one for each pool. 1: roles, stacks and refusals by kind too. 2
/// and above: every busy set.
///
/// CREW_NULL_ARGUMENT (sink).
///
/// # Safety
/// Calling `sink` with `context` is sound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_report(level: u32, sink: crew_sink, context: *mut c_void) -> i32 {
    let Some(sink) = sink else { return CREW_NULL_ARGUMENT };
    CREW.report(level, &mut |line| {
        with_c_text(line, |line| {
            // SAFETY: the caller's promise.
            unsafe { sink(context, line) }
        });
    });
    CREW_OK
}

/// `text` with a NUL behind it, for the time of the call.
pub(super) fn with_c_text(text: &str, call: impl FnOnce(*const c_char)) {
    let mut bytes = [0u8; TEXT_BYTES * 2 + 1];
    for (to, from) in bytes[..TEXT_BYTES * 2].iter_mut().zip(text.bytes()) {
        *to = from;
    }
    call(bytes.as_ptr().cast());
}
