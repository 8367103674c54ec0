// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated port: threads that run only when the test, or a thread's wait, lets them; a clock
//! that moves only while every thread waits; faults where the test wants them. One real thread
//! drives a `Sim`, so every run of a test is the same.

use crew::Outcome;
use crew::port::{Event, Member, MemoryAnswer, Next, Port, Severity, Target, ThreadSpec};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;

pub const ENOMEM: i32 = 12;
pub const EAGAIN: i32 = 11;

struct Thread {
    name: String,
    stack_bytes: usize,
    priority: u32,
    member: Member,
    state: State,
    /// How often `thread_reap` still answers "not yet" after the end.
    lingers: u32,
    suspended: bool,
}

#[derive(Clone, Copy)]
enum State {
    Ready,
    Waiting { event: &'static Event, until_ms: u64 },
    Running,
    Ended,
}

/// A call of the port's that goes wrong, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A thread is not made: `EAGAIN`.
    ThreadCreate,
    /// An event is not made: `ENOMEM`.
    EventCreate,
    /// A wait ends without a post and before another thread has run; a millisecond has passed.
    Wait,
    /// The clock says what it said last. At most [`LONGEST_STALL`] times: a clock that never goes
    /// on leaves nothing to bound a wait by.
    ClockStalls,
    /// The clock is an hour ahead, and stays so.
    ClockJumps,
    /// The target has not that much memory.
    Memory,
    /// An ended thread is not gone yet.
    Reap,
    /// A thread that lives is said to be suspended.
    Suspended,
    /// A line is lost.
    Log,
    /// A thread ends where it would take its next step.
    Death,
}

/// Readings in a row for which a stalled clock stands still.
pub const LONGEST_STALL: u32 = 200;

/// Which calls of one kind, counted from 1 since the plan was made, go wrong: the nth, or the nth
/// and all after it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub fault: Fault,
    pub nth: u32,
    pub from_then_on: bool,
}

/// The test sets and reads these. All counts are of calls so far.
#[derive(Default)]
pub struct Script {
    pub target: Option<Target>,
    pub overhead: usize,
    /// Bytes of address space for stacks; `None`: cannot tell.
    pub memory: Option<usize>,
    pub memory_questions: Vec<usize>,
    /// Thread creations that succeed before one fails with `EAGAIN`; then those after it succeed.
    pub spawns_before_failure: Option<u32>,
    /// Event creations that succeed from now on; then all fail.
    pub events_left: Option<u32>,
    /// While the next thread is made, the one of this name dies.
    pub kill_at_next_spawn: Option<String>,
    /// Bytes that every thread has used of its stack; `None`: cannot tell.
    pub stack_used: Option<usize>,
    /// How long each ended thread takes to be gone.
    pub linger: u32,
    /// The fault to inject; then the calls and the faults of its kind so far.
    pub plan: Option<Plan>,
    /// A second fault, in every call of its kind. It is not counted.
    pub besides: Option<Fault>,
    pub calls: u32,
    pub faults: u32,
    pub log: Vec<(Severity, String)>,
    pub spawned: u32,
    pub reaped: u32,
    pub events: u32,
}

pub struct Sim {
    script: Mutex<Script>,
    threads: Mutex<BTreeMap<usize, Thread>>,
    clock_ms: Mutex<u64>,
    /// The clock's last reading, and how often a fault has repeated it.
    last_ms: Mutex<(u64, u32)>,
}

/// How a job ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Returned,
    Threw,
    Died,
}

thread_local! {
    static END: Cell<End> = const { Cell::new(End::Returned) };
}

/// Called by a job: its simulated thread ends inside it.
pub fn die_in_job() {
    END.set(End::Died);
}

/// Called by a job: it ends as one that threw, as the worker loop of a C image tells it.
pub fn throw_in_job() {
    END.set(End::Threw);
}

