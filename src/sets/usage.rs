// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pool's figures. Busy is created minus idle; there is no queue, and nothing is named as if
//! there were one.

use super::retire::Cause;
use super::slot::{SetWord, worker_state};
use super::tables::{PoolRef, Sets};
use super::{CloseError, RefusalKind};
use crate::host::seconds_between;
use crate::limits::MAX_ROLES;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use crate::table::Handle;

/// One more than the highest number of a refusal, those to come included.
pub const REFUSAL_KINDS: u32 = 16;
const _: () = assert!(RefusalKind::COUNT <= REFUSAL_KINDS as usize);

/// A pool's figures. Each is exact; together they are exact only while nothing changes. It is the
/// same struct in Rust and in C, where CREW_USAGE_INIT initialises it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolUsage {
    /// sizeof(crew_usage)
    pub size: u32,
    /// The most sets.
    pub capacity: u32,
    /// Sets that exist, those being made or ended included.
    pub created: u32,
    /// Of those, the ones that are not idle.
    pub busy: u32,
    /// Of those, the ones that wait to be leased.
    pub idle: u32,
    /// Threads that wait to acquire a set.
    pub waiting: u32,
    /// The most sets that existed at one time.
    pub created_high_water: u32,
    /// The most sets that were in use at one time, by the highest slot lent: the lowest idle one is
    /// always the one that is lent.
    pub busy_high_water: u32,
    /// Leases granted so far; wraps.
    pub leases: u32,
    /// Threads made so far; wraps.
    pub threads_created: u32,
    /// Sets retired because a member's thread ended or was suspended.
    pub retirements: u32,
    /// Members that are suspended now.
    pub suspended: u32,
    /// Sets busy for longer than the pool's busy_age_s.
    pub overdue: u32,
    /// Seconds since the longest busy set was leased; 0: none is busy for a second yet.
    pub oldest_busy_s: u32,
    /// Refusals so far; the index is the kind's number (CREW_REFUSED_...).
    pub refused: [u32; REFUSAL_KINDS as usize],
    /// The most stack that a thread of each role was seen to use, in bytes; 0: the target cannot
    /// tell, or no report looked while one ran.
    pub stack_used: [u32; MAX_ROLES],
}

impl Default for PoolUsage {
    fn default() -> Self {
        Self {
            size: size_of::<Self>() as u32,
            capacity: 0,
            created: 0,
            busy: 0,
            idle: 0,
            waiting: 0,
            created_high_water: 0,
            busy_high_water: 0,
            leases: 0,
            threads_created: 0,
            retirements: 0,
            suspended: 0,
            overdue: 0,
            oldest_busy_s: 0,
            refused: [0; REFUSAL_KINDS as usize],
            stack_used: [0; MAX_ROLES],
        }
    }
}

impl Sets {
    /// The pool's figures. Looks for suspended members on the way, and retires their sets.
    pub(crate) fn usage(self, handle: Handle) -> Result<PoolUsage, CloseError> {
        Ok(self.usage_of(self.find_pool(handle)?))
    }

    pub(super) fn usage_of(self, pool: PoolRef) -> PoolUsage {
        self.reap();
        let suspended = self.inspect(pool);
        let now = self.host.moment();
        let busy_age_s = pool.busy_age_s.load(Relaxed);
        let mut oldest_busy_s = 0;
        let mut overdue = 0;
        for s in pool.sets() {
            if is_busy(self.set(s).word()) {
                let age_s = seconds_between(self.set(s).since.load(Relaxed), now);
                oldest_busy_s = oldest_busy_s.max(age_s);
                overdue += u32::from(busy_age_s > 0 && age_s > busy_age_s);
            }
        }
        let created = pool.created.load(Acquire);
        let idle = pool.idle.count() as u32;
        let mut usage = PoolUsage {
            capacity: pool.capacity() as u32,
            created,
            busy: created.saturating_sub(idle),
            idle,
            waiting: pool.waiting.load(Relaxed) + pool.peer_waiting.load(Relaxed),
            created_high_water: pool.created_high.load(Relaxed),
            busy_high_water: pool.busy_high.load(Relaxed),
            leases: self.leases_of(pool).wrapping_sub(pool.leases_before.load(Relaxed)),
            threads_created: pool.threads.load(Relaxed),
            retirements: pool.retirements.load(Relaxed),
            suspended,
            overdue,
            oldest_busy_s,
            ..PoolUsage::default()
        };
        for (to, from) in usage.refused.iter_mut().zip(&pool.refused) {
            *to = from.load(Relaxed);
        }
        for (to, role) in usage.stack_used.iter_mut().zip(&pool.roles[..pool.role_count()]) {
            *to = role.stack_used.load(Relaxed) as u32;
        }
        usage
    }

