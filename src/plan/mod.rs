// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many sets fit, whose "no" comes first, and what to change: arithmetic for the engineer who
//! sizes a budget before a board is there. The command `crew-plan` prints it; the simulated targets
//! of the tests hold it against the pool itself.
//!
//! Four bounds end the growth of a pool: its capacity, the account, the descriptors that
//! connections need, the target's memory. The first two are Crew's: they refuse, and nothing is
//! lost. Behind the others nothing says no: the next client is not even accepted, or a thread
//! fails. So a good plan ends at the first two.

pub mod figures;
mod roster;

pub use roster::{parse_bytes, parse_roster};

use crate::account::Account;
use crate::account::verdict::{self, Verdict};
use crate::port::{MemoryAnswer, Target};
use crate::shim;
use figures::{rtems, vxworks};

const MIB: usize = 1 << 20;

/// What makes the threads; what one costs beyond its stack depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// C code: the EPICS and POSIX ports.
    C,
    /// `std::thread`: the std port.
    Std,
}

impl Threads {
    /// What one thread costs beyond its declared stack, in bytes.
    pub const fn overhead_bytes(self, target: Target) -> usize {
        match (self, target) {
            (Threads::Std, target) => shim::thread_overhead_bytes(target),
            (Threads::C, Target::Host) => 0,
            (Threads::C, Target::Rtems) => rtems::C_THREAD_OVERHEAD_BYTES,
            (Threads::C, Target::VxWorks) => vxworks::C_THREAD_OVERHEAD_BYTES,
        }
    }
}

/// The memory that thread stacks come from, while no client is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Free in all, in bytes.
    pub free: usize,
    /// Free in one piece: what the target's answer to a budget rests on.
    pub one_piece: usize,
    /// The last set is served only while this much is free.
    pub for_one_more: usize,
}

impl Memory {
    /// A real-time process of VxWorks on a system with `ram` bytes, of which its fixed threads take
    /// `fixed`. A single mapping under-reads the rest as it did where it was measured.
    pub fn vxworks(ram: usize, fixed: usize) -> Self {
        let usable = ram.saturating_sub(vxworks::OUTSIDE_BYTES);
        let one_piece = usable as u128 * vxworks::GUEST_ONE_MAPPING_BYTES as u128
            / vxworks::GUEST_USABLE_BYTES as u128;
        let free = usable.saturating_sub(fixed);
        Self { free, one_piece: free.min(one_piece as usize), for_one_more: 0 }
    }

    /// An IOC on RTEMS with `ram` bytes: what the measured one took, its fixed threads included, is
    /// gone, the rest is one block.
    pub fn rtems(ram: usize) -> Self {
        let taken = rtems::BOARD_BYTES - rtems::IOC_FREE_BYTES;
        Self::rtems_free(ram.saturating_sub(taken))
    }

    /// An IOC on RTEMS that runs, with `free` bytes of heap in one block.
    pub const fn rtems_free(free: usize) -> Self {
        Self { free, one_piece: free, for_one_more: rtems::ONE_MORE_CLIENT_BYTES }
    }

    /// How many times `bytes` fit.
    fn sets(&self, bytes: usize) -> usize {
        if bytes == 0 {
            return usize::MAX;
        }
        match self.free.checked_sub(bytes.max(self.for_one_more)) {
            Some(left) => left / bytes + 1,
            None => 0,
        }
    }
}

/// The table that connections take a descriptor each from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// All there are.
    pub total: usize,
    /// In use while no client is connected.
    pub idle: usize,
}

impl Descriptors {
    /// Connections that can be served. One descriptor is kept, because a refusal is delivered on a
    /// connection that has been accepted.
    pub const fn connections(self) -> usize {
        self.total.saturating_sub(self.idle).saturating_sub(1)
    }
}

/// Where the pools shall run.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The system.
    pub target: Target,
    /// What makes the threads.
    pub threads: Threads,
    /// `None`: not known, or more than any user will need.
    pub memory: Option<Memory>,
    /// MiB that the operator asks for; `None`: the target's default.
    pub budget_mib: Option<u32>,
    /// Bytes that fixed threads are charged with.
    pub fixed: usize,
    /// `None`: not looked at.
    pub descriptors: Option<Descriptors>,
}

/// A pool of the plan.
#[derive(Clone, Debug)]
pub struct PlannedPool {
    /// Its name.
    pub name: String,
    /// Each role's name and stack.
    pub roles: Vec<(String, usize)>,
    /// The most sets.
    pub capacity: usize,
    /// What a connection takes from the same memory beyond its threads, and the account does not
    /// see.
    pub beyond_threads: usize,
}

impl PlannedPool {
    /// What the account reserves for a set.
    pub fn set_bytes(&self, overhead: usize) -> usize {
        self.roles
            .iter()
            .map(|(_, stack)| stack.saturating_add(overhead))
            .fold(0, usize::saturating_add)
    }
}

