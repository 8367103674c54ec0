// SPDX-License-Identifier: MIT OR Apache-2.0
//! What differs on Linux: a futex is the event, so there is no kernel object to run out of.

use crate::port::{Event, MemoryAnswer, Target};
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::ptr;

pub(super) const TARGET: Target = Target::Host;

const EMPTY: u32 = 0;
const POSTED: u32 = 1;
/// Nothing posted, and a waiter sleeps: only then does a post make a system call.
const SLEEPING: u32 = 2;

/// The word is all there is.
pub(super) fn event_create(_event: &Event) -> Result<(), i32> {
    Ok(())
}

/// After a yield in vain; found by trying, see csrc/posix/event_futex.h.
const WAITS_WITHOUT_YIELD: usize = 3;

fn take(event: &Event) -> bool {
    event.word.compare_exchange(POSTED, EMPTY, AcqRel, Acquire).is_ok()
}

/// Takes a post if there is one, else sleeps until one comes or the time is over.
/// # Safety
/// None is needed here; other targets' need the event to have been made.
pub(super) unsafe fn event_wait(event: &Event, timeout_ms: u32) -> bool {
    if take(event) || timeout_ms > 0 && yield_first(event) {
        return true;
    }
    // Says so before it sleeps; a post in between leaves POSTED, and the sleep ends at once.
    let _ = event.word.compare_exchange(EMPTY, SLEEPING, Relaxed, Relaxed);
    let timeout = libc::timespec {
        tv_sec: (timeout_ms / 1000) as libc::time_t,
        tv_nsec: (timeout_ms % 1000 * 1_000_000) as libc::c_long,
    };
    // SAFETY: the word lives as long as the process, `timeout` as long as the call; the kernel only
    // reads both. It returns at once if the word is no longer SLEEPING, and a port may return
    // early.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            event.word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            SLEEPING,
            &raw const timeout,
        );
    }
    take(event)
}

/// Before it sleeps, a thread lets those that are ready on its CPU at its own priority go first. If
/// its partner is one of them, it posts to a thread that is awake, and neither has to sleep or to
/// be woken. One call, which returns at once if no other thread is there. Only under SCHED_FIFO:
/// elsewhere a yield can cost a whole time slice. The event's `object` counts the waits that go
/// without.
fn yield_first(event: &Event) -> bool {
    let waits = event.object.load(Relaxed).addr();
    if waits > 0 {
        event.object.store(ptr::without_provenance_mut(waits - 1), Relaxed);
        return false;
    }
    // Miri does not know the call that tells.
    if cfg!(miri) || !thread_is_fifo() {
        return false;
    }
    // SAFETY: a plain call.
    unsafe { libc::sched_yield() };
    if take(event) {
        return true;
    }
    event.object.store(ptr::without_provenance_mut(WAITS_WITHOUT_YIELD), Relaxed);
    false
}

fn thread_is_fifo() -> bool {
    let mut policy = 0;
    let mut param = libc::sched_param { sched_priority: 0 };
    // SAFETY: both are ours, and the calling thread exists.
    let error = unsafe {
        libc::pthread_getschedparam(libc::pthread_self(), &raw mut policy, &raw mut param)
    };
    error == 0 && policy == libc::SCHED_FIFO
}

/// # Safety
/// As for `event_wait`.
pub(super) unsafe fn event_post(event: &Event) {
    if event.word.swap(POSTED, AcqRel) != SLEEPING {
        return; // the taker of the post, this one or an earlier one, sees what led to it
    }
    // SAFETY: the word lives as long as the process; FUTEX_WAKE only uses its address.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            event.word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        );
    }
}

/// The coarse clock: 4 ms steps are fine for ages and time-outs, and it costs a few nanoseconds.
pub(super) fn clock_ms() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec of ours. CLOCK_MONOTONIC_COARSE exists since Linux 2.6.32.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Overcommit answers yes to anything; there is nothing that could be believed.
pub(super) fn memory_has(_bytes: usize) -> MemoryAnswer {
    MemoryAnswer::CannotTell
}

/// Maps 0..=99 on SCHED_FIFO's range where the process may; elsewhere the thread stays as it is.
pub(super) fn set_priority(priority: u32) {
    // SAFETY: plain calls on the calling thread, with a sched_param of ours, for which all zeros is
    // a value. Whether they succeed does not matter.
    unsafe {
        let min = libc::sched_get_priority_min(libc::SCHED_FIFO);
        let max = libc::sched_get_priority_max(libc::SCHED_FIFO);
        let mut param: libc::sched_param = core::mem::zeroed();
        param.sched_priority = min + (max - min) * priority as libc::c_int / 99;
        libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_FIFO, &raw const param);
    }
}
