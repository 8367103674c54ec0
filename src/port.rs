// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a target must offer. The core knows no operating system (P8); everything it needs is here.
//!
//! A port makes threads that run the worker loop: ask [`Member::next`], wait or run as told, report
//! with [`Member::done`]; and, however the thread ends, call [`Member::exited`] once from an exit
//! hook that cannot be skipped. In a C image that loop is C, so that no Rust frame is live while a
//! job runs or a worker waits (P7).
//!
//! Crew trusts a port with memory, and a port is trusted with threads, jobs and events. So what
//! only a port may do is unsafe, and safe code cannot say it. A port is not made without a promise:
//! ```compile_fail,E0200
//! use crew::port::*;
//! struct Mine;
//! impl Port for Mine {
//! #    fn target(&self) -> Target { Target::Host }
//! #    fn thread_overhead_bytes(&self) -> usize { 0 }
//! #    fn thread_create(&self, _: &ThreadSpec<'_>) -> Result<usize, i32> { Err(1) }
//! #    unsafe fn thread_reap(&self, _: usize) -> bool { true }
//! #    fn event_create(&self, _: &'static Event) -> Result<(), i32> { Ok(()) }
//! #    unsafe fn event_wait(&self, _: &'static Event, _: u32) -> bool { false }
//! #    unsafe fn event_post(&self, _: &'static Event) {}
//! #    fn clock_ms(&self) -> u64 { 0 }
//! #    fn memory_has(&self, _: usize) -> MemoryAnswer { MemoryAnswer::CannotTell }
//! #    fn log(&self, _: Severity, _: &str) {}
//! }
//! ```
//! A worker's loop is its thread's alone:
//! ```compile_fail,E0133
//! fn f(member: crew::port::Member) { let _ = member.next(); }
//! ```
//! ```compile_fail,E0133
//! fn f(member: crew::port::Member) { member.done(crew::Outcome::Returned, 0); }
//! ```
//! ```compile_fail,E0133
//! fn f(member: crew::port::Member) { member.exited(); }
//! ```
//! A job is called once, by that loop:
//! ```compile_fail,E0133
//! fn f(next: crew::port::Next) {
//!     if let crew::port::Next::Run { function, argument } = next {
//!         function(argument);
//!     }
//! }
//! ```
//! A number is no thread, and a new event is none of the port's yet:
//! ```compile_fail,E0133
//! use crew::{port::Port, shim::PORT};
//! PORT.thread_reap(0x1000);
//! ```
//! ```compile_fail,E0133
//! use crew::{port::{Event, Port}, shim::PORT};
//! static EVENT: Event = Event::new();
//! PORT.event_post(&EVENT);
//! ```

#[cfg(test)]
pub(crate) mod still;

use crate::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{Acquire, Release},
};
use core::any::Any;
use core::ffi::c_void;

/// Which system the process runs on. Every figure that was measured on one target is chosen by an
/// exhaustive match on this, so that a new target does not compile until someone decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Target {
    /// A host with virtual memory and an operating system that can refuse: Linux.
    Host = 0,
    /// RTEMS.
    Rtems = 1,
    /// A VxWorks real-time process.
    VxWorks = 2,
}

impl Target {
    /// The budget that stands when no operator chose one, in MiB; `None` is unbounded.
    ///
    /// 160 MiB: a VxWorks guest of about 958 MB died at set 46 (about 230 MiB) under a budget of
    /// 320 MiB, and under 160 MiB refused at set 32 and went on serving. RTEMS has the same kind of
    /// wall (one heap for everything), so it has the same default. A host has none.
    pub const fn default_budget_mib(self) -> Option<u32> {
        match self {
            Target::Host => None,
            Target::Rtems | Target::VxWorks => Some(160),
        }
    }
}

/// How much a log line matters to an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Severity {
    /// For the record.
    Info = 0,
    /// Worth a look.
    Minor = 1,
    /// Something was lost or limited.
    Major = 2,
}