impl Sim {
    pub fn new() -> &'static Self {
        Self::with(|_| {})
    }

    pub fn with(set: impl FnOnce(&mut Script)) -> &'static Self {
        let sim = Box::leak(Box::new(Self::make()));
        set(&mut sim.script());
        sim
    }

    pub fn make() -> Self {
        Self {
            script: Mutex::default(),
            threads: Mutex::default(),
            clock_ms: Mutex::new(1_000),
            last_ms: Mutex::new((1_000, 0)),
        }
    }

    /// From now on calls go wrong by this plan, and those of a second kind always; `None`: none
    /// does.
    pub fn plan(&self, plan: Option<Plan>, besides: Option<Fault>) {
        let mut script = self.script();
        (script.plan, script.besides, script.calls, script.faults) = (plan, besides, 0, 0);
    }

    /// Whether this call of that kind goes wrong.
    fn goes_wrong(&self, fault: Fault) -> bool {
        let mut script = self.script();
        let Some(plan) = script.plan.filter(|plan| plan.fault == fault) else {
            return script.besides == Some(fault);
        };
        script.calls += 1;
        let wrong = script.calls == plan.nth || (plan.from_then_on && script.calls > plan.nth);
        script.faults += u32::from(wrong);
        wrong
    }

    pub fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    /// Threads that exist: made and not reaped.
    pub fn threads(&self) -> usize {
        self.threads.lock().unwrap().len()
    }

    /// Names, stacks and priorities of the threads that exist.
    pub fn specs(&self) -> Vec<(String, usize, u32)> {
        let threads = self.threads.lock().unwrap();
        threads.values().map(|t| (t.name.clone(), t.stack_bytes, t.priority)).collect()
    }

    /// Log lines of at least this severity.
    pub fn said(&self, severity: Severity) -> Vec<String> {
        let script = self.script();
        script.log.iter().filter(|(s, _)| *s == severity).map(|(_, text)| text.clone()).collect()
    }

    pub fn advance(&self, ms: u64) {
        *self.clock_ms.lock().unwrap() += ms;
    }

    pub fn suspend(&self, name: &str) {
        let mut threads = self.threads.lock().unwrap();
        let found = threads.values_mut().find(|thread| thread.name == name);
        found.expect("a thread of that name").suspended = true;
    }

    /// The named thread ends where it is, as one that was cancelled or deleted.
    pub fn kill(&self, name: &str) {
        let (id, member) = {
            let threads = self.threads.lock().unwrap();
            let found = threads
                .iter()
                .find(|(_, t)| t.name == name && !matches!(t.state, State::Ended | State::Running));
            let (id, thread) = found.expect("a live thread of that name");
            (*id, thread.member)
        };
        self.set_state(id, State::Ended);
        // SAFETY: the thread that the simulation plays ends here.
        unsafe { member.exited() };
    }

    fn set_state(&self, id: usize, state: State) {
        self.threads.lock().unwrap().get_mut(&id).expect("a thread").state = state;
    }

    /// A thread that was found ready may have died, or begun to run, in another's step since.
    fn is_still_ready(&self, id: usize) -> bool {
        let threads = self.threads.lock().unwrap();
        threads.get(&id).is_some_and(|t| matches!(t.state, State::Ready) && !t.suspended)
    }

    /// Lets every thread that can run take one step. Whether any did. A job that waits lets the
    /// others run from inside its own step.
    pub fn step(&self) -> bool {
        let now = *self.clock_ms.lock().unwrap();
        let ready: Vec<(usize, Member)> = {
            let mut threads = self.threads.lock().unwrap();
            let can_run = |thread: &Thread| match thread.state {
                State::Ready => !thread.suspended,
                State::Waiting { event, until_ms } => {
                    !thread.suspended && (event.word.swap(0, SeqCst) == 1 || until_ms <= now)
                }
                State::Running | State::Ended => false,
            };
            let ready = threads.iter_mut().filter(|(_, thread)| can_run(thread));
            ready
                .map(|(id, thread)| {
                    thread.state = State::Ready;
                    (*id, thread.member)
                })
                .collect()
        };
        for (id, member) in &ready {
            if !self.is_still_ready(*id) {
                continue;
            }
            if self.goes_wrong(Fault::Death) {
                self.set_state(*id, State::Ended);
                // SAFETY: the thread that the simulation plays ends here.
                unsafe { member.exited() };
                continue;
            }
            // SAFETY: the simulation plays this thread, in one step at a time.
            match unsafe { member.next() } {
                Next::Run { function, argument } => {
                    self.set_state(*id, State::Running);
                    END.set(End::Returned);
                    // SAFETY: once, with its argument, by the thread it came to.
                    let value = unsafe { function(argument) };
                    let end = END.replace(End::Returned);
                    let state = if end == End::Died { State::Ended } else { State::Ready };
                    self.set_state(*id, state);
                    // SAFETY: as for `next`; the function has returned, or its thread ends here.
                    unsafe {
                        match end {
                            End::Returned => member.done(Outcome::Returned, value),
                            End::Threw => member.done(Outcome::Failed, 0),
                            End::Died => member.exited(),
                        }
                    }
                }
                Next::Wait { event, timeout_ms } => {
                    let early = self.goes_wrong(Fault::Wait);
                    let until_ms = now + if early { 1 } else { u64::from(timeout_ms) };
                    self.set_state(*id, State::Waiting { event, until_ms });
                }
                Next::Stop => {
                    self.set_state(*id, State::Ended);
                    // SAFETY: the thread that the simulation plays ends here.
                    unsafe { member.exited() };
                }
            }
        }
        !ready.is_empty()
    }

    /// Lets the threads run until none can.
    pub fn settle(&self) {
        while self.step() {}
    }
}

