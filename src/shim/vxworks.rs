// SPDX-License-Identifier: MIT OR Apache-2.0
//! What differs in a VxWorks real-time process: events are native binary semaphores, made before
//! the thread that waits on them; a mapping is the memory question. Compiled, and run on Linux with
//! stand-ins for VxWorks' functions (`vxworks/README.md`); not run on VxWorks.

/// What a std thread takes beyond its stack. Three images that differed only in their stacks met
/// the wall at 47, 59 and 80 clients with 3, 2 and 1 MiB declared each; 1 MiB more per thread puts
/// the three walls within 2.1 % of each other (246.4, 247.5 and 251.7 MB). It is std's and its
/// allocator's: C threads there cost exactly their stack.
pub const THREAD_OVERHEAD_BYTES: usize = 1 << 20;

/// The words for what `memory_has` asked.
pub const MEMORY_BASIS: &str = "has no unused address range of that size left";

/// EPICS' priority 0 on the POSIX scale of VxWorks, where 255 is highest. It is the native 199,
/// which EPICS base uses there; 99 becomes the native 100, below the network's task at 50.
#[cfg(any(target_os = "vxworks", test))]
const PRIORITY_ZERO: u32 = 255 - 199;

/// Clock ticks that last at least `timeout_ms`: rounded up, and one for the tick that has begun.
#[cfg(any(target_os = "vxworks", test))]
fn ticks(timeout_ms: u32, per_second: u32) -> u32 {
    if timeout_ms == 0 {
        return 0; // does not wait
    }
    let ticks = (u64::from(timeout_ms) * u64::from(per_second)).div_ceil(1000) + 1;
    // The largest number would be for ever; ending early is allowed.
    ticks.min(i32::MAX as u64) as u32
}

#[cfg(target_os = "vxworks")]
pub(super) use system::*;

#[cfg(target_os = "vxworks")]
mod system {
    use super::{MEMORY_BASIS, PRIORITY_ZERO, ticks};
    use crate::port::{Event, MemoryAnswer, Target};
    use crate::sync::atomic::Ordering::{Acquire, Release};
    use core::ffi::{c_int, c_void};

    pub const TARGET: Target = Target::VxWorks;

    const SEM_Q_FIFO: c_int = 0;
    const SEM_EMPTY: c_int = 0;

    unsafe extern "C" {
        // semLib.h: a SEM_ID is a pointer in a real-time process.
        fn semBCreate(options: c_int, initial: c_int) -> *mut c_void;
        fn semTake(semaphore: *mut c_void, timeout: libc::_Vx_ticks_t) -> c_int;
        fn semGive(semaphore: *mut c_void) -> c_int;
        // sysLib.h
        fn sysClkRateGet() -> c_int;
    }

    /// Unlike a pthread mutex or condition variable, whose semaphore is made at the first lock or
    /// wait, this one is there when the call has returned, or the call says no.
    pub fn event_create(event: &Event) -> Result<(), i32> {
        // SAFETY: makes a semaphore of its own, or answers NULL and sets the error number.
        let (semaphore, error) = unsafe { (semBCreate(SEM_Q_FIFO, SEM_EMPTY), libc::errnoGet()) };
        if semaphore.is_null() {
            return Err(error);
        }
        event.object.store(semaphore, Release);
        Ok(())
    }

    /// Takes a post if there is one, else sleeps until one comes or the time is over.
    /// # Safety
    /// `event_create` has succeeded for the event.
    pub unsafe fn event_wait(event: &Event, timeout_ms: u32) -> bool {
        // SAFETY: `event_create` made the semaphore, and it is never deleted.
        unsafe {
            let ticks = ticks(timeout_ms, sysClkRateGet().max(1) as u32);
            semTake(event.object.load(Acquire), ticks) == libc::OK
        }
    }

    /// Giving a semaphore that is full already changes nothing: that is how posts coalesce.
    /// # Safety
    /// As for `event_wait`.
    pub unsafe fn event_post(event: &Event) {
        // SAFETY: as in `event_wait`.
        unsafe { semGive(event.object.load(Acquire)) };
    }

    pub fn clock_ms() -> u64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` is a timespec of ours.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
    }

    /// One mapping without access, unmapped at once: the only figure there that tracks the wall. It
    /// under-reads (192 MiB confirmed where 254 could be had in pieces), which is the safe side.
    pub fn memory_has(bytes: usize) -> MemoryAnswer {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the system's choice touches nothing of ours, and
        // is removed before any thread knows it.
        unsafe {
            let range = libc::mmap(core::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
            if range == libc::MAP_FAILED {
                return MemoryAnswer::No(MEMORY_BASIS);
            }
            libc::munmap(range, bytes);
        }
        MemoryAnswer::Yes
    }

    /// The console's driver takes a line in the time that its bytes need.
    pub fn write_to_standard_error(parts: &[libc::iovec; 4]) -> Option<usize> {
        crate::shim::write_all_parts(libc::STDERR_FILENO, parts)
    }

    /// For the calling thread.
    pub fn set_priority(priority: u32) {
        // SAFETY: plain calls on the calling thread, with a sched_param of ours; zeros are valid.
        unsafe {
            let mut param: libc::sched_param = core::mem::zeroed();
            param.sched_priority = (PRIORITY_ZERO + priority) as c_int;
            libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_FIFO, &raw const param);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_lasts_at_least_its_time_and_has_an_end() {
        assert_eq!(ticks(0, 60), 0);
        assert_eq!(ticks(1, 60), 2);
        assert_eq!(ticks(100, 60), 7, "six ticks, and the one that has begun");
        assert_eq!(ticks(101, 60), 8);
        assert_eq!(ticks(u32::MAX, 1000), i32::MAX as u32, "not WAIT_FOREVER");
    }

    #[test]
    fn priorities_are_those_of_epics_base() {
        // The native scale, where 0 is highest, is 255 minus the POSIX one.
        assert_eq!(255 - PRIORITY_ZERO, 199);
        assert_eq!(255 - (PRIORITY_ZERO + crate::limits::PRIORITY_MAX), 100);
    }
}