/// The target's answer to "do you have this many bytes?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAnswer {
    /// It has.
    Yes,
    /// It has not; the words for what refused, to be put after "the target".
    No(&'static str),
    /// There is nothing on this target that could tell.
    CannotTell,
}

/// What a thread shall be.
#[derive(Clone, Copy, Debug)]
pub struct ThreadSpec<'a> {
    /// Its name, shorter than [`crate::limits::NAME_BYTES`].
    pub name: &'a str,
    /// Its stack in bytes, between [`crate::limits::STACK_MIN`] and [`crate::limits::STACK_MAX`].
    pub stack_bytes: usize,
    /// Its priority, 0 (lowest) to 99, on EPICS' scale.
    pub priority: u32,
    /// The worker it is.
    pub member: Member,
}

/// What a target must offer. Functions may be called from any thread; none may call back into Crew
/// (but for the threads it makes), and none may block except [`Port::event_wait`]: not for another
/// thread's end, not for the reader of a log.
///
/// # Safety
/// Crew trusts a port with memory. An implementor promises that each thread it makes runs the loop
/// of its own [`Member`] and no other's, that its exit hook comes once and last, that a thread is
/// gone, its stack included, when [`Port::thread_reap`] says so, and that [`Port::event_wait`]
/// answers "posted" only for a post.
pub unsafe trait Port: Sync {
    /// Which target this is.
    fn target(&self) -> Target;

    /// What one thread costs beyond its declared stack, in bytes, when this port makes it.
    fn thread_overhead_bytes(&self) -> usize;

    /// Makes a thread that runs the worker loop for `spec.member`. The number that comes back names
    /// the thread to this port. On failure nothing is left of it.
    ///
    /// # Errors
    /// The system's error number.
    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32>;

    /// Called once the thread's exit hook has begun: gives back what is left of the thread (joins
    /// it) if it has ended. True: it is gone, its stack included. False: not yet, ask again: what
    /// others do at a thread's end may come after the hook and take its time. A port whose system
    /// has only a join that waits lends the thread the caller's priority while it does.
    ///
    /// # Safety
    /// [`Port::thread_create`] of this port gave the number, this call has not answered "gone" for
    /// it, and no other thread asks for the same one meanwhile.
    unsafe fn thread_reap(&self, thread: usize) -> bool;

    /// Whether the thread was stopped for good by its system (a suspended task) and will not
    /// return.
    ///
    /// # Safety
    /// [`Port::thread_create`] of this port gave the number, and it is not reaped before this
    /// returns.
    unsafe fn thread_suspended(&self, _thread: usize) -> bool {
        false
    }

    /// The most stack the thread has used so far, in bytes, where the target can tell.
    ///
    /// # Safety
    /// As for [`Port::thread_suspended`].
    unsafe fn stack_used(&self, _thread: usize) -> Option<usize> {
        None
    }

