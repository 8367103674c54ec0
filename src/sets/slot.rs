// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slots of the tables and their packed words. Every field is an atomic: any thread may look at
//! a slot at any time (a report, a stale handle), and what such a look-up sees may be old, but
//! never torn or undefined.
//!
//! Orderings: the words order everything else. A slot's owner writes its other fields Relaxed and
//! then releases the word that makes them known; a thread that has acquired that word reads them
//! Relaxed. Counters for reports order nothing and are Relaxed too. SeqCst stands only where two
//! words must see each other, with its reason beside it. What only reads or changes a word is
//! inlined, also in an image built for size.

use super::RefusalKind;
use crate::limits::{JOBS_PER_WORKER, LABEL_BYTES, MAX_ROLES, MAX_SETS, MAX_WORKERS, NAME_BYTES};
use crate::port::Event;
use crate::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicUsize, Ordering,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use crate::sync::{self, UnsafeCell};
use crate::table::{Bitmap, Text, Word, word};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ops::Range;

/// A set's place in its table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SetIndex(pub usize);

/// A worker's place in its table, and its number for ports.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkerIndex(pub usize);

impl WorkerIndex {
    /// The worker with this number, if there can be one.
    #[inline(always)]
    pub fn of(number: usize) -> Option<Self> {
        (number < MAX_WORKERS).then_some(Self(number))
    }
}

/// Words of a closure that a worker's slot holds.
pub const CLOSURE_WORDS: usize = 4;
/// A closure's bytes, moved into the slot by `run` and out of it by the job.
pub type Closure = [MaybeUninit<usize>; CLOSURE_WORDS];

/// A set's state: `flags | alive:8 | jobs:8`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SetWord(pub u32);

impl SetWord {
    pub const FREE: Self = Self(0);
    /// Out on a lease.
    pub const LEASED: u32 = 1 << 16;
    /// Will never be lent again.
    pub const RETIRED: u32 = 1 << 17;
    /// Its threads are being made.
    pub const BUILDING: u32 = 1 << 18;
    /// In the idle bitmap, or with the thread that claimed it there. Keeps the slot from being
    /// freed under a claimer that has not looked at it yet.
    pub const IDLE: u32 = 1 << 19;
    /// Being freed.
    pub const FREEING: u32 = 1 << 20;
    /// One thread that exists.
    pub const ONE_ALIVE: u32 = 1 << 8;
    /// One job given and not ended.
    pub const ONE_JOB: u32 = 1;

    /// The most jobs that it counts.
    pub const JOBS_MAX: u32 = 0xff;

    #[inline(always)]
    pub const fn is(self, flags: u32) -> bool {
        self.0 & flags != 0
    }

    #[inline(always)]
    pub const fn jobs(self) -> u32 {
        self.0 & Self::JOBS_MAX
    }

    #[inline(always)]
    pub const fn alive(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Nothing uses the set: no lease, no job, no claimer, no builder.
    #[inline(always)]
    pub const fn is_unused(self) -> bool {
        self.jobs() == 0 && !self.is(Self::LEASED | Self::IDLE | Self::BUILDING | Self::FREEING)
    }
}

/// One set. Its workers are found from the pool's geometry. A cache line of its own: two borrowers
/// of neighbouring sets do not disturb each other.
#[repr(align(64))]
pub struct SetSlot {
    word: AtomicU32,
    /// Generation of the lease: odd while leased. It is changed by the one thread that ends the
    /// lease, and by the owner of an idle or new set.
    pub lease: AtomicU32,
    /// The lease that was taken away when the set died under it.
    pub revoked: AtomicU32,
    /// The moment (see `Host::moment`) when it was last leased.
    pub since: AtomicU32,
    pub peer_low: AtomicU32,
    pub peer_high: AtomicU32,
    /// See `peer.rs`.
    pub peer_word: AtomicU32,
    pub pool: AtomicU32,
    /// The lease generation that the idle-age watch last saw, and since when.
    pub watched: AtomicU32,
    pub watched_since: AtomicU32,
}

impl SetSlot {
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            lease: AtomicU32::new(0),
            revoked: AtomicU32::new(0),
            since: AtomicU32::new(0),
            peer_low: AtomicU32::new(0),
            peer_high: AtomicU32::new(0),
            peer_word: AtomicU32::new(0),
            pool: AtomicU32::new(0),
            watched: AtomicU32::new(0),
            watched_since: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    pub fn word(&self) -> SetWord {
        SetWord(self.word.load(Acquire))
    }

    /// Only for the slot's sole owner (its builder before others know it, its freer).
    pub fn store(&self, word: SetWord) {
        self.word.store(word.0, Release);
    }

