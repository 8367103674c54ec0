// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of worker sets, and the view of them on which every operation stands. What only finds
//! a slot is inlined, also in an image built for size.

use super::AcquireError;
use super::run::RunError;
use super::slot::{JobCell, PoolSlot, SetIndex, SetSlot, WorkerIndex, WorkerSlot, pool_state};
use super::waiting::Want;
use crate::host::Host;
use crate::limits::{JOBS_PER_WORKER, MAX_POOLS, MAX_SETS, MAX_WORKERS};
use crate::port::Port;
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use crate::table::{Handle, Kind, Queue, Waiters};
use core::ops::Deref;

/// Everything that worker sets own.
pub(crate) struct Tables {
    pub(crate) pools: [PoolSlot; MAX_POOLS],
    pub(crate) sets: [SetSlot; MAX_SETS],
    pub(crate) workers: [WorkerSlot; MAX_WORKERS],
    pub(crate) jobs: [JobCell; MAX_WORKERS * JOBS_PER_WORKER],
    pub(crate) waiters: Waiters,
    /// Threads whose exit hook has run and that no reaper has reaped yet.
    pub(crate) exited: AtomicU32,
}

impl Tables {
    pub(crate) const fn new() -> Self {
        Self {
            pools: [const { PoolSlot::new() }; MAX_POOLS],
            sets: [const { SetSlot::new() }; MAX_SETS],
            workers: [const { WorkerSlot::new() }; MAX_WORKERS],
            jobs: [const { JobCell::new() }; MAX_WORKERS * JOBS_PER_WORKER],
            waiters: Waiters::new(),
            exited: AtomicU32::new(0),
        }
    }

    /// Makes what must exist before the first call. Boot only.
    pub(crate) fn prepare(&'static self, port: &dyn Port) -> Result<(), i32> {
        self.waiters.prepare(port)
    }
}

/// Worker sets of one process: its host and its tables. A value that can be copied.
#[derive(Clone, Copy)]
pub(crate) struct Sets {
    pub(crate) host: &'static Host,
    pub(crate) tables: &'static Tables,
}

impl Deref for Sets {
    type Target = Tables;

    #[inline(always)]
    fn deref(&self) -> &Tables {
        self.tables
    }
}

/// A pool's slot. Holding it does not keep the pool open.
#[derive(Clone, Copy)]
pub(crate) struct PoolRef(&'static PoolSlot);

impl PoolRef {
    /// Whether both are the same slot.
    #[inline(always)]
    pub(super) fn is(self, other: PoolRef) -> bool {
        core::ptr::eq(self.0, other.0)
    }

    /// Its place in the table. Needs: a pool was opened there.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.index.load(Relaxed) as usize
    }

    /// The line of those that wait for `want` of this pool.
    pub(super) fn queue(self, want: Want) -> Queue {
        want.queue(self.index())
    }

    /// The slot, for as long as the process.
    #[inline(always)]
    pub(super) fn slot(self) -> &'static PoolSlot {
        self.0
    }
}

impl Deref for PoolRef {
    type Target = PoolSlot;

    #[inline(always)]
    fn deref(&self) -> &PoolSlot {
        self.0
    }
}

impl Sets {
    #[inline(always)]
    pub(crate) fn new(host: &'static Host, tables: &'static Tables) -> Self {
        Self { host, tables }
    }

    #[inline(always)]
    pub(crate) fn set(self, set: SetIndex) -> &'static SetSlot {
        &self.tables.sets[set.0]
    }

    #[inline(always)]
    pub(crate) fn worker(self, worker: WorkerIndex) -> &'static WorkerSlot {
        &self.tables.workers[worker.0]
    }

    #[inline(always)]
    pub(crate) fn pool(self, index: usize) -> PoolRef {
        PoolRef(&self.tables.pools[index])
    }

    /// The pool that a set's slot belongs to, or last belonged to.
    #[inline(always)]
    pub(super) fn pool_of(self, set: SetIndex) -> PoolRef {
        self.pool(self.set(set).pool.load(Relaxed) as usize)
    }

    /// All slots of pools.
    pub(super) fn pools(self) -> impl Iterator<Item = PoolRef> + Clone {
        self.tables.pools.iter().map(PoolRef)
    }

    /// The pool that the handle names, open or closing.
    pub(crate) fn find_pool(self, handle: Handle) -> Result<PoolRef, AcquireError> {
        let (index, generation) =
            handle.parts(Kind::Pool, MAX_POOLS).ok_or(AcquireError::BadHandle)?;
        let pool = self.pool(index);
        let word = pool.word.load();
        let usable = matches!(word.state(), pool_state::OPEN | pool_state::CLOSING);
        if usable && word.is_life(generation) { Ok(pool) } else { Err(AcquireError::Stale) }
    }

    /// Set and generation of a lease's handle. No lease ever has an even generation: an idle set's
    /// generation is even, and a handle with that one must not pass for a lease.
    #[inline(always)]
    pub(super) fn find_lease(self, handle: Handle) -> Result<(SetIndex, u32), RunError> {
        match handle.parts(Kind::Lease, MAX_SETS) {
            Some((set, generation)) if generation & 1 == 1 => Ok((SetIndex(set), generation)),
            _ => Err(RunError::BadHandle),
        }
    }
}
