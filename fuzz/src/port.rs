// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port whose threads are played by a thread that waits or is preempted. A preemption is a nested
//! call: another thread runs, for as long as its own calls take, while this one stands still.

use crate::calls;
use crate::world::{End, State, Thread, Token, World, is_due, with};
use core::ffi::{CStr, c_char, c_void};
use crew::ffi::*;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// The most calls that are under way one inside the other.
const DEPTH: u32 = 4;

/// A port, with the tape's choice of what a port may choose.
pub fn make(w: &World) -> Rc<crew_port> {
    let has_optional = w.tape.below(4) != 3;
    w.overhead.set(w.tape.pick(&[0, 0, 1234, 1234, 1234, 1 << 20, usize::MAX / 4, usize::MAX]));
    // The last ones: seconds before moments of 1,024 ms wrap at 32 bits.
    w.clock_ms.set(w.tape.pick(&[0, 1000, u32::MAX as u64 - 20, (1 << 42) - 3000]));
    Rc::new(crew_port {
        size: size_of::<crew_port>() as u32,
        target: w.tape.pick(&[CREW_TARGET_HOST, CREW_TARGET_RTEMS, CREW_TARGET_VXWORKS]),
        thread_overhead_bytes: w.overhead.get(),
        context: context(),
        thread_create: Some(thread_create),
        thread_reap: Some(thread_reap),
        thread_suspended: if has_optional { Some(thread_suspended) } else { None },
        event_create: Some(event_create),
        event_wait: Some(event_wait),
        event_post: Some(event_post),
        clock_ms: Some(clock_ms),
        memory_has: Some(memory_has),
        stack_used: if has_optional { Some(stack_used) } else { None },
        log: Some(log),
    })
}

/// A pointer that must come back as it was.
fn context() -> *mut c_void {
    core::ptr::without_provenance_mut(0x1234_5678)
}

// ---- what the core calls ----

fn enter(w: &World, given: *mut c_void) {
    assert_eq!(given, context(), "the port's context comes back");
    preempt(w);
}

/// Lets others run if the tape wants it here.
pub fn preempt(w: &World) {
    if is_due(&w.faults.preempt_in) {
        w.faults.preempt_in.set(w.tape.byte() & 15);
        let steps = 1 + w.tape.below(3);
        (0..steps).for_each(|_| others(w));
    }
}

/// One call by another thread, if the nesting allows.
pub fn others(w: &World) {
    if w.depth.get() < DEPTH {
        calls::one();
    } else {
        step(w);
    }
}

unsafe extern "C" fn thread_create(
    given: *mut c_void,
    spec: *const crew_thread_spec,
    thread: *mut usize,
) -> i32 {
    with(|w| {
        // SAFETY: the core's promise.
        let spec = unsafe { &*spec };
        // SAFETY: the core's promise.
        let name = unsafe { CStr::from_ptr(spec.name) }.to_bytes();
        assert!((1..CREW_NAME_BYTES as usize).contains(&name.len()), "a name's length");
        assert!(name.iter().all(u8::is_ascii_graphic), "a name's characters");
        assert!((CREW_STACK_MIN..=CREW_STACK_MAX).contains(&spec.stack_bytes));
        assert!(spec.priority <= CREW_PRIORITY_MAX);
        // 0 is a number like any other.
        let number = w.made.get() * 0x1_0001;
        w.made.set(w.made.get() + 1);
        let made = Thread {
            worker: spec.worker,
            bytes: u64::from(spec.stack_bytes) + w.overhead.get() as u64,
            state: State::Unborn,
            suspended: false,
            lingers: w.faults.linger.get(),
        };
        let is_taken = w.threads.borrow().values().any(|t| t.worker == spec.worker);
        assert!(!is_taken, "a worker has one thread at a time");
        let fails = is_due(&w.faults.fail_thread_in);
        w.tell(format_args!(
            "thread {number} of worker {} {}",
            spec.worker,
            if fails { "fails" } else { "is made" }
        ));
        w.threads.borrow_mut().insert(number, made);
        if fails {
            enter(w, given);
            w.threads.borrow_mut().remove(&number);
            return w.tape.pick(&[11, 12, -1, i32::MIN]);
        }
        set_state(w, number, State::Ready);
        enter(w, given); // it may run, and end, before its maker knows it
        // SAFETY: the core's promise.
        unsafe { *thread = number };
        0
    })
}