/// What ends a pool's growth, in the order in which a set meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The pool refuses: at capacity.
    Capacity,
    /// The account refuses: out of reservation.
    Account,
    /// No descriptor is left but the one on which a refusal can be delivered.
    Descriptors,
    /// The target's memory ends.
    Memory,
}

impl Bound {
    /// Every bound, in order.
    pub const ALL: [Bound; 4] =
        [Bound::Capacity, Bound::Account, Bound::Descriptors, Bound::Memory];

    /// Whether it is Crew that says no there: a typed refusal, which loses nothing.
    pub const fn refuses(self) -> bool {
        matches!(self, Bound::Capacity | Bound::Account)
    }
}

/// What one pool comes to when all have grown as far as they can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Sets that it has.
    pub sets: usize,
    /// What ended its growth.
    pub ended_by: Bound,
}

impl Site {
    /// What one thread costs beyond its stack.
    pub const fn overhead_bytes(&self) -> usize {
        self.threads.overhead_bytes(self.target)
    }

    /// The budget in bytes that a boot would adopt here, and what would be said.
    pub fn budget(&self) -> (usize, Verdict) {
        let Some(asked) = self.budget_mib.or(self.target.default_budget_mib()) else {
            return (Account::UNBOUNDED, Verdict::Unbounded);
        };
        let bytes = |mib: u32| (mib as usize).saturating_mul(MIB);
        let (mib, verdict) =
            verdict::judge(asked, self.budget_mib.is_some(), |mib| self.answer(bytes(mib)));
        (bytes(mib), verdict)
    }

    /// What the target would say to the question for `bytes`, as far as this plan knows its memory.
    fn answer(&self, bytes: usize) -> MemoryAnswer {
        let basis = match self.target {
            Target::Host => return MemoryAnswer::CannotTell,
            Target::Rtems => shim::rtems::MEMORY_BASIS,
            Target::VxWorks => shim::vxworks::MEMORY_BASIS,
        };
        match self.memory {
            None => MemoryAnswer::CannotTell,
            Some(memory) if memory.one_piece >= bytes => MemoryAnswer::Yes,
            Some(_) => MemoryAnswer::No(basis),
        }
    }

    /// How many sets of `pool` each bound would admit if it were the only one and the pool alone;
    /// fewest first.
    pub fn bounds(&self, pool: &PlannedPool) -> Vec<(usize, Bound)> {
        let set = pool.set_bytes(self.overhead_bytes());
        let with_client = set.saturating_add(pool.beyond_threads);
        let (budget, _) = self.budget();
        let mut bounds = vec![(pool.capacity, Bound::Capacity)];
        if budget != Account::UNBOUNDED {
            let sets = budget.saturating_sub(self.fixed).checked_div(set);
            bounds.push((sets.unwrap_or(usize::MAX), Bound::Account));
        }
        bounds.extend(self.descriptors.map(|table| (table.connections(), Bound::Descriptors)));
        bounds.extend(self.memory.map(|memory| (memory.sets(with_client), Bound::Memory)));
        bounds.sort();
        bounds
    }

    /// All pools grow in turn, one set each, until the growth of every one has ended.
    pub fn fill(&self, pools: &[PlannedPool]) -> Vec<Filled> {
        let (budget, _) = self.budget();
        let overhead = self.overhead_bytes();
        let mut filled = vec![(0, None); pools.len()];
        let (mut held, mut used, mut connections) = (self.fixed, 0usize, 0);
        while filled.iter().any(|(_, ended_by)| ended_by.is_none()) {
            for (pool, (sets, ended_by)) in pools.iter().zip(&mut filled) {
                if ended_by.is_some() {
                    continue;
                }
                let set = pool.set_bytes(overhead);
                let with_client = set.saturating_add(pool.beyond_threads);
                let ends = |bound: &Bound| match bound {
                    Bound::Capacity => *sets == pool.capacity,
                    Bound::Account => set > budget.saturating_sub(held),
                    Bound::Descriptors => {
                        self.descriptors.is_some_and(|table| connections >= table.connections())
                    }
                    Bound::Memory => self.memory.is_some_and(|memory| {
                        with_client.max(memory.for_one_more) > memory.free.saturating_sub(used)
                    }),
                };
                *ended_by = Bound::ALL.into_iter().find(ends);
                if ended_by.is_none() {
                    *sets += 1;
                    connections += 1;
                    held = held.saturating_add(set);
                    used = used.saturating_add(with_client);
                }
            }
        }
        let ended = filled.into_iter().filter_map(|(sets, ended_by)| Some((sets, ended_by?)));
        ended.map(|(sets, ended_by)| Filled { sets, ended_by }).collect()
    }

    /// The budget in MiB that admits every set of `pools`.
    pub fn budget_for_all(&self, pools: &[PlannedPool]) -> usize {
        let overhead = self.overhead_bytes();
        let sets = pools.iter().map(|pool| pool.set_bytes(overhead).saturating_mul(pool.capacity));
        sets.fold(self.fixed, usize::saturating_add).div_ceil(MIB)
    }
}
