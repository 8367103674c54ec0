// SPDX-License-Identifier: MIT OR Apache-2.0
//! Grow: edges 1 and 2. Ask before taking (P2): the slot, the peer's share, the bytes, the target's
//! word, the kernel objects, and only then threads. What a failed growth took for a thread goes
//! back by that thread's own exit if it exists, and here if it never did.

use super::acquire::{Lent, note_busy};
use super::peer::Turn;
use super::retire::{Cause, UNDO_MS};
use super::slot::{PoolSlot, SetIndex, SetWord, job_cells, pool_state, worker_state};
use super::tables::{PoolRef, Sets};
use super::waiting::Want;
use super::{Refusal, RefusalKind};
use crate::limits::NAME_BYTES;
use crate::port::{Event, MemoryAnswer, Port, ThreadSpec};
use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use core::fmt::Write;
use core::num::NonZeroU64;

/// Threads are named by their role alone.
pub(crate) const ROLE_NAMES: u32 = 1;

/// A growth that has its slot, until it has come to something or everything is as it was.
struct Growing(PoolRef);

impl Growing {
    fn count(pool: PoolRef) -> Self {
        pool.growing.fetch_add(1, SeqCst);
        Self(pool)
    }

    /// Keeps why it was refused, for the callers that found its slot taken.
    fn note(&self, result: Result<(), Refusal>) -> Result<(), Refusal> {
        let detail = match result {
            Err(Refusal::SpawnFailed { os_error, role }) => {
                self.0.growth_error.store(os_error as u32, Relaxed);
                role
            }
            Err(Refusal::ObjectsExhausted { objects }) => objects,
            Err(Refusal::TargetMemory { .. }) => 0,
            _ => return result,
        };
        let kind = result.map_or_else(|refusal| refusal.kind() as u32, |()| 0);
        self.0.growth_refused.store(detail << 8 | kind, SeqCst);
        result
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        self.0.growing.fetch_sub(1, SeqCst);
    }
}

impl Sets {
    /// Why a set that could be there is not: what refused the last growth, if none has come to
    /// something since. `None`: as far as that goes the pool has its sets. The parts are of one
    /// refusal, or of several that all stand.
    pub(super) fn failed_growth(self, pool: PoolRef) -> Option<Refusal> {
        let word = pool.growth_refused.load(SeqCst);
        let growing = pool.growing.load(SeqCst);
        if pool.created.load(SeqCst).saturating_sub(growing) >= pool.capacity() as u32 {
            return None;
        }
        const SPAWN: u32 = RefusalKind::SpawnFailed as u32;
        const OBJECTS: u32 = RefusalKind::ObjectsExhausted as u32;
        const MEMORY: u32 = RefusalKind::TargetMemory as u32;
        let detail = word >> 8;
        match word & 0xff {
            SPAWN => {
                let os_error = pool.growth_error.load(Relaxed) as i32;
                Some(Refusal::SpawnFailed { os_error, role: detail })
            }
            OBJECTS => Some(Refusal::ObjectsExhausted { objects: detail }),
            MEMORY => largest_thread(&pool, self.host.booted_port().thread_overhead_bytes())
                .map(|requested| Refusal::TargetMemory { requested }),
            _ => None,
        }
    }

    /// A new set, leased to the caller.
    pub(super) fn grow(
        self,
        pool: PoolRef,
        peer: Option<NonZeroU64>,
        turn: Turn,
    ) -> Result<Lent, Refusal> {
        let (s, growing) = self.claim_slot(pool)?;
        if let Err(refusal) = self.admit_peer(pool, s, peer, turn) {
            self.give_up_slot(pool, s);
            return Err(refusal);
        }
        growing.note(self.build(pool, s))?;
        let set = self.set(s);
        let generation = set.lease.load(Relaxed).wrapping_add(1);
        set.lease.store(generation, Relaxed);
        set.since.store(self.host.moment(), Relaxed);
        growing.note(self.publish(pool, s, SetWord::LEASED))?;
        note_busy(&pool, pool.slot_of(s));
        Ok(Lent { set: s, generation })
    }

    /// A new set, put among the idle ones.
    pub(crate) fn grow_idle(self, pool: PoolRef) -> Result<(), Refusal> {
        let (s, growing) = self.claim_slot(pool)?;
        growing.note(self.build(pool, s))?;
        growing.note(self.publish(pool, s, SetWord::IDLE))?;
        self.offer(pool, s);
        Ok(())
    }

