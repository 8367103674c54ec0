// SPDX-License-Identifier: MIT OR Apache-2.0
//! What differs on Linux: a futex is the event, so there is no kernel object to run out of.

use crate::port::{Event, MemoryAnswer, Target};
use crate::sync::atomic::AtomicU32;
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

/// The highest priority of SCHED_FIFO that roles are spread up to; 0: none.
static FIFO_MOST: AtomicU32 = AtomicU32::new(NOT_KNOWN);
const NOT_KNOWN: u32 = u32::MAX;

/// Whether the calling thread may have this priority; it has it then.
fn set_fifo(priority: libc::c_int) -> bool {
    // SAFETY: a plain call on the calling thread, with a sched_param of ours, for which all zeros
    // is a value.
    unsafe {
        let mut param: libc::sched_param = core::mem::zeroed();
        param.sched_priority = priority;
        libc::pthread_setschedparam(libc::pthread_self(), libc::SCHED_FIFO, &raw const param) == 0
    }
}

/// The highest priority that `may` permits of `least` to `most`, or 0. Tried from above, by halves.
fn highest(least: i32, most: i32, may: impl Fn(i32) -> bool) -> i32 {
    let (mut permitted, mut refused, mut next) = (least - 1, most + 1, most);
    while refused - permitted > 1 {
        if may(next) {
            permitted = next
        } else {
            refused = next
        }
        next = permitted + (refused - permitted) / 2;
    }
    if permitted < least { 0 } else { permitted }
}

/// Spreads 0..=99 over what the process may use of SCHED_FIFO; without any the thread stays as it
/// is. What is permitted may end in the middle of the range (RLIMIT_RTPRIO): if the roles above
/// were left without SCHED_FIFO, those below would go before them. The first thread tries how far.
pub(super) fn set_priority(priority: u32) {
    // SAFETY: plain calls.
    let (least, most) = unsafe {
        (
            libc::sched_get_priority_min(libc::SCHED_FIFO),
            libc::sched_get_priority_max(libc::SCHED_FIFO),
        )
    };
    let mut permitted = FIFO_MOST.load(Relaxed);
    if permitted == NOT_KNOWN {
        let found = highest(least, most, set_fifo) as u32;
        // Another thread may have tried meanwhile: one answer holds for all.
        permitted = match FIFO_MOST.compare_exchange(NOT_KNOWN, found, Relaxed, Relaxed) {
            Ok(_) => found,
            Err(theirs) => theirs,
        };
    }
    if permitted > 0 {
        // Whether it succeeds does not matter: the permission may have been taken away since.
        set_fifo(super::rtems::spread(priority, least, permitted as i32));
    }
}

/// Without waiting for the other end; how many bytes were written. See csrc/posix/log_linux.h.
pub(super) fn write_to_standard_error(parts: &[libc::iovec; 4]) -> Option<usize> {
    const STDERR: libc::c_int = libc::STDERR_FILENO;
    // SAFETY: structs of ours, for which all zeros is a value, that live as long as the calls; the
    // parts are readable, and are only read.
    unsafe {
        let mut what: libc::stat = core::mem::zeroed();
        if libc::fstat(STDERR, &raw mut what) != 0 {
            return None;
        }
        match what.st_mode & libc::S_IFMT {
            libc::S_IFSOCK => {
                let mut message: libc::msghdr = core::mem::zeroed();
                message.msg_iov = parts.as_ptr().cast_mut();
                message.msg_iovlen = parts.len() as _;
                let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
                usize::try_from(libc::sendmsg(STDERR, &raw const message, flags)).ok()
            }
            libc::S_IFIFO | libc::S_IFCHR => {
                let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
                let again = libc::open(c"/proc/self/fd/2".as_ptr(), flags);
                if again >= 0 {
                    let written = super::write_all_parts(again, parts);
                    libc::close(again);
                    return written;
                }
                // It cannot be opened again: another user's, or no /proc.
                let mut ready = libc::pollfd { fd: STDERR, events: libc::POLLOUT, revents: 0 };
                let is_ready = libc::poll(&raw mut ready, 1, 0) == 1;
                (is_ready && ready.revents & libc::POLLOUT != 0)
                    .then(|| super::write_all_parts(STDERR, parts))
                    .flatten()
            }
            // A file. Opened once more it would have another place to write to.
            _ => super::write_all_parts(STDERR, parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::highest;

    #[test]
    fn the_range_ends_where_the_permission_does() {
        for end in [0, 1, 2, 30, 98, 99] {
            assert_eq!(highest(1, 99, |priority| priority <= end), end);
        }
    }
}
