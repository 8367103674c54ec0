// SPDX-License-Identifier: MIT OR Apache-2.0
//! What differs on RTEMS: events are its self-contained binary semaphores, the largest free block
//! of the heap is the memory question. On this target a C image makes its threads in C; this file
//! serves Rust threads there.

/// What a std thread holds beyond its stack while it lives. Measured on a 256 MB Zynq: 30 CA
/// clients took 1,167,383 B each where their two stacks had declared 1,572,864, so the declared
/// stack covers everything; charging VxWorks' figure there would cost three quarters of the
/// capacity.
pub const THREAD_OVERHEAD_BYTES: usize = 0;

/// The words for what `memory_has` asked.
pub const MEMORY_BASIS: &str =
    "has no free block of that size in the heap its thread stacks come from";

/// Clock ticks that last at least `timeout_ms`: rounded up, and one for the tick that has begun.
#[cfg(any(target_os = "rtems", test))]
fn ticks(timeout_ms: u32, per_second: u32) -> u32 {
    let ticks = (u64::from(timeout_ms) * u64::from(per_second)).div_ceil(1000) + 1;
    ticks.min(u64::from(u32::MAX)) as u32
}

/// 0 to 99 on `least` to `most` of the system's scale, as the C port does.
#[cfg(any(target_os = "rtems", target_os = "linux", test))]
pub(super) fn spread(priority: u32, least: i32, most: i32) -> i32 {
    least + priority as i32 * (most - least) / crate::limits::PRIORITY_MAX as i32
}

#[cfg(target_os = "rtems")]
pub(super) use system::*;

#[cfg(target_os = "rtems")]
mod system {
    use super::{MEMORY_BASIS, spread, ticks};
    use crate::limits::MAX_EVENTS;
    use crate::port::{Event, MemoryAnswer, Target};
    use crate::sync::atomic::AtomicUsize;
    use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use core::cell::UnsafeCell;
    use core::ffi::c_int;

    pub const TARGET: Target = Target::Rtems;

    /// `struct _Semaphore_Control` of newlib's sys/lock.h, the same on one processor and on
    /// several. Zeros are a semaphore that nothing was posted to.
    #[repr(C)]
    struct Semaphore(UnsafeCell<[usize; 6]>);

    // SAFETY: only RTEMS looks inside, and it does so under its own locks.
    unsafe impl Sync for Semaphore {}

    /// `struct bintime` of sys/time.h; time_t has 64 bits.
    #[repr(C)]
    struct Bintime {
        seconds: i64,
        fraction: u64,
    }

    /// `struct sched_param` of sys/sched.h, of which only the first field matters here.
    #[repr(C, align(8))]
    struct SchedParam {
        priority: c_int,
        sporadic: [c_int; 11],
    }

    const SCHED_FIFO: c_int = 1;

    unsafe extern "C" {
        // sys/lock.h
        fn _Semaphore_Wait_timed_ticks(semaphore: *const Semaphore, ticks: u32) -> c_int;
        fn _Semaphore_Try_wait(semaphore: *const Semaphore) -> c_int;
        fn _Semaphore_Post_binary(semaphore: *const Semaphore);
        // rtems/rtems/clock.h
        fn rtems_clock_get_monotonic_coarse_bintime(now: *mut Bintime);
        fn rtems_clock_get_ticks_per_second() -> u32;
        // rtems/libcsupport.h, rtems/score/apimutex.h and threadimpl.h
        fn malloc_free_space() -> usize;
        fn _RTEMS_Lock_allocator();
        fn _RTEMS_Unlock_allocator();
        fn _Thread_Kill_zombies();
        // pthread.h, sched.h
        fn pthread_setschedparam(
            thread: libc::pthread_t,
            policy: c_int,
            param: *const SchedParam,
        ) -> c_int;
        fn sched_get_priority_min(policy: c_int) -> c_int;
        fn sched_get_priority_max(policy: c_int) -> c_int;
    }