    /// Writes which peer the set is for; 0: none. Only for the set's owner. `Release` before it is
    /// counted for that peer.
    #[inline(always)]
    pub fn note_peer(&self, key: u64, ordering: Ordering) {
        self.peer_low.store(key as u32, ordering);
        self.peer_high.store((key >> 32) as u32, ordering);
    }

    /// The peer that the set is for; 0: none.
    pub fn peer(&self) -> u64 {
        u64::from(self.peer_high.load(Acquire)) << 32 | u64::from(self.peer_low.load(Acquire))
    }

    /// The one way to change the word: from what `step` saw to what it returns, in one
    /// compare-and-swap; `None` leaves it. Returns the word that was set. See [`word::change`].
    #[inline(always)]
    pub fn change(&self, mut step: impl FnMut(SetWord) -> Option<u32>) -> Option<SetWord> {
        let mut after = 0;
        word::change(&self.word, |now| {
            after = step(SetWord(now))?;
            Some(after)
        })
        .ok()
        .map(|_| SetWord(after))
    }
}

/// A worker's state, in the low bits of its word.
pub mod worker_state {
    pub const EMPTY: u32 = 0;
    pub const PARKED: u32 = 1;
    pub const BOOKED: u32 = 2;
    pub const ASSIGNED: u32 = 3;
    pub const RUNNING: u32 = 4;
    pub const STOPPED: u32 = 5;
    pub const EXITED: u32 = 6;
    pub const REAPING: u32 = 7;
    pub const STATE: u32 = 0xf;
    /// Asked to stop once it has no job.
    pub const STOP: u32 = 1 << 4;
    /// A report looks at the thread: it must not be reaped meanwhile.
    pub const WATCHED: u32 = 1 << 5;
}

/// One worker: a thread, and the job it has.
pub struct WorkerSlot {
    word: AtomicU32,
    /// `set:16 role:8`, fixed while its pool is open.
    pub place: AtomicU32,
    /// Job cell of the job it has, plus one; 0: a detached job.
    pub job: AtomicU32,
    /// A closure that panicked left its mark here.
    pub failed: AtomicU32,
    /// The port's name for the thread.
    pub thread: AtomicUsize,
    pub function: AtomicPtr<c_void>,
    pub argument: AtomicPtr<c_void>,
    /// Drops the closure if the job never starts; null for a C job.
    pub discard: AtomicPtr<c_void>,
    pub label: Text<{ LABEL_BYTES / 4 }>,
    pub wake: Event,
    closure: UnsafeCell<Closure>,
}

// SAFETY: `closure` is the only field that is not Sync. It is written only in state BOOKED by the
// one `run` whose compare-and-swap entered that state, and read only by the worker after ASSIGNED
// (or by its exit hook), which the release/acquire pair on `word` orders after the write.
unsafe impl Sync for WorkerSlot {}

impl WorkerSlot {
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            place: AtomicU32::new(0),
            job: AtomicU32::new(0),
            failed: AtomicU32::new(0),
            thread: AtomicUsize::new(0),
            function: AtomicPtr::new(core::ptr::null_mut()),
            argument: AtomicPtr::new(core::ptr::null_mut()),
            discard: AtomicPtr::new(core::ptr::null_mut()),
            label: Text::new(),
            wake: Event::new(),
            closure: UnsafeCell::new([MaybeUninit::uninit(); CLOSURE_WORDS]),
        }
    }

    #[inline(always)]
    pub fn word(&self) -> u32 {
        self.word.load(Acquire)
    }

    #[inline(always)]
    pub fn state(&self) -> u32 {
        self.word() & worker_state::STATE
    }

    /// Only for the slot's sole owner.
    pub fn store(&self, word: u32) {
        self.word.store(word, Release);
    }

    /// As [`SetSlot::change`]; returns the word before.
    #[inline(always)]
    pub fn change(&self, step: impl FnMut(u32) -> Option<u32>) -> Option<u32> {
        word::change(&self.word, step).ok()
    }

    /// From state `from` to state `to`, flags kept. False: it was in another state.
    #[inline(always)]
    pub fn step(&self, from: u32, to: u32) -> bool {
        use worker_state::STATE;
        self.change(|word| (word & STATE == from).then_some(word & !STATE | to)).is_some()
    }

    /// From exactly `word` to state `to`, flags kept. False: the word has changed.
    #[inline(always)]
    pub fn step_from(&self, word: u32, to: u32) -> bool {
        let next = word & !worker_state::STATE | to;
        self.word.compare_exchange(word, next, AcqRel, Relaxed).is_ok()
    }

    #[inline(always)]
    pub fn set(&self) -> SetIndex {
        SetIndex((self.place.load(Relaxed) >> 8) as usize)
    }

    #[inline(always)]
    pub fn role(&self) -> usize {
        (self.place.load(Relaxed) & 0xff) as usize
    }

    /// Lets `user` at the place of the closure. The `Sync` implementation says which thread may.
    #[inline(always)]
    pub fn with_closure<R>(&self, user: impl FnOnce(*mut Closure) -> R) -> R {
        self.closure.with_mut(user)
    }
}

