// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boot, seal, budget.

use super::pointer::{give, read, read_text, sized32, status};
use super::port::{checked, crew_port};
use super::status::{
    CREW_ALREADY_BOOTED, CREW_BAD_BUDGET, CREW_BAD_PORT, CREW_BUSY, CREW_REFUSED_OBJECTS_EXHAUSTED,
    of_open,
};
use crate::account::verdict;
use crate::crew::CREW;
use crate::host::{BootError, BootOptions, Budget};
use crate::limits::TEXT_BYTES;
use crate::port::Port;
use core::ffi::c_char;

/// The most bytes read of a budget's text, its NUL included.
pub const CREW_TEXT_BYTES: u32 = 128;
const _: () = assert!(CREW_TEXT_BYTES as usize == TEXT_BYTES);

/// What crew_boot needs. Initialise with CREW_BOOT_OPTIONS_INIT.
#[repr(C)]
pub struct crew_boot_options {
    /// sizeof(crew_boot_options)
    pub size: u32,
    /// The budget asked for in MiB; 0: the target's default (none on a host, 160 MiB elsewhere).
    pub budget_mib: u32,
    /// NULL, or an operator's text instead of budget_mib (on hosts by convention the environment
    /// variable CREW_BUDGET_MIB). A text that is no positive whole number is ignored with a log
    /// line, and the default stands.
    pub budget_text: *const c_char,
    /// Where threads, events and answers come from. Must live as long as the process. NULL: the
    /// port that this library was built with (its `std` feature), else CREW_BAD_PORT.
    pub port: *const crew_port,
}

sized32!(crew_boot_options);

/// Opens the account, asks the target whether it has the budget, and logs the answer: the budget is
/// a ceiling that the target confirms, clamps (halving, not below 8 MiB), or cannot tell. BOOT
/// ONLY, once, before everything else.
///
/// CREW_ALREADY_BOOTED, CREW_BUSY (another thread boots), CREW_BAD_SIZE, CREW_BAD_PORT,
/// CREW_REFUSED_OBJECTS_EXHAUSTED (the target made no event; try again).
///
/// # Safety
/// `options` is NULL or valid, and what it points to is as its fields say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_boot(options: *const crew_boot_options) -> i32 {
    // SAFETY: the caller's promise.
    status(unsafe { boot(options) })
}

/// # Safety
/// As `crew_boot`.
unsafe fn boot(options: *const crew_boot_options) -> Result<(), i32> {
    // SAFETY: the caller's promise, for the struct and for what its fields point to.
    let (budget, port) = unsafe {
        let options = read(options)?;
        let budget = match options.budget_text {
            // A text that cannot be read is no number either.
            text if !text.is_null() => {
                Budget::Text(read_text(text, TEXT_BYTES).unwrap_or("(unreadable text)"))
            }
            _ if options.budget_mib == 0 => Budget::Default,
            _ => Budget::Mib(options.budget_mib),
        };
        let port = match options.port {
            port if port.is_null() => built_in_port().ok_or(CREW_BAD_PORT)?,
            port => checked(port)?,
        };
        (budget, port)
    };
    CREW.boot(&BootOptions { port, budget }).map_err(|error| match error {
        BootError::AlreadyBooted => CREW_ALREADY_BOOTED,
        BootError::Busy => CREW_BUSY,
        BootError::Objects(_) => CREW_REFUSED_OBJECTS_EXHAUSTED,
    })
}

fn built_in_port() -> Option<&'static dyn Port> {
    #[cfg(feature = "std")]
    return Some(&crate::shim::PORT);
    #[cfg(not(feature = "std"))]
    return None;
}

/// Makes sets until every pool has as many as it keeps, then forbids growth and new pools: from
/// here on Crew touches no heap and makes no thread (a growth that another thread has begun is
/// finished). A pool that must serve all its connections after the seal is opened with keep or
/// prestart equal to its capacity. BOOT ONLY, after the last pool.
///
/// CREW_NOT_BOOTED, CREW_ALREADY_SEALED, CREW_BUSY, or the refusal of a set that could not be made;
/// nothing is sealed then.
#[unsafe(no_mangle)]
pub extern "C" fn crew_seal() -> i32 {
    status(CREW.seal().map_err(|error| of_open(&error)))
}

/// Reads an operator's budget: a positive whole number of MiB, blanks around it allowed. At most
/// CREW_TEXT_BYTES are read.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_TEXT (no end), CREW_BAD_BUDGET.
///
/// # Safety
/// `text` is NULL or readable up to its NUL or bound; `mib` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_budget_parse(text: *const c_char, mib: *mut u32) -> i32 {
    let parse = |text| verdict::parse_mib(text).ok_or(CREW_BAD_BUDGET);
    // SAFETY: the caller's promise.
    unsafe { give(mib, || read_text(text, TEXT_BYTES).and_then(parse)) }
}