    /// Static, and not allocated between the stacks of the sets that they are made for, where they
    /// would cut the heap in pieces.
    static SEMAPHORES: [Semaphore; MAX_EVENTS] =
        [const { Semaphore(UnsafeCell::new([0; 6])) }; MAX_EVENTS];
    static MADE: AtomicUsize = AtomicUsize::new(0);

    pub fn event_create(event: &Event) -> Result<(), i32> {
        // There is one for each event of the process's tables.
        let semaphore = SEMAPHORES.get(MADE.fetch_add(1, Relaxed)).ok_or(libc::ENOMEM)?;
        event.object.store(core::ptr::from_ref(semaphore).cast_mut().cast(), Release);
        Ok(())
    }

    /// Takes a post if there is one, else sleeps until one comes or the time is over.
    /// # Safety
    /// `event_create` has succeeded for the event.
    pub unsafe fn event_wait(event: &Event, timeout_ms: u32) -> bool {
        let semaphore = event.object.load(Acquire).cast_const().cast();
        // SAFETY: the caller's promise: `event_create` stored a semaphore, which lives as long as
        // the process.
        unsafe {
            match timeout_ms {
                0 => _Semaphore_Try_wait(semaphore) == 0,
                _ => {
                    let ticks = ticks(timeout_ms, rtems_clock_get_ticks_per_second());
                    _Semaphore_Wait_timed_ticks(semaphore, ticks) == 0
                }
            }
        }
    }

    /// # Safety
    /// As for `event_wait`.
    pub unsafe fn event_post(event: &Event) {
        // SAFETY: as in `event_wait`.
        unsafe { _Semaphore_Post_binary(event.object.load(Acquire).cast_const().cast()) };
    }

    /// To the last tick: ages and time-outs need no better.
    pub fn clock_ms() -> u64 {
        let mut now = Bintime { seconds: 0, fraction: 0 };
        // SAFETY: `now` is ours.
        unsafe { rtems_clock_get_monotonic_coarse_bintime(&raw mut now) };
        now.seconds as u64 * 1000 + ((now.fraction >> 32) * 1000 >> 32)
    }

    /// A thread that has ended keeps its stack until the next one is made; nothing that looks at
    /// free memory sees that stack, so it is freed first.
    pub fn memory_has(bytes: usize) -> MemoryAnswer {
        // SAFETY: plain calls, from a thread that may take the allocator's mutex as malloc does.
        let largest = unsafe {
            _RTEMS_Lock_allocator();
            _Thread_Kill_zombies();
            _RTEMS_Unlock_allocator();
            malloc_free_space()
        };
        if largest >= bytes { MemoryAnswer::Yes } else { MemoryAnswer::No(MEMORY_BASIS) }
    }

    /// The console's driver takes a line in the time that its bytes need.
    pub fn write_to_standard_error(parts: &[libc::iovec; 4]) -> Option<usize> {
        crate::shim::write_all_parts(libc::STDERR_FILENO, parts)
    }

    /// For the calling thread. std gives its threads no priority.
    pub fn set_priority(priority: u32) {
        // SAFETY: plain calls on the calling thread, with a sched_param of ours.
        unsafe {
            let least = sched_get_priority_min(SCHED_FIFO);
            let most = sched_get_priority_max(SCHED_FIFO);
            let param = SchedParam { priority: spread(priority, least, most), sporadic: [0; 11] };
            pthread_setschedparam(libc::pthread_self(), SCHED_FIFO, &raw const param);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_lasts_at_least_its_time_and_has_an_end() {
        assert_eq!(ticks(1, 100), 2);
        assert_eq!(ticks(100, 100), 11, "ten ticks, and the one that has begun");
        assert_eq!(ticks(101, 100), 12);
        assert_eq!(ticks(u32::MAX, 10_000), u32::MAX);
    }

    #[test]
    fn priorities_are_spread_over_the_systems_scale() {
        assert_eq!(spread(0, 1, 254), 1);
        assert_eq!(spread(50, 1, 254), 128);
        assert_eq!(spread(99, 1, 254), 254);
    }
}