/// A job cell's state, in the low bits of its word; the rest is the generation.
pub mod job_state {
    pub const FREE: u32 = 0;
    pub const PENDING: u32 = 1;
    pub const WAITED: u32 = 2;
    pub const DONE: u32 = 3;
    pub const DETACHED: u32 = 4;
    pub const BITS: u32 = 3;
}

/// Where the result of a joinable job waits for its joiner.
pub struct JobCell {
    pub word: Word<{ job_state::BITS }>,
    pub outcome: AtomicU32,
    pub value: AtomicU32,
    pub done: Event,
}

impl JobCell {
    pub const fn new() -> Self {
        Self {
            word: Word::new(),
            outcome: AtomicU32::new(0),
            value: AtomicU32::new(0),
            done: Event::new(),
        }
    }
}

/// The cells of a worker.
pub const fn job_cells(worker: WorkerIndex) -> Range<usize> {
    worker.0 * JOBS_PER_WORKER..(worker.0 + 1) * JOBS_PER_WORKER
}

/// One role of an open pool.
pub struct RoleSlot {
    pub name: Text<{ NAME_BYTES / 4 }>,
    pub stack_bytes: AtomicUsize,
    pub priority: AtomicU32,
    /// The most stack that one of the role's threads was seen to use.
    pub stack_used: AtomicUsize,
}

/// A pool's state, in the low bits of its word; the rest is the generation.
pub mod pool_state {
    pub const FREE: u32 = 0;
    /// Being opened, or about to be free: no caller's.
    pub const CHANGING: u32 = 1;
    pub const OPEN: u32 = 2;
    pub const CLOSING: u32 = 3;
    pub const BITS: u32 = 2;
}

/// One pool. What `open` writes stays as it is until the pool is closed: a claimed slot, idle or
/// not, keeps the pool from being freed.
pub struct PoolSlot {
    pub word: Word<{ pool_state::BITS }>,
    /// Its own place in the table of pools.
    pub index: AtomicU32,
    pub name: Text<{ NAME_BYTES / 4 }>,
    pub flags: AtomicU32,
    pub role_count: AtomicU32,
    pub capacity: AtomicU32,
    pub keep: AtomicU32,
    pub idle_age_s: AtomicU32,
    pub busy_age_s: AtomicU32,
    pub per_peer: AtomicU32,
    pub extra_bytes: AtomicUsize,
    pub first_set: AtomicU32,
    pub first_worker: AtomicU32,
    pub roles: [RoleSlot; MAX_ROLES],
    /// Sets that wait to be leased.
    pub idle: Bitmap,
    /// Slots that no set uses.
    pub slots: Bitmap,
    /// Threads in `acquire` that wait for a set.
    pub waiting: AtomicU32,
    /// Threads in `acquire` that wait for their peer's sets to come back.
    pub peer_waiting: AtomicU32,
    /// See `peer.rs`.
    pub peer_turn: AtomicU32,
    /// Slots claimed, and attempts to claim one: as long as there is any the pool is not freed.
    pub users: AtomicU32,
    /// Threads in `close`: as long as there is any the pool, once closed, is not opened anew.
    pub closers: AtomicU32,
    /// Sets that exist, those being made or ended included.
    pub created: AtomicU32,
    /// Those of them that are being made, or unmade because that was refused.
    pub growing: AtomicU32,
    /// Why the last growth was refused, and the system's number; see `Sets::failed_growth`.
    pub growth_refused: AtomicU32,
    pub growth_error: AtomicU32,
    pub created_high: AtomicU32,
    /// One more than the highest slot ever leased: the lowest idle set is always the one that is
    /// leased.
    pub busy_high: AtomicU32,
    /// What `Sets::leases_of` counted when the pool was opened.
    pub leases_before: AtomicU32,
    pub threads: AtomicU32,
    pub retirements: AtomicU32,
    pub refused: [AtomicU32; RefusalKind::COUNT],
}