    /// Makes whatever kernel object `event` needs. Called once in an event's life, for at most
    /// [`crate::limits::MAX_EVENTS`] events; an event is never destroyed.
    ///
    /// # Errors
    /// The system's error number; it may be asked again later.
    fn event_create(&self, event: &'static Event) -> Result<(), i32>;

    /// Waits until the event is posted, and takes the post; or until `timeout_ms` is over. True: it
    /// was posted. May return early without a post.
    ///
    /// # Safety
    /// [`Port::event_create`] of this port has succeeded for the event.
    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool;

    /// Posts the event: one waiter, present or next, goes on. Posts may coalesce. Never blocks.
    ///
    /// # Safety
    /// As for [`Port::event_wait`].
    unsafe fn event_post(&self, event: &'static Event);

    /// Milliseconds of a clock that never goes back.
    fn clock_ms(&self) -> u64;

    /// Whether the target has `bytes` in one piece for thread stacks right now. A stack that comes
    /// free only when the next thread is made (RTEMS) is freed before the answer: otherwise a pool
    /// that was trimmed is refused for ever. Must be cheap: it is asked at boot, and for every
    /// thread of a growth.
    fn memory_has(&self, bytes: usize) -> MemoryAnswer;

    /// Says one line to the operator. Must not allocate after boot, nor wait: a line that would
    /// have to wait is queued, or lost and counted.
    fn log(&self, severity: Severity, text: &str);
}

/// A place for one thread to wait: an atomic word, and a pointer to a kernel object where the
/// target has no futex. 16 bytes. Lives in Crew's tables for as long as the process, so that a late
/// post can never reach freed memory.
#[derive(Debug)]
#[repr(C)]
pub struct Event {
    /// The port's own word.
    pub word: AtomicU32,
    made: AtomicU32,
    /// The port's own object; null until made, and for ports that need none.
    pub object: AtomicPtr<c_void>,
}

impl Event {
    /// An event that has no kernel object yet.
    #[allow(clippy::new_without_default)] // An event that nothing prepares is no use by default.
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            made: AtomicU32::new(0),
            object: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Makes the kernel object if that has not been done. Needs: the caller owns the event's slot.
    pub(crate) fn prepare(&'static self, port: &dyn Port) -> Result<(), i32> {
        if self.made.load(Acquire) == 0 {
            port.event_create(self)?;
            self.made.store(1, Release);
        }
        Ok(())
    }

    /// Whether the kernel object is still to be made.
    pub(crate) fn is_missing(&self) -> bool {
        self.made.load(Acquire) == 0
    }

    /// Posts it. Needs: `port` is the process's, which has prepared it.
    #[inline(always)]
    pub(crate) fn post(&'static self, port: &dyn Port) {
        debug_assert!(!self.is_missing(), "posted before it was made");
        // SAFETY: a process has one port, and prepares an event of its tables with it before any
        // thread can come to the event: waiters' at boot, workers' and job cells' in growth.
        unsafe { port.event_post(self) }
    }

    /// Waits for it. Needs: as for [`Self::post`].
    #[inline(always)]
    pub(crate) fn wait(&'static self, port: &dyn Port, timeout_ms: u32) -> bool {
        debug_assert!(!self.is_missing(), "waited for before it was made");
        // SAFETY: as in `post`.
        unsafe { port.event_wait(self, timeout_ms) }
    }
}

/// A C function, as a job.
///
/// # Safety
/// It is called once, with the argument that came with it, on the thread of the worker it came to.
pub type Function = unsafe extern "C" fn(*mut c_void) -> i32;

/// What a worker shall do now.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// Call `function(argument)`, then report with [`Member::done`].
    Run {
        /// The job.
        function: Function,
        /// Its argument.
        argument: *mut c_void,
    },
    /// Wait for `event`, at most `timeout_ms`, then ask again.
    Wait {
        /// The worker's own event.
        event: &'static Event,
        /// The bound, in ms.
        timeout_ms: u32,
    },
    /// End the thread.
    Stop,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Outcome {
    /// It returned; its value counts.
    Returned = 0,
    /// It panicked or threw. The worker lives.
    Failed = 1,
    /// Its thread ended inside it.
    Died = 2,
    /// It was never begun: its worker was gone.
    NotRun = 3,
}

impl Outcome {
    pub(crate) const fn from_u32(n: u32) -> Self {
        match n {
            0 => Outcome::Returned,
            1 => Outcome::Failed,
            2 => Outcome::Died,
            _ => Outcome::NotRun,
        }
    }
}

/// A worker as its own thread sees it: what a port's worker loop calls. A value that can be copied
/// to the new thread.
#[derive(Clone, Copy)]
pub struct Member {
    /// The process that the worker is of; only `crew.rs` knows its type.
    pub(crate) process: &'static (dyn Any + Send + Sync),
    pub(crate) worker: usize,
}

impl Member {
    /// The worker's number, which [`crate::Crew::member`] turns back into a `Member`: for ports
    /// whose threads start with a number.
    pub fn index(self) -> usize {
        self.worker
    }
}

impl core::fmt::Debug for Member {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Member").field(&self.worker).finish()
    }
}
