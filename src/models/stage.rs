// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a model's threads meet: a process of its own, booted on a port whose threads are the
//! explorer's, with a clock that moves when the model says so; and, at the end, the look at
//! everything that must be as if nothing had been.

use super::explore::{Part, join, park, pause, random, spawn, thread};
use crate::audit::Figures;
use crate::crew::Crew;
use crate::host::{BootOptions, Budget};
use crate::limits::MAX_POOLS;
use crate::port::{Event, Member, MemoryAnswer, Next, Outcome, Port, Severity, Target, ThreadSpec};
use crate::sets::slot::pool_state;
use crate::sets::{AcquireError, CloseError, JobError, JobResult, RunError, Work};
use crate::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Release, SeqCst},
};
use crate::table::Handle;
use crate::{PoolOptions, Role};
use core::ffi::c_void;
use std::boxed::Box;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex};
use std::vec::Vec;

/// Longer than any model's clock runs: the wait ends with a post, or the model does not end.
pub const LONG: u32 = 1_000_000;
/// A wait that [`Stage::time_passes`] ends.
pub const SOME: u32 = 500;
/// A wait up to this long ends by itself: the port looks a few times and lets the time pass.
pub const SHORT: u32 = 100;
/// How often it looks before.
const LOOKS: u32 = 3;
/// The stack of each thread.
pub const STACK: usize = 64 << 10;
/// The value of a job that ends its thread.
pub const DIE: i32 = -1;

/// What the port does by itself.
#[derive(Clone, Copy, Default)]
pub struct Script {
    /// Threads run by themselves; else the model lets them, with [`Stage::serve`] and so on.
    pub threads: bool,
    /// The call to make a thread or an event that fails, from 1; 0: none.
    pub failing_call: u32,
    /// Of 1,000 such calls, how many fail, and of 1,000 waits for a job, how many end the thread.
    pub failing: u32,
    pub dying: u32,
}

/// The port.
pub struct ModelPort {
    script: Script,
    clock_ms: AtomicUsize,
    /// The thread that waits for an event, by its address. A std mutex, held between two steps of
    /// the explorer.
    waiting: Mutex<Vec<(usize, thread::Thread)>>,
    made: Mutex<Vec<Made>>,
    threads: AtomicUsize,
    running: Mutex<Vec<Part>>,
    calls: Mutex<u32>,
    said: Mutex<Vec<String>>,
    /// Nothing fails and no thread dies any more.
    pub calm: Mutex<bool>,
}

struct Made {
    member: Member,
    /// 1 once its exit hook has run.
    ended: Arc<AtomicU32>,
    reaped: bool,
}

impl ModelPort {
    fn fails(&self) -> bool {
        let calls = {
            let mut calls = self.calls.lock().unwrap();
            *calls += 1;
            *calls
        };
        calls == self.script.failing_call || self.happens(self.script.failing)
    }

    fn happens(&self, per_mille: u32) -> bool {
        per_mille > 0 && !*self.calm.lock().unwrap() && random(1000) < per_mille
    }

    fn member(&self, n: usize) -> (Member, Arc<AtomicU32>) {
        let made = self.made.lock().unwrap();
        (made[n].member, made[n].ended.clone())
    }

    /// The worker loop of thread `n`: until it is told to stop, dies, or has run `jobs` jobs. The
    /// thread has ended then, unless it was for the last reason.
    fn work(&self, n: usize, jobs: u32) {
        let (member, ended) = self.member(n);
        let mut done = 0;
        while done < jobs {
            // SAFETY: one part of the explorer at a time plays the worker.
            match unsafe { member.next() } {
                Next::Run { function, argument } => {
                    // SAFETY: once, with its argument, by the part that plays its worker.
                    let value = unsafe { function(argument) };
                    if value == DIE {
                        break;
                    }
                    // SAFETY: as for `next`; the function has returned.
                    unsafe { member.done(Outcome::Returned, value) };
                    done += 1;
                }
                Next::Wait { event, timeout_ms } => {
                    if self.happens(self.script.dying) {
                        break;
                    }
                    // SAFETY: the core prepared it with this port.
                    unsafe { self.event_wait(event, timeout_ms) };
                    if self.happens(self.script.dying) {
                        break;
                    }
                }
                Next::Stop => break,
            }
        }
        if done < jobs {
            // SAFETY: the part that plays the worker ends here.
            unsafe { member.exited() };
            ended.store(1, SeqCst);
        }
    }

    /// The thread that waits for the event, and no longer has to be told.
    fn forget(&self, event: usize) -> Option<thread::Thread> {
        let mut waiting = self.waiting.lock().unwrap();
        let at = waiting.iter().position(|(key, _)| *key == event)?;
        Some(waiting.remove(at).1)
    }

    /// Others may come before what this thread does next. loom needs no such hint.
    fn step(&self) {
        if !cfg!(loom) {
            pause(0);
        }
    }

    /// Thread `n` asks what to do, and does nothing.
    pub fn look(&self, n: usize) -> Next {
        // SAFETY: the model plays the worker here.
        unsafe { self.member(n).0.next() }
    }

