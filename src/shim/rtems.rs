// SPDX-License-Identifier: MIT OR Apache-2.0
//! RTEMS: its measured figure, and its memory question. On this target a C image makes its threads
//! in C; this file serves Rust threads there.

/// What a std thread holds beyond its stack while it lives. Measured on a 256 MB Zynq: 30 CA clients
/// took 1,167,383 B each where their two stacks had declared 1,572,864, so the declared stack covers
/// everything; charging VxWorks' figure there would cost three quarters of the capacity.
pub const THREAD_OVERHEAD_BYTES: usize = 0;

/// The words for what `memory_has` asked.
pub const MEMORY_BASIS: &str = "has less than that free in the heap its thread stacks come from";

#[cfg(target_os = "rtems")]
mod question {
    use super::MEMORY_BASIS;
    use crate::port::MemoryAnswer;

    unsafe extern "C" {
        /// On RTEMS 7 the largest free block of the heap, on older releases the total; either way it
        /// costs no allocation.
        fn malloc_free_space() -> usize;
    }

    pub(in super::super) fn memory_has(bytes: usize) -> MemoryAnswer {
        // SAFETY: takes nothing, returns a number, may be called from any thread.
        if unsafe { malloc_free_space() } >= bytes {
            MemoryAnswer::Yes
        } else {
            MemoryAnswer::No(MEMORY_BASIS)
        }
    }
}
#[cfg(target_os = "rtems")]
pub(super) use question::memory_has;
