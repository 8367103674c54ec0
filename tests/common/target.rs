// SPDX-License-Identifier: MIT OR Apache-2.0
//! A *simulated* target: the simulated port's threads and clock, and behind them the things that a
//! real target runs out of, with sizes as they were measured. It proves what Crew does at such
//! walls; it says nothing about the systems themselves.

use super::free_list::{Block, FreeList};
use super::sim::{EAGAIN, ENOMEM, Sim};
use crew::port::{Event, MemoryAnswer, Port, Severity, Target, ThreadSpec};
use crew::shim;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// How a creation fails when there is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wall {
    /// It fails with EAGAIN.
    Fails,
    /// It succeeds, and the new thread faults: the process is dead.
    Faults,
}

/// When the stack of a joined thread is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zombies {
    /// At once.
    None,
    /// At the next creation of a thread, and before the memory question is answered.
    GoneBeforeTheQuestion,
    /// At the next creation of a thread, and no sooner.
    Stay,
}

/// Kernel objects: once `refuse_at` live ones exist, the next `refusals` creations fail.
#[derive(Clone, Copy, Debug)]
pub struct Arena {
    pub refuse_at: usize,
    pub refusals: usize,
}

/// A simulated target's properties.
#[derive(Clone, Debug)]
pub struct Profile {
    pub target: Target,
    /// Bytes beyond its stack that the port says a thread costs.
    pub charged_overhead: usize,
    /// Bytes beyond its stack that a thread costs on this target.
    pub true_overhead: usize,
    /// Memory for stacks while no client is connected, in pieces.
    pub pieces: Vec<usize>,
    /// Bytes that each block costs beyond its size.
    pub header: usize,
    /// Whether the memory question is answered.
    pub answers: bool,
    pub wall: Wall,
    pub zombies: Zombies,
    pub arena: Option<Arena>,
    /// Descriptors that are free while no client is connected.
    pub descriptors: usize,
}

impl Profile {
    /// Nothing runs out but one piece of `bytes` for stacks.
    pub fn new(target: Target, bytes: usize) -> Self {
        Self {
            target,
            charged_overhead: 0,
            true_overhead: 0,
            pieces: vec![bytes],
            header: 0,
            answers: true,
            wall: Wall::Fails,
            zombies: Zombies::None,
            arena: None,
            descriptors: usize::MAX,
        }
    }
}

/// What has happened to the target so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misfortunes {
    /// Thread creations that failed for want of memory.
    pub failed_threads: usize,
    /// Threads that were made without room for them.
    pub faults: usize,
    /// Kernel objects that were refused.
    pub refused_objects: usize,
}

pub struct SimulatedTarget {
    pub sim: &'static Sim,
    profile: Profile,
    state: Mutex<State>,
}

struct State {
    memory: FreeList,
    stacks: BTreeMap<usize, Block>,
    zombies: Vec<Block>,
    misfortunes: Misfortunes,
    objects: usize,
    refusals_left: usize,
    descriptors: usize,
}