unsafe extern "C" fn thread_reap(given: *mut c_void, thread: usize) -> i32 {
    with(|w| {
        enter(w, given);
        let mut threads = w.threads.borrow_mut();
        let entry = threads.get_mut(&thread).expect("a thread is reaped once");
        match entry.state {
            State::Ending => return 0,
            State::Ended => {}
            _ => panic!("reaped before its exit hook has begun"),
        }
        if entry.lingers > 0 {
            entry.lingers -= 1;
            return 0;
        }
        threads.remove(&thread);
        1
    })
}

unsafe extern "C" fn thread_suspended(given: *mut c_void, thread: usize) -> i32 {
    with(|w| {
        enter(w, given);
        let threads = w.threads.borrow();
        i32::from(threads.get(&thread).expect("nobody reaps a thread that is looked at").suspended)
    })
}

unsafe extern "C" fn stack_used(given: *mut c_void, thread: usize) -> usize {
    with(|w| {
        enter(w, given);
        assert!(w.threads.borrow().contains_key(&thread), "nobody reaps what is looked at");
        w.faults.stack_used.get()
    })
}

unsafe extern "C" fn event_create(given: *mut c_void, event: *mut crew_event) -> i32 {
    with(|w| {
        enter(w, given);
        if is_due(&w.faults.fail_event_in) {
            return 12;
        }
        assert!(w.events.borrow_mut().insert(event.addr()), "an event is made once");
        // SAFETY: the core's promise: the event is ours to make.
        unsafe {
            assert!((*event).word == 0 && (*event).object.is_null(), "a new event is empty");
            (*event).object = event.cast();
        }
        0
    })
}

/// The event's word: 1 is posted.
fn word<'a>(w: &World, event: *mut crew_event) -> &'a AtomicU32 {
    assert!(w.events.borrow().contains(&event.addr()), "an event is made before it is used");
    // SAFETY: the core's promise: an event of its tables, whose word is ours and only used here.
    unsafe {
        assert_eq!((*event).object, event.cast(), "the port's object stays as it was");
        AtomicU32::from_ptr(&raw mut (*event).word)
    }
}

unsafe extern "C" fn event_wait(
    given: *mut c_void,
    event: *mut crew_event,
    timeout_ms: u32,
) -> i32 {
    with(|w| {
        enter(w, given);
        let word = word(w, event);
        let until_ms = w.clock_ms.get().saturating_add(u64::from(timeout_ms));
        loop {
            if word.swap(0, SeqCst) == 1 {
                return 1;
            }
            if w.clock_ms.get() >= until_ms {
                return 0;
            }
            if !w.tape.is_over() {
                if w.faults.early.get() && w.tape.one_in(2) {
                    return 0;
                }
                match w.tape.below(4) {
                    0 => others(w),
                    1 => w.clock_ms.set(w.clock_ms.get() + 1 + w.tape.below(64) as u64),
                    2 => w.clock_ms.set(until_ms),
                    _ => {
                        step(w);
                    }
                }
            } else if !step_any(w) {
                // A wait may be late. It is the later the oftener nothing happened, so that the
                // longest time-out is over after a few hundred of the shortest waits.
                w.stalls.set(w.stalls.get() + 1);
                let late = 1u64 << (w.stalls.get() / 16).min(32);
                w.clock_ms.set(until_ms.saturating_add(late - 1));
            }
        }
    })
}

unsafe extern "C" fn event_post(given: *mut c_void, event: *mut crew_event) {
    with(|w| {
        enter(w, given);
        word(w, event).store(1, SeqCst);
    });
}

unsafe extern "C" fn clock_ms(given: *mut c_void) -> u64 {
    with(|w| {
        assert_eq!(given, context());
        w.clock_ms.get()
    })
}

