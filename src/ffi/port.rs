// SPDX-License-Identifier: MIT OR Apache-2.0
//! The port: what a C image offers.

use super::pointer::{read, sized32};
use super::report::with_c_text;
use super::status::CREW_BAD_PORT;
use crate::port::{Event, MemoryAnswer, Port, Severity, Target, ThreadSpec};
use crate::sync::atomic::AtomicU32;
use core::ffi::{CStr, c_char, c_void};

/// A host with virtual memory: Linux. Default budget: none.
pub const CREW_TARGET_HOST: u32 = 0;
/// RTEMS. Default budget: 160 MiB.
pub const CREW_TARGET_RTEMS: u32 = 1;
/// A VxWorks real-time process. Default budget: 160 MiB (a guest of about 958 MB died at about 230
/// MiB).
pub const CREW_TARGET_VXWORKS: u32 = 2;

/// A log line for the record.
pub const CREW_SEVERITY_INFO: i32 = 0;
/// A log line worth a look.
pub const CREW_SEVERITY_MINOR: i32 = 1;
/// A log line about something lost or limited.
pub const CREW_SEVERITY_MAJOR: i32 = 2;

/// A place for one thread to wait. Lives in Crew's tables as long as the process: a port makes its
/// object once and never destroys it.
#[repr(C)]
pub struct crew_event {
    /// The port's own; access it with atomic operations (a futex, for example). Begins as 0.
    pub word: u32,
    /// Crew's own.
    pub crew_private: u32,
    /// The port's own object. Begins as NULL.
    pub object: *mut c_void,
}

/// What a thread shall be.
#[repr(C)]
pub struct crew_thread_spec {
    /// Its name, shorter than CREW_NAME_BYTES. Valid during the call only.
    pub name: *const c_char,
    /// Its stack in bytes, CREW_STACK_MIN to CREW_STACK_MAX.
    pub stack_bytes: u32,
    /// 0 (lowest) to CREW_PRIORITY_MAX, on EPICS' scale.
    pub priority: u32,
    /// What the thread passes to the worker loop (crew_worker.h).
    pub worker: u32,
}

/// What a target must offer: a table of functions. Must live as long as the process. Functions may
/// be called from any thread. None may call back into Crew or block, except event_wait: not for
/// another thread's end, not for the reader of a log. Those that may be NULL say so.
#[repr(C)]
pub struct crew_port {
    /// sizeof(crew_port)
    pub size: u32,
    /// One of CREW_TARGET_...
    pub target: u32,
    /// What one thread costs beyond its declared stack, in bytes, when this port makes it. C
    /// threads: 0 on every target known.
    pub thread_overhead_bytes: usize,
    /// Passed to every function as its first argument; the port's own.
    pub context: *mut c_void,
    /// Makes a thread that runs the worker loop for spec->worker, and stores in *thread the number
    /// that names it to this port. Returns 0, or the system's error number and leaves nothing
    /// behind.
    pub thread_create: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            spec: *const crew_thread_spec,
            thread: *mut usize,
        ) -> i32,
    >,
    /// Called once the thread's exit hook has begun: joins it if it has ended. 1: it is gone, its
    /// stack included. 0: not yet, ask again: thread-specific destructors of others may still run
    /// for as long as they take. A port whose system has only a join that waits lends the thread
    /// the caller's priority while it does.
    pub thread_reap: Option<unsafe extern "C" fn(context: *mut c_void, thread: usize) -> i32>,
    /// 1: the thread was suspended by its system and will not return. May be NULL.
    pub thread_suspended: Option<unsafe extern "C" fn(context: *mut c_void, thread: usize) -> i32>,
    /// Makes what the event needs. Once per event, for CREW_MAX_EVENTS events at most in the life
    /// of the process. Returns 0, or the system's error number; it may be asked again later.
    pub event_create:
        Option<unsafe extern "C" fn(context: *mut c_void, event: *mut crew_event) -> i32>,
    /// Waits until the event is posted, and takes the post (1), or until the time is over (0). May
    /// return early with 0.
    pub event_wait: Option<
        unsafe extern "C" fn(context: *mut c_void, event: *mut crew_event, timeout_ms: u32) -> i32,
    >,
    /// Posts the event; posts may coalesce.
    pub event_post: Option<unsafe extern "C" fn(context: *mut c_void, event: *mut crew_event)>,
    /// Milliseconds of a clock that never goes back.
    pub clock_ms: Option<unsafe extern "C" fn(context: *mut c_void) -> u64>,
    /// Whether the target has that many bytes in one piece for thread stacks right now: 1 yes, 0
    /// no, -1 cannot tell. On 0, *basis is static text that says what refused and reads well after
    /// "the target". A stack that comes free only when the next thread is made (RTEMS) is freed
    /// before the answer. Must be cheap and must not allocate: it is asked for each thread of a
    /// growth.
    pub memory_has: Option<
        unsafe extern "C" fn(context: *mut c_void, bytes: usize, basis: *mut *const c_char) -> i32,
    >,
    /// The most stack the thread has used so far in bytes; 0: cannot tell. May be NULL.
    pub stack_used: Option<unsafe extern "C" fn(context: *mut c_void, thread: usize) -> usize>,
    /// Says one line (no newline in it) to the operator. Must not allocate after boot, nor wait: a
    /// line that would have to wait is queued, or lost and counted.
    pub log: Option<unsafe extern "C" fn(context: *mut c_void, severity: i32, text: *const c_char)>,
}