    fn claim_slot(self, pool: PoolRef) -> Result<(SetIndex, Growing), Refusal> {
        self.reap();
        // Counted first, then the pool's state is looked at; close changes the state first and then
        // waits for the count. One of the two sees the other, and from here on the pool stays.
        pool.users.fetch_add(1, SeqCst);
        match self.find_slot(pool) {
            Ok(slot) => {
                let s = pool.set(slot);
                let growing = Growing::count(pool);
                pool.created.fetch_add(1, Relaxed);
                self.set(s).store(SetWord(SetWord::BUILDING));
                Ok((s, growing))
            }
            Err(refusal) => {
                pool.users.fetch_sub(1, SeqCst);
                if pool.state() != pool_state::OPEN {
                    self.nudge(pool, Want::Exit); // close counted this attempt
                }
                Err(refusal)
            }
        }
    }

    fn find_slot(self, pool: PoolRef) -> Result<usize, Refusal> {
        if pool.state() != pool_state::OPEN {
            return Err(Refusal::ShuttingDown);
        }
        let capacity = pool.capacity() as u32;
        if self.host.is_sealed() && pool.role_count() > 0 && pool.created.load(Relaxed) < capacity {
            return Err(Refusal::Sealed);
        }
        pool.slots.claim_lowest(capacity as usize).ok_or(Refusal::AtCapacity { capacity })
    }

    /// The claimed slot goes back, and nothing else: no byte was reserved for it.
    fn give_up_slot(self, pool: PoolRef, s: SetIndex) {
        self.forget_peer(pool, s);
        self.set(s).store(SetWord::FREE);
        self.return_slot(pool, s);
    }

    fn build(self, pool: PoolRef, s: SetIndex) -> Result<(), Refusal> {
        let port = self.host.booted_port();
        let overhead = port.thread_overhead_bytes();
        if let Err(refusal) = self.reserve(pool, pool.set_bytes(overhead)) {
            self.give_up_slot(pool, s);
            return Err(refusal);
        }
        let mut made = 0;
        let bytes = |role| pool.thread_bytes(role, overhead);
        let result = largest_thread(&pool, overhead)
            .map_or(Ok(()), |bytes| ask_target(port, bytes))
            .and_then(|()| self.make_events(port, pool, s))
            .and_then(|()| {
                (0..pool.role_count()).try_for_each(|role| {
                    // The first answer holds for one thread. Where there is no room for the next,
                    // its creation may succeed and the thread fault (VxWorks).
                    if role > 0 {
                        ask_target(port, bytes(role))?;
                    }
                    self.make_thread(port, pool, s, role)?;
                    made += 1;
                    Ok(())
                })
            });
        if let Err(refusal) = result {
            // The bytes of threads that exist are theirs to give back; the set's own extra bytes
            // go with its slot.
            let never: usize =
                (made..pool.role_count()).map(|role| pool.thread_bytes(role, overhead)).sum();
            self.host.account.release(never);
            self.undo_build(pool, s);
            return Err(refusal);
        }
        Ok(())
    }

    /// Reserves the set's bytes. Before it says no it takes back what ended threads hold, and what
    /// other pools keep idle above their keep.
    fn reserve(self, pool: PoolRef, bytes: usize) -> Result<(), Refusal> {
        if self.host.account.try_reserve(bytes).is_ok() {
            return Ok(());
        }
        self.reap();
        self.reclaim_idle(pool, bytes);
        self.reap();
        self.host.account.try_reserve(bytes).map_err(|shortfall| {
            self.host.count_account_refusal();
            Refusal::OutOfReservation(shortfall)
        })
    }