unsafe extern "C" fn memory_has(
    given: *mut c_void,
    bytes: usize,
    basis: *mut *const c_char,
) -> i32 {
    with(|w| {
        enter(w, given);
        let say = |text: &'static CStr| {
            // SAFETY: the core's promise.
            unsafe { *basis = text.as_ptr() };
        };
        match w.faults.memory.get() % 7 {
            0 => 1,
            1 => -1,
            2 => i32::MIN,
            3 => 77,
            4 => i32::from(bytes <= 64 << 10),
            5 => {
                say(c"\xff\xfe");
                0
            }
            _ => {
                say(c"has less than that in the simulation");
                i32::from(bytes <= 16 << 20)
            }
        }
    })
}

unsafe extern "C" fn log(given: *mut c_void, severity: i32, text: *const c_char) {
    with(|w| {
        // SAFETY: the core's promise.
        let text = unsafe { CStr::from_ptr(text) };
        check_line(text);
        assert!((CREW_SEVERITY_INFO..=CREW_SEVERITY_MAJOR).contains(&severity));
        w.log.borrow_mut().push(text.to_string_lossy().into_owned());
        enter(w, given);
    });
}

/// A line for an operator.
pub fn check_line(text: &CStr) {
    let bytes = text.to_bytes();
    assert!(!bytes.is_empty() && !bytes.iter().any(u8::is_ascii_control), "a line: {text:?}");
}

// ---- the threads ----

fn set_state(w: &World, number: usize, state: State) {
    w.threads.borrow_mut().get_mut(&number).expect("a thread").state = state;
}

/// The numbers of the threads that could take a step now.
fn able(w: &World) -> Vec<usize> {
    let now = w.clock_ms.get();
    let can = |thread: &Thread| match thread.state {
        State::Ready | State::InJob(_) => true,
        State::Waiting { event, until_ms } => until_ms <= now || word(w, event).load(SeqCst) == 1,
        _ => false,
    };
    let threads = w.threads.borrow();
    threads.iter().filter(|(_, t)| !t.suspended && can(t)).map(|(&n, _)| n).collect()
}

/// A thread of the tape's choice takes a step. Whether there was one.
pub fn step(w: &World) -> bool {
    let able = able(w);
    if able.is_empty() {
        return false;
    }
    let number = w.tape.pick(&able);
    go_on(w, number);
    true
}

/// Every thread that can takes a step. Whether one did.
pub fn step_any(w: &World) -> bool {
    let able = able(w);
    for &number in &able {
        let can = w.threads.borrow().get(&number).is_some_and(|t| {
            !t.suspended
                && matches!(t.state, State::Ready | State::Waiting { .. } | State::InJob(_))
        });
        if can {
            go_on(w, number);
        }
    }
    !able.is_empty()
}

/// The thread goes on from where it was, to its next wait, end, or long job.
fn go_on(w: &World, number: usize) {
    let (worker, state) = {
        let threads = w.threads.borrow();
        let thread = &threads[&number];
        (thread.worker, thread.state.clone())
    };
    if let State::InJob(token) = state {
        return end_job(w, number, worker, &token);
    }
    if let State::Waiting { event, .. } = state {
        word(w, event).store(0, SeqCst);
    }
    set_state(w, number, State::InCore);
    let mut work = crew_work {
        function: None,
        argument: core::ptr::null_mut(),
        event: core::ptr::null_mut(),
        wait_ms: 0,
    };
    // SAFETY: `work` is writable; this is the worker's own thread.
    let next = unsafe { crew_worker_next(worker, &raw mut work) };
    w.tell(format_args!("thread {number}: next says {next}"));
    match next {
        CREW_WORK_RUN => {
            let function = work.function.expect("a job has a function");
            let token = calls::token_at(w, work.argument);
            set_state(w, number, State::InFunction);
            w.count(|done| done.jobs += 1);
            // SAFETY: once, with its argument, by the thread that was told to.
            let value = unsafe { function(work.argument) };
            assert_eq!(value, calls::value_of(&token), "the function of the job");
            set_state(w, number, State::InJob(token.clone()));
            if w.tape.below(4) != 3 {
                end_job(w, number, worker, &token);
            }
        }
        CREW_WORK_WAIT => {
            assert!(!work.event.is_null());
            let until_ms = w.clock_ms.get().saturating_add(u64::from(work.wait_ms));
            set_state(w, number, State::Waiting { event: work.event, until_ms });
        }
        CREW_WORK_STOP => exit(w, number, worker),
        other => panic!("crew_worker_next said {other}"),
    }
}

