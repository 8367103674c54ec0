// SPDX-License-Identifier: MIT OR Apache-2.0
//! The std port: threads made by `std::thread`, for hosts and Rust users. The only place in the
//! crate with `std` and `libc`. A C image makes its threads in C instead (`csrc/`).
//!
//! A job that ends its thread by `pthread_exit` or is cancelled is supported where the loop is C;
//! here there are Rust frames below the job, and glibc aborts the process (P7).

#[cfg(target_os = "linux")]
pub mod fleet;
#[cfg(target_os = "linux")]
pub mod readiness;
pub mod rtems;
pub mod vxworks;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "rtems")]
use rtems as system;
#[cfg(target_os = "vxworks")]
use vxworks as system;
#[cfg(not(any(target_os = "linux", target_os = "rtems", target_os = "vxworks")))]
compile_error!("the std port knows Linux, RTEMS and VxWorks; build with --no-default-features");

use crate::port::{Event, Member, MemoryAnswer, Next, Outcome, Port, Severity, Target, ThreadSpec};
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::fmt::Write;
use std::cell::Cell;
use std::thread::{Builder, JoinHandle};

/// What one thread made by `std::thread` costs beyond its declared stack, in bytes.
pub const fn thread_overhead_bytes(target: Target) -> usize {
    match target {
        // A host's kernel gives memory as it is touched; the stack is the figure that counts.
        Target::Host => 0,
        Target::Rtems => rtems::THREAD_OVERHEAD_BYTES,
        Target::VxWorks => vxworks::THREAD_OVERHEAD_BYTES,
    }
}

/// The std port of the system that this was built for, with that system's measured overhead.
pub static PORT: StdPort = StdPort::with_overhead(thread_overhead_bytes(system::TARGET));

/// The operator's budget on a host, for [`crate::Budget::Text`]: the environment variable
/// `CREW_BUDGET_MIB`.
pub fn budget_from_environment() -> Option<String> {
    std::env::var("CREW_BUDGET_MIB").ok()
}

/// See [`PORT`].
#[derive(Debug)]
pub struct StdPort {
    thread_overhead_bytes: usize,
}

impl StdPort {
    /// A std port that charges each thread `thread_overhead_bytes` beyond its stack, for a system
    /// where the measured figure of [`PORT`] does not hold.
    pub const fn with_overhead(thread_overhead_bytes: usize) -> Self {
        Self { thread_overhead_bytes }
    }
}

// SAFETY: each thread runs `work` with its own member, its exit hook is a thread-local's drop, and
// a reaped thread has been joined.
unsafe impl Port for StdPort {
    fn target(&self) -> Target {
        system::TARGET
    }

    fn thread_overhead_bytes(&self) -> usize {
        self.thread_overhead_bytes
    }

    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        let (member, priority) = (spec.member, spec.priority);
        let thread = Builder::new()
            .name(spec.name.to_owned())
            .stack_size(spec.stack_bytes)
            .spawn(move || {
                EXIT_HOOK.with(|hook| hook.0.set(Some(member)));
                system::set_priority(priority);
                work(member);
            })
            .map_err(|error| error.raw_os_error().unwrap_or(0))?;
        Ok(Box::into_raw(Box::new(thread)).expose_provenance())
    }

    unsafe fn thread_reap(&self, thread: usize) -> bool {
        let thread = core::ptr::with_exposed_provenance_mut::<JoinHandle<()>>(thread);
        // SAFETY: `thread_create` made it, of a box, and exposed it. The caller promises to be
        // alone with it, and that it has not been told to be gone.
        if !unsafe { (*thread).is_finished() } {
            return false;
        }
        // SAFETY: as above; we answer "gone", so no caller uses the pointer any more.
        let thread = unsafe { Box::from_raw(thread) };
        // The exit hook has run, so this ends within a few instructions of the other thread. A
        // worker that panicked outside its jobs is accounted for already.
        let _ = thread.join();
        true
    }

    fn event_create(&self, event: &'static Event) -> Result<(), i32> {
        system::event_create(event)
    }

    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { system::event_wait(event, timeout_ms) }
    }

    unsafe fn event_post(&self, event: &'static Event) {
        // SAFETY: the caller's promise.
        unsafe { system::event_post(event) }
    }

    fn clock_ms(&self) -> u64 {
        system::clock_ms()
    }

    fn memory_has(&self, bytes: usize) -> MemoryAnswer {
        system::memory_has(bytes)
    }

    fn log(&self, severity: Severity, text: &str) {
        let severity = match severity {
            Severity::Major => "crew: major: ",
            Severity::Minor => "crew: minor: ",
            Severity::Info => "crew: info: ",
        };
        let lost = LINES_LOST.swap(0, Relaxed);
        let mut told = heapless::String::<64>::new();
        if lost > 0 {
            // 64 bytes are enough for the words and any count, so this cannot fail.
            let _ = writeln!(told, "crew: minor: lines lost before this one: {lost}");
        }
        let parts = [told.as_str(), severity, text, "\n"].map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        });
        let whole: usize = parts.iter().map(|part| part.iov_len).sum();
        // Not `eprintln!`: std's lock around standard error is a mutex (P6).
        if system::write_to_standard_error(&parts) != Some(whole) {
            LINES_LOST.fetch_add(lost + 1, Relaxed);
        }
    }
}

/// Lines that standard error did not take at once, and that no later line has told of yet.
static LINES_LOST: AtomicU32 = AtomicU32::new(0);

/// All parts in one system call; how many bytes were written.
fn write_all_parts(file: libc::c_int, parts: &[libc::iovec]) -> Option<usize> {
    // SAFETY: `log` alone makes parts, of texts; they are readable for their lengths, and are only
    // read.
    let written = unsafe { libc::writev(file, parts.as_ptr(), parts.len() as libc::c_int) };
    usize::try_from(written).ok()
}

/// Runs the exit accounting when its thread ends, however it ends.
struct ExitHook(Cell<Option<Member>>);

impl Drop for ExitHook {
    fn drop(&mut self) {
        if let Some(member) = self.0.get() {
            // SAFETY: this is the worker's own thread, and the end of it.
            unsafe { member.exited() };
        }
    }
}

thread_local! {
    static EXIT_HOOK: ExitHook = const { ExitHook(Cell::new(None)) };
}

/// The worker loop.
fn work(member: Member) {
    loop {
        // SAFETY: this is the worker's own thread; each answer is done before the next one is asked
        // for, and the exit hook comes after this function.
        match unsafe { member.next() } {
            Next::Run { function, argument } => {
                // SAFETY: once, with its argument, on its worker's thread.
                let value = unsafe { function(argument) };
                // SAFETY: as for `next`; the function has returned.
                unsafe { member.done(Outcome::Returned, value) };
            }
            Next::Wait { event, timeout_ms } => {
                // SAFETY: the core prepared it with this port.
                unsafe { system::event_wait(event, timeout_ms) };
            }
            Next::Stop => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_charged_its_own_figure() {
        assert_eq!(thread_overhead_bytes(Target::Host), 0);
        assert_eq!(thread_overhead_bytes(Target::Rtems), 0);
        assert_eq!(thread_overhead_bytes(Target::VxWorks), 1 << 20);
    }
}