    fn make_events(self, port: &dyn Port, pool: PoolRef, s: SetIndex) -> Result<(), Refusal> {
        let events = || {
            pool.workers(s).flat_map(|w| {
                let cells = job_cells(w).map(|cell| &self.tables.jobs[cell].done);
                core::iter::once(&self.worker(w).wake).chain(cells)
            })
        };
        let objects = events().filter(|event| event.is_missing()).count() as u32;
        // An event that was made stays with its slot, so a second try needs only the rest.
        events()
            .try_for_each(|event: &'static Event| event.prepare(port))
            .map_err(|_| Refusal::ObjectsExhausted { objects })
    }

    fn make_thread(
        self,
        port: &dyn Port,
        pool: PoolRef,
        s: SetIndex,
        role: usize,
    ) -> Result<(), Refusal> {
        let w = pool.worker(s, role);
        let worker = self.worker(w);
        let name = thread_name(&pool, pool.slot_of(s), role);
        let spec = ThreadSpec {
            name: &name,
            stack_bytes: pool.roles[role].stack_bytes.load(Relaxed),
            priority: pool.roles[role].priority.load(Relaxed),
            member: self.host.member(w.0),
        };
        // Counted before it exists: it may run, and end, before thread_create returns.
        self.set(s).change(|word| Some(word.0 + SetWord::ONE_ALIVE));
        worker.store(worker_state::PARKED);
        match port.thread_create(&spec) {
            Ok(thread) => {
                worker.thread.store(thread, Release);
                pool.threads.fetch_add(1, Relaxed);
                Ok(())
            }
            Err(os_error) => {
                worker.store(worker_state::EMPTY);
                self.set(s).change(|word| Some(word.0 - SetWord::ONE_ALIVE));
                Err(Refusal::SpawnFailed { os_error, role: role as u32 })
            }
        }
    }

    /// Edge 2: from here on others may find the set. Refused if a member died, or the pool closed,
    /// while it was built.
    fn publish(self, pool: PoolRef, s: SetIndex, state: u32) -> Result<(), Refusal> {
        let published = self.set(s).change(|word| {
            (!word.is(SetWord::RETIRED)).then_some(word.0 & !SetWord::BUILDING | state)
        });
        if published.is_some() {
            pool.created_high.fetch_max(pool.created.load(Relaxed), Relaxed);
            pool.growth_refused.store(0, Relaxed);
            return Ok(());
        }
        // The generation that was made for the grower is of no lease.
        self.set(s).lease.fetch_and(!1, Relaxed);
        let dead = pool.workers(s).find(|&w| {
            matches!(self.worker(w).state(), worker_state::EXITED | worker_state::REAPING)
        });
        let role = dead.map_or(0, |w| self.worker(w).role() as u32);
        let closing = pool.state() != pool_state::OPEN;
        self.undo_build(pool, s);
        Err(if closing {
            Refusal::ShuttingDown
        } else {
            Refusal::SpawnFailed { os_error: 0, role }
        })
    }

    /// Stops the threads that a failed growth made, and waits a bounded time until they are gone
    /// and everything is as it was.
    fn undo_build(self, pool: PoolRef, s: SetIndex) {
        self.retire(s, Cause::Orderly);
        if let Some(word) = self.set(s).change(|word| Some(word.0 & !SetWord::BUILDING)) {
            self.settle(s, word);
        }
        self.wait_for_exits(pool, UNDO_MS, || !self.set(s).word().is(SetWord::RETIRED));
    }
}

/// What the largest thread of a set takes.
fn largest_thread(pool: &PoolSlot, overhead: usize) -> Option<usize> {
    (0..pool.role_count()).map(|role| pool.thread_bytes(role, overhead)).max()
}

/// Whether the target has what one thread takes in one piece now. The account speaks for what Crew
/// took; only the target knows what others took since.
fn ask_target(port: &dyn Port, requested: usize) -> Result<(), Refusal> {
    match port.memory_has(requested) {
        MemoryAnswer::No(_) => Err(Refusal::TargetMemory { requested }),
        MemoryAnswer::Yes | MemoryAnswer::CannotTell => Ok(()),
    }
}

/// `pool.slot-role`, cut to what a system keeps; or the role alone.
fn thread_name(pool: &PoolSlot, slot: usize, role: usize) -> heapless::String<NAME_BYTES> {
    let mut name = heapless::String::<{ NAME_BYTES * 4 }>::new();
    let role_name = pool.roles[role].name.read();
    // Long enough for all three parts, so this cannot fail.
    let _ = if pool.flags.load(Relaxed) & ROLE_NAMES != 0 {
        name.write_str(&role_name)
    } else {
        write!(name, "{}.{slot}-{role_name}", pool.name.read())
    };
    name.chars().take(NAME_BYTES - 1).collect()
}