sized32!(crew_port);

// SAFETY: the contract of a port is that its functions may be called from any thread, and the table
// itself is only read.
unsafe impl Sync for crew_port {}

/// The port at `port`, if it is complete.
///
/// # Safety
/// `port` is NULL or points to a `crew_port` that lives as long as the process.
pub(super) unsafe fn checked(port: *const crew_port) -> Result<&'static dyn Port, i32> {
    // SAFETY: the caller's promise.
    let port: &'static crew_port = unsafe { read(port) }?;
    let complete = port.thread_create.is_some()
        && port.thread_reap.is_some()
        && port.event_create.is_some()
        && port.event_wait.is_some()
        && port.event_post.is_some()
        && port.clock_ms.is_some()
        && port.memory_has.is_some()
        && port.log.is_some();
    if complete && target_of(port.target).is_some() { Ok(port) } else { Err(CREW_BAD_PORT) }
}

fn target_of(number: u32) -> Option<Target> {
    match number {
        CREW_TARGET_HOST => Some(Target::Host),
        CREW_TARGET_RTEMS => Some(Target::Rtems),
        CREW_TARGET_VXWORKS => Some(Target::VxWorks),
        _ => None,
    }
}

/// C's view of an event.
pub(super) fn event_for_c(event: &'static Event) -> *mut crew_event {
    core::ptr::from_ref(event).cast_mut().cast()
}

// `Event` is `crew_event` with atomics.
const _: () = {
    assert!(size_of::<Event>() == size_of::<crew_event>());
    assert!(align_of::<Event>() == align_of::<crew_event>());
    assert!(core::mem::offset_of!(Event, object) == core::mem::offset_of!(crew_event, object));
    assert!(size_of::<AtomicU32>() == size_of::<u32>());
};

// SAFETY: this holds for every call below, too. `checked` found the function, and the port's author
// promises that it keeps to its contract, in C (see `crew_port`). A `None` answers as a target
// would that has nothing.
unsafe impl Port for crew_port {
    fn target(&self) -> Target {
        target_of(self.target).unwrap_or(Target::Host)
    }

    fn thread_overhead_bytes(&self) -> usize {
        self.thread_overhead_bytes
    }

    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        let Some(create) = self.thread_create else { return Err(0) };
        let mut name = [0u8; crate::limits::NAME_BYTES];
        for (to, from) in name[..crate::limits::NAME_BYTES - 1].iter_mut().zip(spec.name.bytes()) {
            *to = from;
        }
        let spec = crew_thread_spec {
            name: name.as_ptr().cast(),
            stack_bytes: spec.stack_bytes as u32,
            priority: spec.priority,
            worker: spec.member.index() as u32,
        };
        let mut thread = 0;
        // SAFETY: see above; `spec` and `thread` outlive the call.
        match unsafe { create(self.context, &raw const spec, &raw mut thread) } {
            0 => Ok(thread),
            error => Err(error),
        }
    }

    unsafe fn thread_reap(&self, thread: usize) -> bool {
        // SAFETY: see above.
        self.thread_reap.is_some_and(|reap| unsafe { reap(self.context, thread) } != 0)
    }

    unsafe fn thread_suspended(&self, thread: usize) -> bool {
        // SAFETY: see above.
        self.thread_suspended.is_some_and(|ask| unsafe { ask(self.context, thread) } != 0)
    }

    unsafe fn stack_used(&self, thread: usize) -> Option<usize> {
        // SAFETY: see above.
        self.stack_used.map(|ask| unsafe { ask(self.context, thread) }).filter(|&bytes| bytes > 0)
    }

    fn event_create(&self, event: &'static Event) -> Result<(), i32> {
        let Some(create) = self.event_create else { return Err(0) };
        // SAFETY: see above.
        match unsafe { create(self.context, event_for_c(event)) } {
            0 => Ok(()),
            error => Err(error),
        }
    }

    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
        let event = event_for_c(event);
        // SAFETY: see above.
        self.event_wait.is_some_and(|wait| unsafe { wait(self.context, event, timeout_ms) } != 0)
    }

    unsafe fn event_post(&self, event: &'static Event) {
        if let Some(post) = self.event_post {
            // SAFETY: see above.
            unsafe { post(self.context, event_for_c(event)) }
        }
    }

    fn clock_ms(&self) -> u64 {
        // SAFETY: see above.
        self.clock_ms.map_or(0, |clock| unsafe { clock(self.context) })
    }

    fn memory_has(&self, bytes: usize) -> MemoryAnswer {
        let mut basis: *const c_char = core::ptr::null();
        // SAFETY: see above; `basis` outlives the call.
        let answer = self.memory_has.map(|ask| unsafe { ask(self.context, bytes, &raw mut basis) });
        match answer {
            Some(0) if basis.is_null() => MemoryAnswer::No("has less than that"),
            // SAFETY: the contract: static text, which ends with a NUL.
            Some(0) => MemoryAnswer::No(
                unsafe { CStr::from_ptr(basis) }.to_str().unwrap_or("has less than that"),
            ),
            Some(n) if n > 0 => MemoryAnswer::Yes,
            _ => MemoryAnswer::CannotTell,
        }
    }

    fn log(&self, severity: Severity, text: &str) {
        if let Some(log) = self.log {
            with_c_text(text, |text| {
                // SAFETY: see above; `text` outlives the call.
                unsafe { log(self.context, severity as i32, text) }
            });
        }
    }
}