    /// How often "major" lines of the log have `text` in them.
    pub fn said(&self, text: &str) -> usize {
        self.said.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// Calls so far to make a thread or an event, those that failed included.
    pub fn calls(&self) -> u32 {
        *self.calls.lock().unwrap()
    }

    /// Threads made so far. A thread that sees one here knows what came before its making, as the
    /// made thread itself does.
    pub fn threads(&self) -> usize {
        self.threads.load(Acquire)
    }
}

// SAFETY: each of its threads runs `work` with its own member; `end` calls the exit hook last.
unsafe impl Port for ModelPort {
    fn target(&self) -> Target {
        Target::Host
    }

    fn thread_overhead_bytes(&self) -> usize {
        0
    }

    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        if self.fails() {
            return Err(11);
        }
        self.step();
        let n = {
            let mut made = self.made.lock().unwrap();
            let ended = Arc::new(AtomicU32::new(0));
            made.push(Made { member: spec.member, ended, reaped: false });
            made.len() - 1
        };
        self.threads.store(n + 1, Release);
        if self.script.threads {
            let port = Shared(self);
            let running = spawn(move || port.get().work(n, u32::MAX));
            self.running.lock().unwrap().push(running);
        }
        Ok(n)
    }

    unsafe fn thread_reap(&self, n: usize) -> bool {
        let (_, ended) = self.member(n);
        if ended.load(SeqCst) == 0 {
            return false;
        }
        let reaped = core::mem::replace(&mut self.made.lock().unwrap()[n].reaped, true);
        assert!(!reaped, "a thread is reaped once");
        true
    }

    unsafe fn stack_used(&self, n: usize) -> Option<usize> {
        let (_, ended) = self.member(n);
        ended.load(SeqCst);
        assert!(!self.made.lock().unwrap()[n].reaped, "nobody looks at a thread that was reaped");
        Some(1)
    }

    fn event_create(&self, _: &'static Event) -> Result<(), i32> {
        if self.fails() { Err(12) } else { Ok(()) }
    }

    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
        let key = core::ptr::from_ref(event) as usize;
        let deadline = self.clock_ms().saturating_add(timeout_ms.into());
        let mut looks = 0;
        loop {
            // Known first, then the word is looked at; a poster does it the other way round.
            if timeout_ms > SHORT {
                self.forget(key);
                self.waiting.lock().unwrap().push((key, thread::current()));
            }
            let posted = event.word.swap(0, SeqCst) == 1;
            if posted || timeout_ms == 0 {
                self.forget(key);
                return posted;
            }
            if timeout_ms <= SHORT {
                if looks == LOOKS || cfg!(loom) {
                    pause(timeout_ms);
                    if !cfg!(loom) {
                        self.clock_ms.fetch_add(timeout_ms as usize, SeqCst);
                    }
                    return event.word.swap(0, SeqCst) == 1;
                }
                looks += 1;
                pause(0);
            } else if self.clock_ms() >= deadline {
                self.forget(key);
                return false;
            } else {
                park();
            }
        }
    }

    unsafe fn event_post(&self, event: &'static Event) {
        self.step();
        event.word.swap(1, SeqCst);
        if let Some(waiter) = self.forget(core::ptr::from_ref(event) as usize) {
            waiter.unpark();
        }
    }

    fn clock_ms(&self) -> u64 {
        self.clock_ms.load(SeqCst) as u64
    }

    fn memory_has(&self, _: usize) -> MemoryAnswer {
        MemoryAnswer::CannotTell
    }

    fn log(&self, severity: Severity, text: &str) {
        if severity == Severity::Major {
            self.said.lock().unwrap().push(text.to_string());
        }
    }
}

/// A reference that lives until [`Stage::play`] returns, which is after all threads.
struct Shared<T>(*const T);
// SAFETY: a `&T` in all but its lifetime, and every `T` here is Sync.
unsafe impl<T: Sync> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> &'static T {
        // SAFETY: see above.
        unsafe { &*self.0 }
    }
}

/// The process and the port of one run of a model.
#[derive(Clone, Copy)]
pub struct Stage {
    pub crew: &'static Crew,
    pub port: &'static ModelPort,
}

/// A job that returns `value`, after others have had time to do something.
fn work(value: i32) -> Work {
    extern "C" fn job(argument: *mut c_void) -> i32 {
        if !cfg!(loom) {
            pause(0);
        }
        argument.addr() as i32
    }
    Work::Call(job, core::ptr::without_provenance_mut(value as u32 as usize))
}

