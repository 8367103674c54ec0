// SPDX-License-Identifier: MIT OR Apache-2.0
//! VxWorks real-time processes: the measured figure, and the memory question.

/// What a std thread takes beyond its stack. Three images that differed only in their stacks met the
/// wall at 47, 59 and 80 clients with 3, 2 and 1 MiB declared each; 1 MiB more per thread puts the
/// three walls within 2.1 % of each other (246.4, 247.5 and 251.7 MB). It is std's and its
/// allocator's: C threads there cost exactly their stack.
pub const THREAD_OVERHEAD_BYTES: usize = 1 << 20;

/// The words for what `memory_has` asked.
pub const MEMORY_BASIS: &str = "has no unused address range of that size left";

#[cfg(target_os = "vxworks")]
mod question {
    use super::MEMORY_BASIS;
    use crate::port::MemoryAnswer;

    /// One mapping without access, unmapped at once: the only figure there that tracks the wall. It
    /// under-reads (192 MiB confirmed where 254 could be had in pieces), which is the safe side.
    pub(in super::super) fn memory_has(bytes: usize) -> MemoryAnswer {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the system's choice touches nothing of ours, and is
        // removed before anybody knows it.
        unsafe {
            let range = libc::mmap(core::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
            if range == libc::MAP_FAILED {
                return MemoryAnswer::No(MEMORY_BASIS);
            }
            libc::munmap(range, bytes);
        }
        MemoryAnswer::Yes
    }
}
#[cfg(target_os = "vxworks")]
pub(super) use question::memory_has;