fn end_job(w: &World, number: usize, worker: u32, token: &Rc<Token>) {
    let value = calls::value_of(token);
    let (end, outcome) = match w.tape.below(6) {
        0..=2 => (End::Returned(value), CREW_JOB_RETURNED),
        3 => (End::Failed, CREW_JOB_FAILED),
        4 => (End::Failed, w.tape.pick(&[CREW_JOB_DIED, CREW_JOB_NOT_RUN, 77, i32::MIN])),
        _ => {
            assert!(token.end.replace(Some(End::Died)).is_none(), "a job ends once");
            w.count(|done| done.deaths += 1);
            return exit(w, number, worker);
        }
    };
    assert!(token.end.replace(Some(end)).is_none(), "a job ends once");
    w.tell(format_args!("thread {number}: done, job {} {end:?}", token.number));
    set_state(w, number, State::InCore);
    // SAFETY: the simulated thread is the worker's, and its job has ended.
    unsafe { crew_worker_done(worker, outcome, value) };
    set_state(w, number, State::Ready);
}

fn exit(w: &World, number: usize, worker: u32) {
    w.tell(format_args!("thread {number}: exits"));
    set_state(w, number, State::Ending);
    // SAFETY: the simulated thread is the worker's, and ends here.
    unsafe { crew_worker_exited(worker) };
    set_state(w, number, State::Ended);
}

/// A thread of the tape's choice ends where it is: in its job, or before it takes one up.
pub fn kill(w: &World) {
    let victims: Vec<(usize, u32, Option<Rc<Token>>)> = w
        .threads
        .borrow()
        .iter()
        .filter_map(|(&number, t)| match &t.state {
            State::Ready | State::Waiting { .. } => Some((number, t.worker, None)),
            State::InJob(token) => Some((number, t.worker, Some(token.clone()))),
            _ => None,
        })
        .collect();
    if victims.is_empty() {
        return;
    }
    let (number, worker, token) = &victims[w.tape.below(victims.len())];
    if let Some(token) = token {
        assert!(token.end.replace(Some(End::Died)).is_none(), "a job ends once");
    }
    w.count(|done| done.deaths += 1);
    exit(w, *number, *worker);
}

/// A thread of the tape's choice is suspended by its system, or goes on.
pub fn suspend(w: &World) {
    let mut threads = w.threads.borrow_mut();
    let mut able: Vec<&mut Thread> = threads
        .values_mut()
        .filter(|t| matches!(t.state, State::Ready | State::Waiting { .. } | State::InJob(_)))
        .collect();
    if !able.is_empty() {
        let chosen = w.tape.below(able.len());
        able[chosen].suspended = !able[chosen].suspended;
    }
}

/// Worker numbers that are not the caller's, where a call must change nothing.
pub fn forged_worker(w: &World) {
    let number = match w.tape.below(3) {
        0 => u32::from(w.tape.byte()) % 32,
        1 => u32::MAX - u32::from(w.tape.byte()),
        _ => w.tape.long() as u32,
    };
    let threads = w.threads.borrow();
    let state = threads.values().find(|t| t.worker == number).map(|t| t.state.clone());
    drop(threads);
    match w.tape.below(4) {
        0 => {
            // SAFETY: NULL is allowed.
            let next = unsafe { crew_worker_next(number, core::ptr::null_mut()) };
            assert_eq!(next, CREW_WORK_STOP);
        }
        1 if state.is_none() => {
            let mut work = core::mem::MaybeUninit::<crew_work>::uninit();
            // SAFETY: writable.
            let next = unsafe { crew_worker_next(number, work.as_mut_ptr()) };
            assert_eq!(next, CREW_WORK_STOP, "no worker of that number has a thread");
        }
        2 if !matches!(state, Some(State::InFunction | State::InJob(_))) => {
            // SAFETY: no job of the worker runs, so there is none that this could end under it;
            // with no closure among the jobs, a wrong call is an error of the core's counts only.
            unsafe { crew_worker_done(number, CREW_JOB_RETURNED, 4711) };
        }
        3 if matches!(state, None | Some(State::Ending | State::Ended)) => {
            // SAFETY: no thread of the worker is there, or it is past its end; as above.
            unsafe { crew_worker_exited(number) };
        }
        _ => {}
    }
}