    /// Leases that the pool's slots have ever seen; wraps. They are not counted: each lease moves
    /// its set's generation on by two.
    pub(super) fn leases_of(self, pool: PoolRef) -> u32 {
        pool.sets()
            .map(|s| self.set(s).lease.load(Relaxed).wrapping_add(1) / 2)
            .fold(0, u32::wrapping_add)
    }

    /// Looks at each thread of the pool: notes its stack, and retires the set of a suspended one.
    /// Returns how many are suspended.
    fn inspect(self, pool: PoolRef) -> u32 {
        use worker_state::{PARKED, RUNNING, STATE, WATCHED};
        let port = self.host.booted_port();
        let mut suspended = 0;
        for w in pool.sets().flat_map(|s| pool.workers(s)) {
            // The pool may be opened anew at another place while we look.
            let Some(worker) = self.tables.workers.get(w.0) else { continue };
            // Keeps a reaper from joining the thread while we look, and so the set and its pool as
            // they are. Of two that look at once, one passes by.
            let watched = worker.change(|word| {
                let live = (PARKED..=RUNNING).contains(&(word & STATE));
                (live && word & WATCHED == 0).then_some(word | WATCHED)
            });
            if watched.is_none() {
                continue;
            }
            let s = worker.set();
            let its_pool = self.pool_of(s);
            // Looked at once the worker is ours to look at: while its set is being built, the
            // number that is there may be an older thread's.
            if its_pool.is(pool) && !self.set(s).word().is(SetWord::BUILDING) {
                let thread = worker.thread.load(Acquire);
                // SAFETY: WATCHED, which this thread has set, keeps every reaper from the thread.
                if let Some(bytes) = unsafe { port.stack_used(thread) } {
                    pool.roles[worker.role()].stack_used.fetch_max(bytes, Relaxed);
                }
                // SAFETY: as above.
                if unsafe { port.thread_suspended(thread) } {
                    suspended += 1;
                    self.retire(s, Cause::Suspended);
                }
            }
            worker.change(|word| Some(word & !WATCHED));
        }
        suspended
    }
}

/// Whether a borrower has the set, or a job of one.
pub(super) fn is_busy(word: SetWord) -> bool {
    word.is(SetWord::LEASED) || word.jobs() > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::Crew;
    use crate::limits::MAX_SETS;
    use crate::port::still::Still;
    use crate::{BootOptions, Budget, Pool, PoolOptions, Role};

    static CREW: Crew = Crew::new();

    /// As if the pool had been closed, and another opened in its slot at the tables' end.
    fn move_the_pool() {
        CREW.sets.pools[0].first_set.store(MAX_SETS as u32 - 1, Relaxed);
    }

    #[test]
    fn a_look_at_a_pool_that_is_opened_anew_meanwhile_stays_inside_the_tables() {
        CREW.boot(&BootOptions { port: &Still(move_the_pool), budget: Budget::Default }).unwrap();
        let options = PoolOptions { name: "moved", capacity: 3, prestart: 3, ..Default::default() };
        let role = Role { name: "r", stack_bytes: 64 << 10, priority: 20 };
        let pool: Pool<1> = Pool::open(&CREW, &[role], &options).unwrap();
        assert_eq!(pool.usage().unwrap().created, 3);
        pool.trim(3).unwrap();
        CREW.report(2, &mut |_| {});
    }
}
