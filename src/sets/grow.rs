// SPDX-License-Identifier: MIT OR Apache-2.0
//! Grow: edges 1 and 2. Ask before taking (P2): the slot, the peer's share, the bytes, the target's
//! word, the kernel objects, and only then threads. What a failed growth took goes back by whoever
//! it was spent on: a thread that exists, by its own exit; one that never existed, here.

use super::Refusal;
use super::acquire::{Lent, note_busy};
use super::retire::{Cause, UNDO_MS};
use super::slot::{PoolSlot, SetWord, job_cells, pool_state, worker_state};
use crate::crew::Crew;
use crate::limits::NAME_BYTES;
use crate::port::{Event, Member, MemoryAnswer, Port, ThreadSpec};
use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use crate::table::Want;
use core::fmt::Write;
use core::num::NonZeroU64;

/// Threads are named by their role alone.
pub(crate) const ROLE_NAMES: u32 = 1;

impl Crew {
    /// A new set, leased to the caller.
    pub(super) fn grow(
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
        peer: Option<NonZeroU64>,
    ) -> Result<Lent, Refusal> {
        let s = self.claim_slot(p, pool)?;
        if let Err(refusal) = self.admit_peer(pool, s, peer) {
            self.give_up_slot(p, pool, s);
            return Err(refusal);
        }
        self.build(p, pool, s)?;
        let set = &self.sets[s];
        let generation = set.lease.load(Relaxed).wrapping_add(1);
        set.lease.store(generation, Relaxed);
        self.stamp(s);
        self.publish(p, pool, s, SetWord::LEASED)?;
        note_busy(pool, s);
        Ok(Lent { set: s, generation })
    }

    /// A new set, put among the idle ones.
    pub(crate) fn grow_idle(
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
    ) -> Result<(), Refusal> {
        let s = self.claim_slot(p, pool)?;
        self.build(p, pool, s)?;
        self.publish(p, pool, s, SetWord::IDLE)?;
        self.offer(p, pool, s);
        Ok(())
    }

    fn claim_slot(&'static self, p: usize, pool: &'static PoolSlot) -> Result<usize, Refusal> {
        self.reap();
        // Counted first, then the pool's state is looked at; close changes the state first and then
        // waits for the count. One of the two sees the other, and from here on the pool stays.
        pool.users.fetch_add(1, SeqCst);
        match self.find_slot(pool) {
            Ok(slot) => {
                let s = pool.first_set() + slot;
                pool.created.fetch_add(1, Relaxed);
                self.sets[s].store(SetWord(SetWord::BUILDING));
                Ok(s)
            }
            Err(refusal) => {
                pool.users.fetch_sub(1, SeqCst);
                if pool.state() != pool_state::OPEN {
                    self.waiters.nudge(self.booted_port(), p, Want::Exit); // close counted this attempt
                }
                Err(refusal)
            }
        }
    }

    fn find_slot(&'static self, pool: &'static PoolSlot) -> Result<usize, Refusal> {
        if pool.state() != pool_state::OPEN {
            return Err(Refusal::ShuttingDown);
        }
        let capacity = pool.capacity() as u32;
        if self.is_sealed() && pool.role_count() > 0 && pool.created.load(Relaxed) < capacity {
            return Err(Refusal::Sealed);
        }
        pool.slots.claim_lowest(capacity as usize).ok_or(Refusal::AtCapacity { capacity })
    }

    /// The claimed slot goes back, and nothing else: no byte was reserved for it.
    fn give_up_slot(&'static self, p: usize, pool: &'static PoolSlot, s: usize) {
        self.forget_peer(pool, s);
        self.sets[s].store(SetWord::FREE);
        self.return_slot(p, pool, s);
    }

    fn build(&'static self, p: usize, pool: &'static PoolSlot, s: usize) -> Result<(), Refusal> {
        let port = self.booted_port();
        let overhead = port.thread_overhead_bytes();
        if let Err(refusal) = self.reserve(p, pool.set_bytes(overhead)) {
            self.give_up_slot(p, pool, s);
            return Err(refusal);
        }
        let mut made = 0;
        let bytes = |role| pool.thread_bytes(role, overhead);
        let largest = (0..pool.role_count()).map(bytes).max();
        let result = largest
            .map_or(Ok(()), |bytes| ask_target(port, bytes))
            .and_then(|()| self.make_events(port, pool, s))
            .and_then(|()| {
                let first = pool.workers(s).start;
                (0..pool.role_count()).try_for_each(|role| {
                    // The first answer holds for one thread. Where there is no room for the next, its
                    // creation may succeed and the thread fault (VxWorks).
                    if role > 0 {
                        ask_target(port, bytes(role))?;
                    }
                    self.make_thread(port, pool, s, first + role, role)?;
                    made += 1;
                    Ok(())
                })
            });
        if let Err(refusal) = result {
            // The bytes of threads that exist are theirs to give back; the set's own extra bytes
            // go with its slot.
            let never: usize =
                (made..pool.role_count()).map(|role| pool.thread_bytes(role, overhead)).sum();
            self.account.release(never);
            self.undo_build(p, s);
            return Err(refusal);
        }
        Ok(())
    }