impl Stage {
    /// Lets `act` act in a process with that script and budget, ends what is left of its pools, and
    /// looks at what remains.
    pub fn play(script: Script, budget: Budget<'_>, act: impl FnOnce(Stage)) {
        let port = Box::into_raw(Box::new(ModelPort {
            script,
            clock_ms: AtomicUsize::new(0),
            waiting: Mutex::default(),
            made: Mutex::default(),
            threads: AtomicUsize::new(0),
            running: Mutex::default(),
            calls: Mutex::default(),
            said: Mutex::default(),
            calm: Mutex::new(false),
        }));
        let crew = Box::into_raw(new_crew());
        // SAFETY: both live until the end of this function, when all threads have been joined; and
        // for ever if it panics.
        let stage = unsafe { Stage { crew: &*crew, port: &*port } };
        while stage.crew.boot(&BootOptions { port: stage.port, budget }).is_err() {}
        *stage.port.calls.lock().unwrap() = 0;
        act(stage);
        stage.end();
        // SAFETY: no other thread has them any more.
        unsafe {
            drop(Box::from_raw(crew));
            drop(Box::from_raw(port));
        }
    }

    /// A pool of `roles` roles and `capacity` sets, all of them prestarted, and whatever `change`
    /// says.
    pub fn open(
        self,
        roles: usize,
        capacity: u32,
        change: impl FnOnce(&mut PoolOptions<'_>),
    ) -> Handle {
        self.open_with_stack(roles, STACK, capacity, change)
    }

    /// As [`Self::open`], with threads of that stack.
    pub fn open_with_stack(
        self,
        roles: usize,
        stack_bytes: usize,
        capacity: u32,
        change: impl FnOnce(&mut PoolOptions<'_>),
    ) -> Handle {
        let roster = [Role { name: "r", stack_bytes, priority: 1 }; 2];
        let roles = &roster[..roles];
        let mut options =
            PoolOptions { name: "p", roles, capacity, prestart: capacity, ..Default::default() };
        change(&mut options);
        self.crew.sets().open(&options).expect("the tables have room")
    }

    pub fn acquire(self, pool: Handle, timeout_ms: u32) -> Result<Handle, AcquireError> {
        self.crew.sets().acquire(pool, None, timeout_ms)
    }

    /// Gives the worker of `role` a joinable job that returns `value`.
    pub fn run(self, lease: Handle, role: usize, value: i32) -> Result<Handle, RunError> {
        self.crew
            .sets()
            .run(lease, role, b"job", &work(value), true)
            .map(|job| job.expect("joinable"))
    }

    /// As [`Self::run`], with no joiner.
    pub fn run_detached(self, lease: Handle, role: usize, value: i32) -> Result<(), RunError> {
        self.crew.sets().run(lease, role, b"job", &work(value), false).map(drop)
    }

    pub fn join(self, job: Handle, timeout_ms: u32) -> Result<JobResult, JobError> {
        self.crew.sets().join(job, timeout_ms)
    }

    /// Lets thread `n` run `jobs` jobs and no further.
    pub fn serve(self, n: usize, jobs: u32) {
        self.port.work(n, jobs);
    }

    /// Thread `n` ends where it is.
    pub fn die(self, n: usize) {
        let (member, ended) = self.port.member(n);
        // SAFETY: the part that plays the worker ends here.
        unsafe { member.exited() };
        ended.store(1, SeqCst);
    }

    /// Every bounded wait that has begun is over.
    pub fn time_passes(self, ms: u32) {
        self.port.clock_ms.fetch_add(ms as usize, SeqCst);
        let waiting = core::mem::take(&mut *self.port.waiting.lock().unwrap());
        waiting.into_iter().for_each(|(_, waiter)| waiter.unpark());
    }

    /// Idle sets of the pool.
    pub fn idle(self, pool: Handle) -> usize {
        let pool = self.crew.sets().find_pool(pool).expect("open");
        pool.idle.count()
    }

    /// What must hold in the end: everything is back, once.
    fn end(self) {
        *self.port.calm.lock().unwrap() = true;
        for p in 0..MAX_POOLS {
            let word = self.crew.sets.pools[p].word.load_seq_cst();
            if word.state() == pool_state::FREE {
                continue;
            }
            let pool = Handle::new(crate::table::Kind::Pool, p, word.generation());
            if !self.port.script.threads {
                let _ = self.crew.sets().close(pool, 0); // asks the threads to stop
                for n in 0..self.port.threads() {
                    if self.port.member(n).1.load(SeqCst) == 0 {
                        self.port.work(n, u32::MAX);
                    }
                }
            }
            match self.crew.sets().close(pool, LONG) {
                Ok(()) | Err(CloseError::Stale) => {}
                Err(error) => panic!("close: {error}"),
            }
        }
        loop {
            let Some(running) = self.port.running.lock().unwrap().pop() else { break };
            join([running]);
        }
        assert!(self.port.made.lock().unwrap().iter().all(|made| made.reaped), "a thread is left");
        match self.crew.audit(Some(0)) {
            Ok(figures) => assert_eq!(figures, Figures::default(), "something is left"),
            Err(disagreement) => panic!("{disagreement}"),
        }
    }

    /// Closes the pool; `Stale`: another has.
    pub fn close(self, pool: Handle, timeout_ms: u32) -> Result<(), CloseError> {
        self.crew.sets().close(pool, timeout_ms)
    }
}

/// On the heap without a stop on the stack, for it is large.
fn new_crew() -> Box<Crew> {
    Box::new(Crew::new())
}