// SAFETY: each of its threads runs the loop of its own member, and calls the exit hook last.
unsafe impl Port for Sim {
    fn target(&self) -> Target {
        self.script().target.unwrap_or(Target::Host)
    }

    fn thread_overhead_bytes(&self) -> usize {
        self.script().overhead
    }

    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        if self.goes_wrong(Fault::ThreadCreate) {
            return Err(EAGAIN);
        }
        let mut script = self.script();
        match script.spawns_before_failure {
            Some(0) => {
                script.spawns_before_failure = None;
                return Err(EAGAIN);
            }
            Some(n) => script.spawns_before_failure = Some(n - 1),
            None => {}
        }
        script.spawned += 1;
        let id = script.spawned as usize;
        let thread = Thread {
            name: spec.name.to_owned(),
            stack_bytes: spec.stack_bytes,
            priority: spec.priority,
            member: spec.member,
            state: State::Ready,
            lingers: script.linger,
            suspended: false,
        };
        let victim = script.kill_at_next_spawn.take();
        drop(script);
        self.threads.lock().unwrap().insert(id, thread);
        if let Some(name) = victim {
            self.kill(&name);
        }
        Ok(id)
    }

    unsafe fn thread_reap(&self, thread: usize) -> bool {
        let mut threads = self.threads.lock().unwrap();
        let entry = threads.get_mut(&thread).expect("reaped once");
        assert!(matches!(entry.state, State::Ended), "reaped before its exit hook ran");
        if self.goes_wrong(Fault::Reap) {
            return false;
        }
        if entry.lingers > 0 {
            entry.lingers -= 1;
            return false;
        }
        threads.remove(&thread);
        drop(threads);
        self.script().reaped += 1;
        true
    }

    unsafe fn thread_suspended(&self, thread: usize) -> bool {
        self.goes_wrong(Fault::Suspended) || self.threads.lock().unwrap()[&thread].suspended
    }

    unsafe fn stack_used(&self, _thread: usize) -> Option<usize> {
        self.script().stack_used
    }

    fn event_create(&self, _event: &'static Event) -> Result<(), i32> {
        if self.goes_wrong(Fault::EventCreate) {
            return Err(ENOMEM);
        }
        let mut script = self.script();
        match &mut script.events_left {
            Some(0) => return Err(ENOMEM),
            Some(n) => *n -= 1,
            None => {}
        }
        script.events += 1;
        Ok(())
    }

    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
        if self.goes_wrong(Fault::Wait) {
            self.advance(1);
            return false;
        }
        let deadline = *self.clock_ms.lock().unwrap() + u64::from(timeout_ms);
        loop {
            if event.word.swap(0, SeqCst) == 1 {
                return true;
            }
            if !self.step() {
                let mut clock = self.clock_ms.lock().unwrap();
                *clock = deadline.max(*clock);
                return false;
            }
        }
    }

    unsafe fn event_post(&self, event: &'static Event) {
        event.word.store(1, SeqCst);
    }

    fn clock_ms(&self) -> u64 {
        if self.goes_wrong(Fault::ClockJumps) {
            self.advance(3_600_000);
        }
        let stalls = self.goes_wrong(Fault::ClockStalls);
        let now = *self.clock_ms.lock().unwrap();
        let mut last = self.last_ms.lock().unwrap();
        *last = if stalls && last.1 < LONGEST_STALL { (last.0, last.1 + 1) } else { (now, 0) };
        last.0
    }

    fn memory_has(&self, bytes: usize) -> MemoryAnswer {
        let mut script = self.script();
        script.memory_questions.push(bytes);
        drop(script);
        if self.goes_wrong(Fault::Memory) {
            return MemoryAnswer::No("has less than that in the fault");
        }
        let script = self.script();
        match script.memory {
            None => MemoryAnswer::CannotTell,
            Some(free) if free >= bytes => MemoryAnswer::Yes,
            Some(_) => MemoryAnswer::No("has less than that in the simulation"),
        }
    }

    fn log(&self, severity: Severity, text: &str) {
        if !self.goes_wrong(Fault::Log) {
            self.script().log.push((severity, text.to_owned()));
        }
    }
}
