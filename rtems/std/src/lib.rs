// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RTEMS image with the std port: everything of `crew::ffi`, and connections on threads of
//! `std::thread`, whose cost per creation the image prints.

pub use crew::ffi::*;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::Builder;

/// Stacks in bytes, as in `rtems/app/churn.c`.
const STACKS: [usize; 3] = [65_536, 32_768, 32_768];

/// One connection on three threads that are made for it, and joined. How many of them did their
/// job.
#[unsafe(no_mangle)]
pub extern "C" fn std_connection() -> u32 {
    let done = Arc::new(AtomicU32::new(0));
    let threads = STACKS.map(|stack| {
        let done = done.clone();
        Builder::new().name("conn".to_owned()).stack_size(stack).spawn(move || {
            done.fetch_add(1, Relaxed);
        })
    });
    for thread in threads.into_iter().flatten() {
        let _ = thread.join();
    }
    done.load(Relaxed)
}

/// Whether a panic on a thread is caught, and told to its joiner.
#[unsafe(no_mangle)]
pub extern "C" fn std_panic_is_caught() -> bool {
    std::panic::set_hook(Box::new(|_| ())); // a panic that is expected prints nothing
    let panics = Builder::new().stack_size(STACKS[0]).spawn(|| panic!("expected"));
    panics.is_ok_and(|thread| thread.join().is_err())
}
