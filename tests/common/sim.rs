// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated port: threads that run only when the test, or somebody's wait, lets them; a clock that
//! moves only while everybody waits; faults where the test wants them. One real thread drives a
//! `Sim`, so every run of a test is the same.

use crew::Outcome;
use crew::port::{Event, Member, MemoryAnswer, Port, Severity, Target, ThreadSpec};
use crew::sets::Next;
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
    /// Looks that `thread_reap` still answers with "not yet" after the end.
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

/// What the test sets and reads. All counts are of calls so far.
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
    /// What every thread is seen to have used of its stack; `None`: cannot tell.
    pub stack_used: Option<usize>,
    /// How long each ended thread takes to be gone.
    pub linger: u32,
    pub log: Vec<(Severity, String)>,
    pub spawned: u32,
    pub reaped: u32,
    pub events: u32,
}

pub struct Sim {
    script: Mutex<Script>,
    threads: Mutex<BTreeMap<usize, Thread>>,
    clock_ms: Mutex<u64>,
}

thread_local! {
    static DIE: Cell<bool> = const { Cell::new(false) };
}

/// Called by a job: its simulated thread ends inside it.
pub fn die_in_job() {
    DIE.set(true);
}

impl Sim {
    pub fn new() -> &'static Self {
        Self::with(|_| {})
    }

    pub fn with(set: impl FnOnce(&mut Script)) -> &'static Self {
        let sim = Self {
            script: Mutex::default(),
            threads: Mutex::default(),
            clock_ms: Mutex::new(1_000),
        };
        set(&mut sim.script());
        Box::leak(Box::new(sim))
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

    /// The named thread ends where it is, without asking anybody: cancelled, deleted.
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
        member.exited();
    }

    fn set_state(&self, id: usize, state: State) {
        self.threads.lock().unwrap().get_mut(&id).expect("a thread").state = state;
    }

    /// Lets every thread that can run take one step. Whether any did.
    pub fn step(&self) -> bool {
        let now = *self.clock_ms.lock().unwrap();
        let ready: Vec<(usize, Member)> = {
            let threads = self.threads.lock().unwrap();
            let can_run = |thread: &Thread| match thread.state {
                State::Ready => !thread.suspended,
                State::Waiting { event, until_ms } => {
                    !thread.suspended && (event.word.swap(0, SeqCst) == 1 || until_ms <= now)
                }
                State::Running | State::Ended => false,
            };
            threads.iter().filter(|(_, t)| can_run(t)).map(|(id, t)| (*id, t.member)).collect()
        };
        for (id, member) in &ready {
            self.set_state(*id, State::Ready);
            match member.next() {
                Next::Run { function, argument } => {
                    self.set_state(*id, State::Running);
                    DIE.set(false);
                    let value = function(argument);
                    if DIE.take() {
                        self.set_state(*id, State::Ended);
                        member.exited();
                    } else {
                        self.set_state(*id, State::Ready);
                        member.done(Outcome::Returned, value);
                    }
                }
                Next::Wait { event, timeout_ms } => {
                    let until_ms = now + u64::from(timeout_ms);
                    self.set_state(*id, State::Waiting { event, until_ms });
                }
                Next::Stop => {
                    self.set_state(*id, State::Ended);
                    member.exited();
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

impl Port for Sim {
    fn target(&self) -> Target {
        self.script().target.unwrap_or(Target::Host)
    }

    fn thread_overhead_bytes(&self) -> usize {
        self.script().overhead
    }

    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
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

    fn thread_reap(&self, thread: usize) -> bool {
        let mut threads = self.threads.lock().unwrap();
        let entry = threads.get_mut(&thread).expect("reaped once");
        assert!(matches!(entry.state, State::Ended), "reaped before its exit hook ran");
        if entry.lingers > 0 {
            entry.lingers -= 1;
            return false;
        }
        threads.remove(&thread);
        drop(threads);
        self.script().reaped += 1;
        true
    }

    fn thread_suspended(&self, thread: usize) -> bool {
        self.threads.lock().unwrap()[&thread].suspended
    }

    fn stack_used(&self, _thread: usize) -> Option<usize> {
        self.script().stack_used
    }

    fn event_create(&self, _event: &'static Event) -> Result<(), i32> {
        let mut script = self.script();
        match &mut script.events_left {
            Some(0) => return Err(ENOMEM),
            Some(n) => *n -= 1,
            None => {}
        }
        script.events += 1;
        Ok(())
    }

    fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
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

    fn event_post(&self, event: &'static Event) {
        event.word.store(1, SeqCst);
    }

    fn clock_ms(&self) -> u64 {
        *self.clock_ms.lock().unwrap()
    }

    fn memory_has(&self, bytes: usize) -> MemoryAnswer {
        let mut script = self.script();
        script.memory_questions.push(bytes);
        match script.memory {
            None => MemoryAnswer::CannotTell,
            Some(free) if free >= bytes => MemoryAnswer::Yes,
            Some(_) => MemoryAnswer::No("has less than that in the simulation"),
        }
    }

    fn log(&self, severity: Severity, text: &str) {
        self.script().log.push((severity, text.to_owned()));
    }
}
