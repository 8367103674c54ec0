// SPDX-License-Identifier: MIT OR Apache-2.0
//! Open, trim, seal, close: the administrative calls. Opening and sealing use a try-only guard and
//! answer *busy*; none waits for another (P6).
//!
//! ```text
//!         (1) open              (2)           (3) close              (4) all sets gone
//!   FREE -----------> CHANGING -----> OPEN ------------> CLOSING --------> CHANGING ---> FREE
//! ```

use super::grow::ROLE_NAMES;
use super::retire::{Cause, UNDO_MS};
use super::slot::{PoolSlot, SetIndex, SetWord, pool_state};
use super::tables::{PoolRef, Sets};
use super::waiting::Want;
use super::{AcquireError, Refusal};
use crate::limits::{
    MAX_POOLS, MAX_ROLES, MAX_SETS, MAX_WORKERS, NAME_BYTES, PRIORITY_MAX, STACK_MAX, STACK_MIN,
};
use crate::port::Severity;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use crate::table::{self, Handle, Kind};
use core::fmt;
use core::ops::Range;

/// A pool's flag, beside [`ROLE_NAMES`]: its open failed, and no caller has its handle.
const ABANDONED: u32 = 1 << 1;

/// One role of a roster.
#[derive(Clone, Copy, Debug)]
pub struct Role<'a> {
    /// 1 to 15 printable ASCII characters. Part of the thread's name.
    pub name: &'a str,
    /// Stack in bytes, [`STACK_MIN`] to [`STACK_MAX`].
    pub stack_bytes: usize,
    /// 0 (lowest) to 99, on EPICS' scale; what that means is the port's.
    pub priority: u32,
}

/// What a pool shall be.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolOptions<'a> {
    /// 1 to 15 printable ASCII characters.
    pub name: &'a str,
    /// The members of a set, in order. None: the pool admits and reserves, and has no threads.
    pub roles: &'a [Role<'a>],
    /// The most sets, 1 to [`MAX_SETS`].
    pub capacity: u32,
    /// Sets made by `open`, at most `capacity`.
    pub prestart: u32,
    /// Idle sets that are never given back, at most `capacity`.
    pub keep: u32,
    /// Idle sets above `keep` are given back once they have been idle this long, in seconds; the
    /// time may be up to twice as long. 0: never.
    pub idle_age_s: u32,
    /// A set busy for longer is counted as overdue, in seconds. 0: never.
    pub busy_age_s: u32,
    /// The most sets of one peer. 0: no limit.
    pub per_peer: u32,
    /// Bytes reserved with each set beyond its threads.
    pub extra_bytes: usize,
    /// Threads are named by their role alone instead of `pool.slot-role`.
    pub role_names: bool,
}

/// Why a pool was not opened. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The process has not booted.
    NotBooted,
    /// After the seal nothing new is opened.
    Sealed,
    /// Another administrative call is under way: an open, the seal, or the end of a close that may
    /// make the room which is missing.
    Busy,
    /// A name is empty, too long, or not printable ASCII.
    BadText,
    /// Neither roles nor bytes, or more than [`MAX_ROLES`] roles.
    BadRoster,
    /// A stack out of range.
    BadStack,
    /// A priority out of range.
    BadPriority,
    /// Capacity out of range, or prestart or keep above it.
    BadCapacity,
    /// The bytes of all sets together are more than an address space holds.
    BadBytes,
    /// The tables of this build have no room for the pool.
    TableFull,
    /// A set to be prestarted was refused.
    Refused(Refusal),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::NotBooted => f.write_str("the process has not booted"),
            OpenError::Sealed => f.write_str("nothing is opened after the seal"),
            OpenError::Busy => f.write_str("another administrative call is under way"),
            OpenError::BadText => f.write_str("a name is not 1 to 15 printable characters"),
            OpenError::BadRoster => write!(f, "a roster has 1 to {MAX_ROLES} roles, or bytes"),
            OpenError::BadStack => write!(f, "a stack is {STACK_MIN} to {STACK_MAX} bytes"),
            OpenError::BadPriority => write!(f, "a priority is 0 to {PRIORITY_MAX}"),
            OpenError::BadCapacity => {
                write!(f, "capacity is 1 to {MAX_SETS}; prestart and keep are not above it")
            }
            OpenError::BadBytes => f.write_str("that many bytes no address space holds"),
            OpenError::TableFull => {
                write!(f, "no room left: {MAX_POOLS} pools, {MAX_SETS} sets, {MAX_WORKERS} workers")
            }
            OpenError::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl core::error::Error for OpenError {}