impl PoolSlot {
    pub const fn new() -> Self {
        Self {
            word: Word::new(),
            index: AtomicU32::new(0),
            name: Text::new(),
            flags: AtomicU32::new(0),
            role_count: AtomicU32::new(0),
            capacity: AtomicU32::new(0),
            keep: AtomicU32::new(0),
            idle_age_s: AtomicU32::new(0),
            busy_age_s: AtomicU32::new(0),
            per_peer: AtomicU32::new(0),
            extra_bytes: AtomicUsize::new(0),
            first_set: AtomicU32::new(0),
            first_worker: AtomicU32::new(0),
            roles: [const {
                RoleSlot {
                    name: Text::new(),
                    stack_bytes: AtomicUsize::new(0),
                    priority: AtomicU32::new(0),
                    stack_used: AtomicUsize::new(0),
                }
            }; MAX_ROLES],
            idle: Bitmap::new(),
            slots: Bitmap::new(),
            waiting: AtomicU32::new(0),
            peer_waiting: AtomicU32::new(0),
            peer_turn: AtomicU32::new(0),
            users: AtomicU32::new(0),
            closers: AtomicU32::new(0),
            created: AtomicU32::new(0),
            growing: AtomicU32::new(0),
            growth_refused: AtomicU32::new(0),
            growth_error: AtomicU32::new(0),
            created_high: AtomicU32::new(0),
            busy_high: AtomicU32::new(0),
            leases_before: AtomicU32::new(0),
            threads: AtomicU32::new(0),
            retirements: AtomicU32::new(0),
            refused: [const { AtomicU32::new(0) }; RefusalKind::COUNT],
        }
    }

    /// SeqCst: a close changes the state and then looks at `users` and the idle bitmap; the users
    /// of both look the other way round.
    #[inline(always)]
    pub fn state(&self) -> u32 {
        self.word.load_seq_cst().state()
    }

    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.capacity.load(Relaxed) as usize
    }

    #[inline(always)]
    pub fn role_count(&self) -> usize {
        self.role_count.load(Relaxed) as usize
    }

    #[inline(always)]
    fn first_set(&self) -> usize {
        self.first_set.load(Relaxed) as usize
    }

    /// The set at `slot` of the pool's bitmaps.
    #[inline(always)]
    pub fn set(&self, slot: usize) -> SetIndex {
        SetIndex(self.first_set() + slot)
    }

    /// The place of one of its sets in the pool's bitmaps.
    #[inline(always)]
    pub fn slot_of(&self, set: SetIndex) -> usize {
        set.0.wrapping_sub(self.first_set())
    }

    /// What it has of the table of sets. If the pool may be reopened meanwhile, the range can be
    /// another pool's, but stays inside the table.
    pub fn set_range(&self) -> Range<usize> {
        let first = self.first_set();
        first..(first + self.capacity()).min(MAX_SETS)
    }

    /// Its sets; see [`Self::set_range`].
    pub fn sets(&self) -> impl Iterator<Item = SetIndex> + Clone + use<> {
        self.set_range().map(SetIndex)
    }

    /// The worker of `set` for `role`. For a set that is not the pool's (a stale handle's) it means
    /// nothing, and the caller must not index with it.
    #[inline(always)]
    pub fn worker(&self, set: SetIndex, role: usize) -> WorkerIndex {
        let first = self.first_worker.load(Relaxed) as usize;
        let sets_before = self.slot_of(set).wrapping_mul(self.role_count());
        WorkerIndex(first.wrapping_add(sets_before).wrapping_add(role))
    }

    /// The workers of `set` in order of role; see [`Self::worker`].
    pub fn workers(&self, set: SetIndex) -> impl Iterator<Item = WorkerIndex> + Clone + use<> {
        let first = self.worker(set, 0).0;
        (first..first.wrapping_add(self.role_count())).map(WorkerIndex)
    }

    /// What it has of the table of workers.
    pub fn worker_range(&self) -> Range<usize> {
        let first = self.first_worker.load(Relaxed) as usize;
        first..first + self.capacity() * self.role_count()
    }

    /// What one thread of `role` costs on the account.
    pub fn thread_bytes(&self, role: usize, overhead: usize) -> usize {
        self.roles[role].stack_bytes.load(Relaxed) + overhead
    }

    /// What one set costs on the account.
    pub fn set_bytes(&self, overhead: usize) -> usize {
        (0..self.role_count()).map(|role| self.thread_bytes(role, overhead)).sum::<usize>()
            + self.extra_bytes.load(Relaxed)
    }
}

// The sizes that design and documentation promise, events included.
const _: () = {
    assert!(sync::MODELLED || size_of::<SetSlot>() <= 64);
    assert!(sync::MODELLED || size_of::<WorkerSlot>() <= 128);
    assert!(sync::MODELLED || size_of::<JobCell>() <= 32);
    assert!(NAME_BYTES.is_multiple_of(4) && LABEL_BYTES.is_multiple_of(4));
    assert!(NAME_BYTES <= LABEL_BYTES); // what `Text::read` has room for
    assert!(MAX_SETS <= Bitmap::BITS);
};