    /// Reserves the set's bytes. Before it says no it takes back what ended threads hold, and what
    /// other pools keep idle above their keep.
    fn reserve(&'static self, p: usize, bytes: usize) -> Result<(), Refusal> {
        if self.account.try_reserve(bytes).is_ok() {
            return Ok(());
        }
        self.reap();
        self.reclaim_idle(p, bytes);
        self.reap();
        self.account.try_reserve(bytes).map_err(|shortfall| {
            self.count_account_refusal();
            Refusal::OutOfReservation(shortfall)
        })
    }

    fn make_events(
        &'static self,
        port: &dyn Port,
        pool: &'static PoolSlot,
        s: usize,
    ) -> Result<(), Refusal> {
        let events = || {
            pool.workers(s).flat_map(|w| {
                let cells = job_cells(w).map(|cell| &self.jobs[cell].done);
                core::iter::once(&self.workers[w].wake).chain(cells)
            })
        };
        let objects = events().filter(|event| event.is_missing()).count() as u32;
        // An event that was made stays with its slot, so a second try needs only the rest.
        events()
            .try_for_each(|event: &'static Event| event.prepare(port))
            .map_err(|_| Refusal::ObjectsExhausted { objects })
    }

    fn make_thread(
        &'static self,
        port: &dyn Port,
        pool: &'static PoolSlot,
        s: usize,
        w: usize,
        role: usize,
    ) -> Result<(), Refusal> {
        let name = thread_name(pool, s - pool.first_set(), role);
        let spec = ThreadSpec {
            name: &name,
            stack_bytes: pool.roles[role].stack_bytes.load(Relaxed),
            priority: pool.roles[role].priority.load(Relaxed),
            member: Member { crew: self, worker: w },
        };
        // Counted before it exists: it may run, and end, before thread_create returns.
        self.sets[s].change(|word| Some(word.0 + SetWord::ONE_ALIVE));
        self.workers[w].store(worker_state::PARKED);
        match port.thread_create(&spec) {
            Ok(thread) => {
                self.workers[w].thread.store(thread, Release);
                pool.threads.fetch_add(1, Relaxed);
                Ok(())
            }
            Err(os_error) => {
                self.workers[w].store(worker_state::EMPTY);
                self.sets[s].change(|word| Some(word.0 - SetWord::ONE_ALIVE));
                Err(Refusal::SpawnFailed { os_error, role: role as u32 })
            }
        }
    }

    /// Edge 2: from here on others may find the set. Refused if a member died, or the pool closed,
    /// while it was built.
    fn publish(
        &'static self,
        p: usize,
        pool: &'static PoolSlot,
        s: usize,
        state: u32,
    ) -> Result<(), Refusal> {
        let published = self.sets[s].change(|word| {
            (!word.is(SetWord::RETIRED)).then_some(word.0 & !SetWord::BUILDING | state)
        });
        if published.is_some() {
            pool.created_high.fetch_max(pool.created.load(Relaxed), Relaxed);
            return Ok(());
        }
        // A generation that was made for the grower is nobody's.
        self.sets[s].lease.fetch_and(!1, Relaxed);
        let dead = pool.workers(s).find(|&w| {
            matches!(self.workers[w].state(), worker_state::EXITED | worker_state::REAPING)
        });
        let role = dead.map_or(0, |w| self.workers[w].role() as u32);
        let closing = pool.state() != pool_state::OPEN;
        self.undo_build(p, s);
        Err(if closing {
            Refusal::ShuttingDown
        } else {
            Refusal::SpawnFailed { os_error: 0, role }
        })
    }

    /// Stops the threads that a failed growth made, and waits a bounded time until they are gone and
    /// everything is as it was.
    fn undo_build(&'static self, p: usize, s: usize) {
        self.retire(s, Cause::Orderly);
        if let Some(word) = self.sets[s].change(|word| Some(word.0 & !SetWord::BUILDING)) {
            self.settle(s, word);
        }
        self.wait_for_exits(p, UNDO_MS, || !self.sets[s].word().is(SetWord::RETIRED));
    }
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
