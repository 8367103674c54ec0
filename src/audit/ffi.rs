// SPDX-License-Identifier: MIT OR Apache-2.0
//! The audit for C tests, on an archive that was built with the feature. Not in `include/crew.h`;
//! `tests/c/audit.h` declares it.

use super::Disagreement;
use crate::crew::CREW;
use crate::host::Line;
use core::ffi::c_char;
use core::fmt::Write;

/// [`crate::Crew::audit`] of the image's process. `threads`: how many the port has made and not
/// reaped; negative: not known. 1: everything agrees. 0: `text` says what does not.
///
/// # Safety
/// `text` points to `size` writable bytes, at least one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_audit(threads: i64, text: *mut c_char, size: usize) -> i32 {
    let result = CREW.audit(usize::try_from(threads).ok()).map(|_| ());
    // SAFETY: the caller's promise.
    unsafe { tell(result, text, size) }
}

/// [`crate::Crew::audit_busy`] of the image's process; else as [`crew_audit`].
///
/// # Safety
/// As for [`crew_audit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_audit_busy(text: *mut c_char, size: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { tell(CREW.audit_busy(), text, size) }
}

/// # Safety
/// As for [`crew_audit`].
unsafe fn tell(result: Result<(), Disagreement>, text: *mut c_char, size: usize) -> i32 {
    let mut line = Line::new();
    if let Err(disagreement) = result {
        // A line that is full is cut, not lost.
        let _ = write!(line, "{disagreement}");
    }
    let bytes = line.text().bytes().take(size.saturating_sub(1)).chain([0]);
    for (at, byte) in bytes.enumerate() {
        // SAFETY: the caller's promise: at most `size` bytes are written, the last one a NUL.
        unsafe { *text.add(at) = byte as c_char };
    }
    i32::from(result.is_ok())
}