/// Why a pool is not closed, trimmed or reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseError {
    /// This many sets are still there; the pool goes on closing, call again.
    TimedOut(u32),
    /// It has been closed before.
    Stale,
    /// Not a pool's handle.
    BadHandle,
}

impl From<AcquireError> for CloseError {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::BadHandle => CloseError::BadHandle,
            AcquireError::Stale | AcquireError::Refused(_) => CloseError::Stale,
        }
    }
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloseError::TimedOut(sets) => write!(f, "{sets} sets are still there; call again"),
            CloseError::Stale => f.write_str("the pool has been closed before"),
            CloseError::BadHandle => f.write_str("not a pool's handle"),
        }
    }
}

impl core::error::Error for CloseError {}

/// Whether `name` can name a pool or a role.
fn is_name(name: &str) -> bool {
    (1..NAME_BYTES).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

fn check(options: &PoolOptions<'_>, overhead: usize) -> Result<(), OpenError> {
    let roles = options.roles;
    if !is_name(options.name) || !roles.iter().all(|role| is_name(role.name)) {
        return Err(OpenError::BadText);
    }
    if roles.len() > MAX_ROLES || (roles.is_empty() && options.extra_bytes == 0) {
        return Err(OpenError::BadRoster);
    }
    if !roles.iter().all(|role| (STACK_MIN..=STACK_MAX).contains(&role.stack_bytes)) {
        return Err(OpenError::BadStack);
    }
    if !roles.iter().all(|role| role.priority <= PRIORITY_MAX) {
        return Err(OpenError::BadPriority);
    }
    let capacity = options.capacity;
    if !(1..=MAX_SETS as u32).contains(&capacity) || options.prestart.max(options.keep) > capacity {
        return Err(OpenError::BadCapacity);
    }
    // From here on no sum of a pool's bytes can overflow.
    roles
        .iter()
        .try_fold(options.extra_bytes, |sum, role| {
            sum.checked_add(role.stack_bytes)?.checked_add(overhead)
        })
        .and_then(|set| set.checked_mul(capacity as usize))
        .map(|_| ())
        .ok_or(OpenError::BadBytes)
}

type Packed = table::Packed<{ pool_state::BITS }>;

/// What a pool takes of a table.
type Extent = fn(&PoolSlot) -> Range<usize>;

/// The lowest `length` slots of `size` that none of `taken` uses.
#[inline(never)]
fn lowest_gap(
    taken: impl Iterator<Item = Range<usize>> + Clone,
    length: usize,
    size: usize,
) -> Option<usize> {
    // A gap begins at 0 or where a taken range ends.
    let starts = core::iter::once(0).chain(taken.clone().map(|range| range.end));
    starts
        .filter(|&start| {
            start + length <= size
                && taken.clone().all(|range| range.end <= start || start + length <= range.start)
        })
        .min()
}

/// A place in the count of the threads that close the pool.
struct Closer(&'static AtomicU32);

impl Closer {
    fn count(pool: PoolRef) -> Self {
        pool.closers.fetch_add(1, SeqCst);
        Self(&pool.slot().closers)
    }
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Sets {
    /// Opens a pool and prestarts its sets.
    pub(crate) fn open(self, options: &PoolOptions<'_>) -> Result<Handle, OpenError> {
        let port = self.host.port().ok_or(OpenError::NotBooted)?;
        check(options, port.thread_overhead_bytes())?;
        let (pool, handle) = self.claim_pool(options)?;
        for _ in 0..options.prestart {
            if let Err(refusal) = self.grow_idle(pool) {
                // What was made goes back. No caller knows the pool, so what does not end in time
                // is for the next open to close.
                pool.flags.fetch_or(ABANDONED, Relaxed);
                let _ = self.close(handle, UNDO_MS);
                return Err(OpenError::Refused(refusal));
            }
        }
        Ok(handle)
    }

    /// Edges 1 and 2: a pool's slot, and room for its sets and workers.
    fn claim_pool(self, options: &PoolOptions<'_>) -> Result<(PoolRef, Handle), OpenError> {
        let _admin = self.host.admin().ok_or(OpenError::Busy)?;
        if self.host.is_sealed() {
            return Err(OpenError::Sealed);
        }
        self.close_abandoned();
        // In this order: a closer counts itself and then looks at the state, so one that found the
        // pool closing is seen here once the pool is free. Until it has left, its pool is not free.
        let mut free = [false; MAX_POOLS];
        let mut full = OpenError::TableFull;
        for (pool, free) in self.pools().zip(&mut free) {
            match pool.state() {
                pool_state::FREE if pool.closers.load(SeqCst) == 0 => *free = true,
                pool_state::FREE | pool_state::CHANGING => full = OpenError::Busy,
                _ => {}
            }
        }
        let pools = self.tables.pools.iter().zip(&free);
        let taken = pools.filter(|(_, free)| !**free).map(|(pool, _)| pool);
        let sets = options.capacity as usize;
        let workers = sets * options.roles.len();
        let gap =
            |extent, length, size| lowest_gap(taken.clone().map(extent), length, size).ok_or(full);
        let first_set = gap(PoolSlot::set_range as Extent, sets, MAX_SETS)?;
        let first_worker = gap(PoolSlot::worker_range, workers, MAX_WORKERS)?;
        let p = free.iter().position(|free| *free).ok_or(full)?;

        let pool = self.pool(p);
        let changing = pool.word.load().next_life(pool_state::CHANGING);
        pool.word.store_seq_cst(changing);
        pool.index.store(p as u32, Relaxed);
        pool.name.keep(options.name);
        pool.flags.store(if options.role_names { ROLE_NAMES } else { 0 }, Relaxed);
        for (slot, role) in pool.roles.iter().zip(options.roles) {
            slot.name.keep(role.name);
            slot.stack_bytes.store(role.stack_bytes, Relaxed);
            slot.priority.store(role.priority, Relaxed);
            slot.stack_used.store(0, Relaxed);
        }
        pool.role_count.store(options.roles.len() as u32, Relaxed);
        pool.capacity.store(options.capacity, Relaxed);
        pool.keep.store(options.keep, Relaxed);
        pool.idle_age_s.store(options.idle_age_s, Relaxed);
        pool.busy_age_s.store(options.busy_age_s, Relaxed);
        pool.per_peer.store(options.per_peer, Relaxed);
        pool.extra_bytes.store(options.extra_bytes, Relaxed);
        pool.first_set.store(first_set as u32, Relaxed);
        pool.first_worker.store(first_worker as u32, Relaxed);
        let counters = [
            &pool.created_high,
            &pool.busy_high,
            &pool.threads,
            &pool.retirements,
            &pool.growth_refused,
        ];
        counters.into_iter().chain(&pool.refused).for_each(|counter| counter.store(0, Relaxed));
        for s in pool.sets() {
            self.set(s).pool.store(p as u32, Relaxed);
            for (role, w) in pool.workers(s).enumerate() {
                self.worker(w).place.store((s.0 << 8 | role) as u32, Relaxed);
            }
            pool.slots.put(pool.slot_of(s));
        }
        pool.leases_before.store(self.leases_of(pool), Relaxed);
        pool.word.store(changing.with(pool_state::OPEN));
        Ok((pool, Handle::new(Kind::Pool, p, changing.generation())))
    }

    /// Ends what failed opens have left, as far as its threads have ended.
    fn close_abandoned(self) {
        for pool in self.pools() {
            let word = pool.word.load();
            let closing = word.state() == pool_state::CLOSING;
            if closing && pool.flags.load(Relaxed) & ABANDONED != 0 {
                let _ = self.close(Handle::new(Kind::Pool, pool.index(), word.generation()), 0);
            }
        }
    }

    /// Retires idle sets until `keep` are left.
    pub(crate) fn trim(self, handle: Handle, keep: u32) -> Result<(), CloseError> {
        let pool = self.find_pool(handle)?;
        let before = pool.created.load(SeqCst);
        let mut retired = 0;
        while retired < before && self.retire_one_idle(pool, keep as usize) {
            retired += 1;
        }
        // Reaped here, so that the bytes are back when trim returns.
        self.wait_for_exits(pool, UNDO_MS, || {
            !pool.sets().any(|s| {
                let word = self.set(s).word();
                word.is(SetWord::RETIRED) && word.jobs() == 0
            })
        });
        Ok(())
    }

    /// See [`crate::Crew::seal`].
    pub(crate) fn seal(self) -> Result<(), OpenError> {
        let _admin = self.host.admin().ok_or(OpenError::Busy)?;
        if self.host.port().is_none() {
            return Err(OpenError::NotBooted);
        }
        if self.host.is_sealed() {
            return Err(OpenError::Sealed);
        }
        self.reap(); // what has died is not kept
        for pool in self.pools() {
            let missing = || {
                pool.state() == pool_state::OPEN
                    && pool.role_count() > 0
                    && pool.created.load(Relaxed) < pool.keep.load(Relaxed)
            };
            while missing() {
                self.grow_idle(pool).map_err(OpenError::Refused)?;
            }
        }
        self.host.seal();
        Ok(())
    }

    /// Edges 3 and 4: refuses new leases, stops every worker of every set, reaps them. A worker
    /// inside a job stops after it. Waits at most `timeout_ms`.
    pub(crate) fn close(self, handle: Handle, timeout_ms: u32) -> Result<(), CloseError> {
        let (p, generation) = handle.parts(Kind::Pool, MAX_POOLS).ok_or(CloseError::BadHandle)?;
        let open = Packed::new(generation, pool_state::OPEN);
        if !open.is_life(generation) {
            return Err(CloseError::Stale); // forged: no pool's generation has these bits
        }
        let pool = self.pool(p);
        // Counted first: another closer may end the pool's life while we still look at its sets,
        // and these must not be the next pool's.
        let _closer = Closer::count(pool);
        let closing = open.with(pool_state::CLOSING);
        // SeqCst: see claim_slot and claim_pool. A pool that closes already is closed further.
        match pool.word.step_seq_cst(open, closing) {
            Err(now) if now != closing => return Err(CloseError::Stale),
            _ => {}
        }
        self.nudge(pool, Want::Set);
        self.nudge(pool, Want::Peer);
        let done = || {
            let used = |&s: &SetIndex| self.set(s).word() != SetWord::FREE;
            pool.sets().filter(used).for_each(|s| self.retire(s, Cause::Orderly));
            pool.users.load(SeqCst) == 0
        };
        let gone = self.wait_for_exits(pool, timeout_ms, done);
        if pool.word.load() != closing {
            return Err(CloseError::Stale);
        }
        if !gone {
            let left = pool.created.load(Relaxed);
            self.host.say(
                Severity::Minor,
                format_args!(
                    "pool {}: not closed yet, {left} sets have not ended",
                    pool.name.read()
                ),
            );
            return Err(CloseError::TimedOut(left));
        }
        // Of two that close the same pool, one ends its life.
        if pool.word.step_seq_cst(closing, closing.with(pool_state::CHANGING)).is_err() {
            return Err(CloseError::Stale);
        }
        (0..pool.capacity()).for_each(|slot| {
            pool.slots.claim(slot);
        });
        pool.word.store(closing.with(pool_state::FREE));
        Ok(())
    }
}