impl SimulatedTarget {
    pub fn new(profile: Profile) -> &'static Self {
        let state = State {
            memory: FreeList::new(&profile.pieces, profile.header),
            stacks: BTreeMap::new(),
            zombies: Vec::new(),
            misfortunes: Misfortunes::default(),
            objects: 0,
            refusals_left: profile.arena.map_or(0, |arena| arena.refusals),
            descriptors: profile.descriptors,
        };
        Box::leak(Box::new(Self { sim: Sim::new(), profile, state: Mutex::new(state) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn misfortunes(&self) -> Misfortunes {
        self.state().misfortunes
    }

    pub fn free(&self) -> usize {
        self.state().memory.total()
    }

    pub fn largest(&self) -> usize {
        self.state().memory.largest()
    }

    pub fn objects(&self) -> usize {
        self.state().objects
    }

    /// Another part of the process, not Crew, takes memory.
    pub fn take(&self, bytes: usize) -> Option<Block> {
        self.state().memory.take(bytes)
    }

    pub fn give_back(&self, block: Block) {
        self.state().memory.give_back(block);
    }

    /// A stack for a thread that Crew does not make.
    pub fn take_stack(&self, bytes: usize) -> Option<Block> {
        let mut state = self.state();
        state.bury();
        state.memory.take(bytes)
    }

    /// As the next creation of a thread would.
    pub fn bury_zombies(&self) {
        self.state().bury();
    }

    /// Such a thread has been joined.
    pub fn give_back_stack(&self, block: Block) {
        self.state().join(block, self.profile.zombies);
    }

    /// A connection is accepted: false, there is no descriptor for it.
    pub fn open_descriptor(&self) -> bool {
        let mut state = self.state();
        let found = state.descriptors > 0;
        state.descriptors -= usize::from(found);
        found
    }

    pub fn close_descriptor(&self) {
        self.state().descriptors += 1;
    }
}

impl State {
    /// Every creation of a thread begins with this.
    fn bury(&mut self) {
        for block in self.zombies.drain(..) {
            self.memory.give_back(block);
        }
    }

    fn join(&mut self, stack: Block, zombies: Zombies) {
        match zombies {
            Zombies::None => self.memory.give_back(stack),
            Zombies::GoneBeforeTheQuestion | Zombies::Stay => self.zombies.push(stack),
        }
    }
}

// SAFETY: its threads and events are those of `Sim`.
unsafe impl Port for SimulatedTarget {
    fn target(&self) -> Target {
        self.profile.target
    }

    fn thread_overhead_bytes(&self) -> usize {
        self.profile.charged_overhead
    }

    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        let stack = {
            let mut state = self.state();
            state.bury();
            let stack = state.memory.take(spec.stack_bytes + self.profile.true_overhead);
            if stack.is_none() {
                match self.profile.wall {
                    Wall::Fails => {
                        state.misfortunes.failed_threads += 1;
                        return Err(EAGAIN);
                    }
                    Wall::Faults => state.misfortunes.faults += 1,
                }
            }
            stack
        };
        let thread = self.sim.thread_create(spec)?;
        self.state().stacks.extend(stack.map(|stack| (thread, stack)));
        Ok(thread)
    }

    unsafe fn thread_reap(&self, thread: usize) -> bool {
        // SAFETY: the caller's promise.
        if !unsafe { self.sim.thread_reap(thread) } {
            return false;
        }
        let mut state = self.state();
        if let Some(stack) = state.stacks.remove(&thread) {
            state.join(stack, self.profile.zombies);
        }
        true
    }

    fn event_create(&self, event: &'static Event) -> Result<(), i32> {
        let mut state = self.state();
        let at_its_limit = self.profile.arena.is_some_and(|arena| state.objects >= arena.refuse_at);
        if at_its_limit && state.refusals_left > 0 {
            state.refusals_left -= 1;
            state.misfortunes.refused_objects += 1;
            return Err(ENOMEM);
        }
        state.objects += 1;
        drop(state);
        self.sim.event_create(event)
    }

    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.sim.event_wait(event, timeout_ms) }
    }

    unsafe fn event_post(&self, event: &'static Event) {
        // SAFETY: the caller's promise.
        unsafe { self.sim.event_post(event) }
    }

    fn clock_ms(&self) -> u64 {
        self.sim.clock_ms()
    }

    fn memory_has(&self, bytes: usize) -> MemoryAnswer {
        if !self.profile.answers {
            return MemoryAnswer::CannotTell;
        }
        let mut state = self.state();
        if self.profile.zombies == Zombies::GoneBeforeTheQuestion {
            state.bury();
        }
        if state.memory.largest() >= bytes {
            MemoryAnswer::Yes
        } else {
            // In the words of the target that is simulated.
            MemoryAnswer::No(match self.profile.target {
                Target::Host => "has less than that",
                Target::Rtems => shim::rtems::MEMORY_BASIS,
                Target::VxWorks => shim::vxworks::MEMORY_BASIS,
            })
        }
    }

    fn log(&self, severity: Severity, text: &str) {
        self.sim.log(severity, text);
    }
}
