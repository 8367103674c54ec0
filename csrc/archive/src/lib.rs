// SPDX-License-Identifier: MIT OR Apache-2.0
//! The leaf: everything of `crew::ffi`, as a static library. Only a leaf owns a panic handler; an
//! image with other Rust parts makes one umbrella library of its own instead of linking two.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "audit")]
pub use crew::audit::{crew_audit, crew_audit_busy};
pub use crew::ffi::*;

#[cfg(not(feature = "std"))]
mod panic {
    unsafe extern "C" {
        fn abort() -> !;
    }

    /// A panic in the core is a bug of Crew's: there is nothing to unwind to in a C image.
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        // SAFETY: the C library's abort takes nothing and does not return.
        unsafe { abort() }
    }
}
