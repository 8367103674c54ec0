// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known from outside of one process: its tape, the port's threads, clock and faults, and
//! what was handed out and taken back. No borrow of a ledger is held while the core is called.

use crate::Done;
use crate::tape::Tape;
use crew::ffi::{crew_event, crew_port};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

thread_local! {
    static WORLD: RefCell<Rc<World>> = RefCell::new(Rc::new(World::default()));
}

/// Begins a new world.
pub fn begin(input: &[u8]) {
    let is_told = std::env::var_os("CREW_FUZZ_TELL").is_some();
    let world = World { tape: Tape::new(input), is_told, ..World::default() };
    WORLD.set(Rc::new(world));
}

/// Does something with the present world; may be nested.
pub fn with<T>(act: impl FnOnce(&World) -> T) -> T {
    let world = WORLD.with_borrow(Rc::clone);
    act(&world)
}

/// See the module.
#[derive(Default)]
pub struct World {
    pub tape: Tape,
    pub done: Cell<Done>,
    /// Whether each call is printed, for the reader of a find.
    pub is_told: bool,
    /// How many calls are under way, one inside the other.
    pub depth: Cell<u32>,
    pub booted: Cell<bool>,
    pub sealed: Cell<bool>,

    // The port.
    pub port: RefCell<Option<Rc<crew_port>>>,
    pub clock_ms: Cell<u64>,
    pub overhead: Cell<usize>,
    pub threads: RefCell<BTreeMap<usize, Thread>>,
    pub made: Cell<usize>,
    pub events: RefCell<BTreeSet<usize>>,
    pub faults: Faults,
    /// Waits that ended without anything having happened, after the tape's end.
    pub stalls: Cell<u32>,
    pub log: RefCell<Vec<String>>,

    // What was handed out.
    pub pools: RefCell<BTreeMap<u64, Pool>>,
    pub leases: RefCell<BTreeMap<u64, Lease>>,
    pub jobs: RefCell<BTreeMap<u64, Job>>,
    pub tokens: RefCell<Vec<Rc<Token>>>,
    pub charges: RefCell<BTreeMap<u64, u64>>,
    /// Every handle ever handed out, by kind, in order.
    pub handles: RefCell<[Vec<u64>; 4]>,
}

/// What the port does wrong, and when.
#[derive(Default)]
pub struct Faults {
    /// Calls of the port until others run first; 0: never.
    pub preempt_in: Cell<u8>,
    pub fail_thread_in: Cell<u8>,
    pub fail_event_in: Cell<u8>,
    /// What `memory_has` answers: see there.
    pub memory: Cell<u8>,
    /// How often an ended thread is "not yet" gone.
    pub linger: Cell<u8>,
    /// Every wait ends early.
    pub early: Cell<bool>,
    pub stack_used: Cell<usize>,
}

impl Faults {
    pub fn heal(&self) {
        self.preempt_in.set(0);
        self.fail_thread_in.set(0);
        self.fail_event_in.set(0);
        self.memory.set(0);
        self.linger.set(0);
        self.early.set(false);
    }
}

/// Counts down; true when it gets to 0.
pub fn is_due(countdown: &Cell<u8>) -> bool {
    let left = countdown.get();
    countdown.set(left.saturating_sub(1));
    left == 1
}

/// A thread of the port.
pub struct Thread {
    pub worker: u32,
    /// What it holds on the account.
    pub bytes: u64,
    pub state: State,
    pub suspended: bool,
    pub lingers: u8,
}

#[derive(Clone)]
pub enum State {
    /// Being made: it may fail yet.
    Unborn,
    Ready,
    Waiting {
        event: *mut crew_event,
        until_ms: u64,
    },
    /// In the function of a job, which is on the stack.
    InFunction,
    /// In a job, between two steps.
    InJob(Rc<Token>),
    /// In a call of the core.
    InCore,
    /// In its exit hook.
    Ending,
    Ended,
}

/// A pool that was opened.
pub struct Pool {
    pub capacity: u32,
    pub roles: u32,
    pub per_peer: u32,
    /// `crew_pool_close` has said OK.
    pub closed: bool,
}

/// A lease's handle that was seen.
#[derive(Default)]
pub struct Lease {
    /// Pool and peer, once `crew_acquire` has returned it.
    pub granted: Option<(u64, u64)>,
    pub released: bool,
}

/// A job's handle that was seen.
#[derive(Default)]
pub struct Job {
    /// What was run, once `crew_run` has returned it.
    pub token: Option<Rc<Token>>,
    /// What a join said, or that it was detached.
    pub settled: Option<Settled>,
}

#[derive(Clone, Copy)]
pub enum Settled {
    Joined { outcome: i32, value: i32, told: bool },
    Detached,
}

/// One call of `crew_run`: what the function is called with.
pub struct Token {
    pub number: usize,
    pub label: Option<String>,
    pub detached: bool,
    /// What `crew_run` answered, once it has.
    pub status: Cell<Option<i32>>,
    pub begun: Cell<bool>,
    pub end: Cell<Option<End>>,
}

/// How a job that was begun ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Returned(i32),
    Failed,
    Died,
}

impl World {
    /// Prints what happened, indented by how deep it is nested.
    pub fn tell(&self, what: std::fmt::Arguments<'_>) {
        if self.is_told {
            eprintln!("{:indent$}{what}", "", indent = self.depth.get() as usize * 2);
        }
    }

    pub fn count(&self, what: impl FnOnce(&mut Done)) {
        let mut done = self.done.get();
        what(&mut done);
        self.done.set(done);
    }
}
