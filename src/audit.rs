// SPDX-License-Identifier: MIT OR Apache-2.0
//! The audit: everything that is counted twice must come out the same from both sides. For tests; an
//! image that does not call it has none of it.
//!
//! [`Crew::audit`] is for a quiet moment: no thread is inside a call of Crew's, and none waits in one.
//! Leases may be out, jobs given or running, threads dead and not yet reaped. [`Crew::audit_busy`] is
//! for any moment: it looks at one word at a time, and at bounds that no moment may pass.

mod calls;
#[cfg(feature = "audit")]
mod ffi;

pub use calls::Calls;
#[cfg(feature = "audit")]
pub use ffi::{crew_audit, crew_audit_busy};

use crate::crew::{CHARGE_FREE, CHARGE_STATE, CHARGE_TAKEN, Crew};
use crate::limits::{MAX_ROLES, MAX_SETS, MAX_WAITERS, MAX_WORKERS};
use crate::sets::peer::ADMITTED;
use crate::sets::slot::{PoolSlot, SetWord, job_cells, job_state, pool_state, worker_state};
use crate::sync::atomic::Ordering::SeqCst;
use core::fmt;
use core::ops::Range;

/// What was counted, once both sides agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Pools open or closing.
    pub pools: usize,
    /// Sets that exist.
    pub sets: usize,
    /// Of those, the idle ones.
    pub idle: usize,
    /// Of those, the ones on a lease.
    pub leased: usize,
    /// Threads made and not reaped.
    pub threads: usize,
    /// Of those, the ones whose exit hook has run.
    pub exited: usize,
    /// Jobs given and not ended.
    pub jobs: usize,
    /// Results that wait for their joiner.
    pub results: usize,
    /// Bytes on the account.
    pub held: usize,
    /// Of those, the ones of fixed threads.
    pub fixed: usize,
}

/// Where two sides disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The process as a whole.
    Process,
    /// The pool of this slot.
    Pool(usize),
    /// The set of this slot.
    Set(usize),
    /// The worker of this slot.
    Worker(usize),
    /// This job cell.
    Job(usize),
}

/// The first thing that does not add up, with both numbers. For a yes or no the numbers are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// Where.
    pub place: Place,
    /// What one side counts.
    pub one: &'static str,
    /// Its number.
    pub one_is: usize,
    /// What the other side counts, or the bound.
    pub other: &'static str,
    /// Its number.
    pub other_is: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Process => f.write_str("process"),
            Place::Pool(index) => write!(f, "pool {index}"),
            Place::Set(index) => write!(f, "set {index}"),
            Place::Worker(index) => write!(f, "worker {index}"),
            Place::Job(index) => write!(f, "job cell {index}"),
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, one, one_is, other, other_is } = self;
        write!(f, "{place}: {one} {one_is}, {other} {other_is}")
    }
}

impl core::error::Error for Disagreement {}

type Check = Result<(), Disagreement>;

/// The two sides are the same number.
fn same(
    place: Place,
    one: &'static str,
    one_is: impl Into<Count>,
    other: &'static str,
    other_is: impl Into<Count>,
) -> Check {
    let (Count(one_is), Count(other_is)) = (one_is.into(), other_is.into());
    if one_is == other_is {
        Ok(())
    } else {
        Err(Disagreement { place, one, one_is, other, other_is })
    }
}

/// Nothing of this is there.
fn none(place: Place, one: &'static str, one_is: impl Into<Count>) -> Check {
    same(place, one, one_is, "wanted", 0usize)
}

/// The one side is not above the bound.
fn at_most(
    place: Place,
    one: &'static str,
    one_is: impl Into<Count>,
    bound: &'static str,
    bound_is: impl Into<Count>,
) -> Check {
    let (one_is, bound_is) = (one_is.into(), bound_is.into());
    if one_is.0 <= bound_is.0 { Ok(()) } else { same(place, one, one_is, bound, bound_is) }
}

/// A number, or a yes (1) or no (0).
struct Count(usize);

impl From<usize> for Count {
    fn from(n: usize) -> Self {
        Self(n)
    }
}

impl From<u32> for Count {
    fn from(n: u32) -> Self {
        Self(n as usize)
    }
}

impl From<bool> for Count {
    fn from(yes: bool) -> Self {
        Self(usize::from(yes))
    }
}

/// The bits of a set's word that mean something.
const SET_BITS: u32 = 0x1f_ffff;

/// Whether a worker in this state has a job.
fn has_job(state: u32) -> bool {
    matches!(state, worker_state::ASSIGNED | worker_state::RUNNING)
}

impl PoolSlot {
    fn is_live(&self) -> bool {
        matches!(self.state(), pool_state::OPEN | pool_state::CLOSING)
    }
}

impl Crew {
    /// Checks every sum from both sides. Needs a quiet moment: no thread is inside a call of Crew's.
    /// `threads`: how many threads the port has made and not reaped, where the caller knows.
    ///
    /// # Errors
    /// The first two sides that disagree.
    pub fn audit(&'static self, threads: Option<usize>) -> Result<Figures, Disagreement> {
        let mut sum = Figures::default();
        for p in 0..self.pools.len() {
            if self.pools[p].is_live() {
                self.audit_pool(p, &mut sum)?;
            } else {
                self.audit_free_pool(p)?;
            }
        }
        self.audit_strays()?;
        self.audit_jobs(&mut sum)?;
        self.audit_charges(&mut sum)?;
        self.audit_process(&sum)?;
        if let Some(threads) = threads {
            same(Place::Process, "threads of the port", threads, "live workers", sum.threads)?;
        }
        Ok(sum)
    }

    /// A pool's counters and bitmaps against its sets' words.
    fn audit_pool(&'static self, p: usize, sum: &mut Figures) -> Check {
        let pool = &self.pools[p];
        let place = Place::Pool(p);
        let overhead = self.booted_port().thread_overhead_bytes();
        at_most(place, "its last set", pool.sets().end, "table", MAX_SETS)?;
        at_most(place, "its last worker", pool.all_workers().end, "table", MAX_WORKERS)?;
        for s in pool.sets() {
            self.audit_set(p, s, sum)?;
        }
        let words = || pool.sets().map(|s| self.sets[s].word());
        let exist = words().filter(|&word| word != SetWord::FREE).count();
        let idle = words().filter(|word| word.is(SetWord::IDLE)).count();
        same(place, "sets created", pool.created.load(SeqCst), "words not free", exist)?;
        same(place, "users", pool.users.load(SeqCst), "words not free", exist)?;
        // Each bit was compared with its word; so a sum that differs means bits beyond the capacity.
        same(place, "free slots", pool.slots.count(), "words free", pool.capacity() - exist)?;
        same(place, "idle bits", pool.idle.count(), "words marked idle", idle)?;
        none(place, "idle slots that a search would skip", pool.idle.unhinted())?;
        none(place, "free slots that a search would skip", pool.slots.unhinted())?;
        none(place, "threads waiting for a set", pool.waiting.load(SeqCst))?;
        none(place, "threads waiting for a peer", pool.peer_waiting.load(SeqCst))?;
        at_most(place, "highest slot lent", pool.busy_high.load(SeqCst), "slots", pool.capacity())?;
        self.audit_peers(p)?;
        sum.pools += 1;
        sum.sets += exist;
        sum.idle += idle;
        sum.held += exist * pool.extra_bytes.load(SeqCst);
        for (role, w) in pool.sets().flat_map(|s| pool.workers(s).enumerate()) {
            if self.workers[w].state() != worker_state::EMPTY {
                sum.held += pool.thread_bytes(role, overhead);
            }
        }
        Ok(())
    }

    /// A set's word against its bits, its lease and its workers.
    fn audit_set(&'static self, p: usize, s: usize, sum: &mut Figures) -> Check {
        let pool = &self.pools[p];
        let set = &self.sets[s];
        let word = set.word();
        let place = Place::Set(s);
        let slot = s - pool.first_set();
        same(place, "its pool", set.pool.load(SeqCst), "should be", p)?;
        same(
            place,
            "slot marked free",
            pool.slots.contains(slot),
            "word free",
            word == SetWord::FREE,
        )?;
        same(
            place,
            "idle bit",
            pool.idle.contains(slot),
            "word marked idle",
            word.is(SetWord::IDLE),
        )?;
        none(place, "under construction", word.is(SetWord::BUILDING))?;
        none(place, "being freed", word.is(SetWord::FREEING))?;
        let leased = word.is(SetWord::LEASED);
        same(place, "lease generation odd", set.lease.load(SeqCst) & 1, "word leased", leased)?;
        let flags = SetWord::LEASED | SetWord::RETIRED;
        none(place, "leased, retired or busy while idle", {
            word.is(SetWord::IDLE) && (word.is(flags) || word.jobs() > 0)
        })?;
        let retired = word.is(SetWord::RETIRED);
        let threadless = word.alive() == 0 && pool.role_count() > 0;
        none(
            place,
            "retired, unused, not freed",
            retired && word.is_unused() && word.alive() == 0,
        )?;
        none(place, "leased without a thread", leased && threadless)?;
        let lost = word != SetWord::FREE && !retired && word.is_unused();
        none(place, "neither lent nor idle", lost)?;
        if word == SetWord::FREE || word.is(SetWord::IDLE) {
            none(place, "counted for a peer", set.peer_word.load(SeqCst))?;
        }
        sum.leased += usize::from(leased);
        for (role, w) in pool.workers(s).enumerate() {
            self.audit_worker(s, role, w, sum)?;
        }
        let states = || pool.workers(s).map(|w| self.workers[w].state());
        let alive = states().filter(|&state| state != worker_state::EMPTY).count();
        let jobs = states().filter(|&state| has_job(state)).count();
        same(place, "threads in its word", word.alive(), "live workers", alive)?;
        same(place, "jobs in its word", word.jobs(), "workers with a job", jobs)?;
        sum.threads += alive;
        sum.jobs += jobs;
        Ok(())
    }

    /// A worker's word against its set's.
    fn audit_worker(&'static self, s: usize, role: usize, w: usize, sum: &mut Figures) -> Check {
        use worker_state::{BOOKED, EMPTY, EXITED, PARKED, REAPING, RUNNING, STOP, WATCHED};
        let worker = &self.workers[w];
        let (word, state) = (worker.word(), worker.state());
        let place = Place::Worker(w);
        same(place, "its set", worker.set(), "should be", s)?;
        same(place, "its role", worker.role(), "should be", role)?;
        none(place, "being booked", state == BOOKED)?;
        none(place, "being reaped", state == REAPING)?;
        none(place, "being looked at", word & WATCHED != 0)?;
        let set = self.sets[s].word();
        let in_use = set != SetWord::FREE && !set.is(SetWord::RETIRED);
        let lives = (PARKED..=RUNNING).contains(&state);
        if in_use {
            same(place, "thread alive", lives, "set in use", in_use)?;
        }
        if lives {
            same(place, "asked to stop", word & STOP != 0, "set retired", !in_use)?;
        }
        if set == SetWord::FREE {
            same(place, "state, of a free set", state, "empty is", EMPTY)?;
        }
        sum.exited += usize::from(state == EXITED);
        Ok(())
    }

    /// No peer has more sets than one may.
    fn audit_peers(&'static self, p: usize) -> Check {
        let pool = &self.pools[p];
        let limit = pool.per_peer.load(SeqCst);
        let peer_word = |s: usize| self.sets[s].peer_word.load(SeqCst);
        let key = |s: usize| {
            let set = &self.sets[s];
            (set.peer_low.load(SeqCst), set.peer_high.load(SeqCst))
        };
        for s in pool.sets() {
            let counted = peer_word(s) == ADMITTED;
            none(Place::Set(s), "asks for its peer", peer_word(s) != 0 && !counted)?;
            if self.sets[s].word().is(SetWord::LEASED) && limit > 0 {
                let for_peer = key(s) != (0, 0);
                same(Place::Set(s), "counted for a peer", counted, "leased to one", for_peer)?;
            }
            let same_peer = |&other: &usize| peer_word(other) == ADMITTED && key(other) == key(s);
            if counted {
                let sets = pool.sets().filter(same_peer).count();
                at_most(Place::Pool(p), "sets of one peer", sets, "limit", limit)?;
            }
        }
        Ok(())
    }

    /// Nothing is left in a pool's slot that no pool has.
    fn audit_free_pool(&'static self, p: usize) -> Check {
        let pool = &self.pools[p];
        let place = Place::Pool(p);
        same(place, "state", pool.state(), "free is", pool_state::FREE)?;
        none(place, "sets created", pool.created.load(SeqCst))?;
        none(place, "users", pool.users.load(SeqCst))?;
        none(place, "free slots", pool.slots.count())?;
        none(place, "idle bits", pool.idle.count())?;
        none(place, "threads waiting for a set", pool.waiting.load(SeqCst))?;
        none(place, "threads waiting for a peer", pool.peer_waiting.load(SeqCst))
    }

    /// Sets and workers belong to one pool, or are free.
    fn audit_strays(&'static self) -> Check {
        let of_live = |range: fn(&PoolSlot) -> Range<usize>| {
            self.pools.each_ref().map(|pool| if pool.is_live() { range(pool) } else { 0..0 })
        };
        let (sets, workers) = (of_live(PoolSlot::sets), of_live(PoolSlot::all_workers));
        for (s, set) in self.sets.iter().enumerate() {
            let owners = sets.iter().filter(|sets| sets.contains(&s)).count();
            at_most(Place::Set(s), "pools that have it", owners, "at most", 1usize)?;
            if owners == 0 {
                none(Place::Set(s), "word, without a pool", set.word().0)?;
                none(Place::Set(s), "lease, without a pool", set.lease.load(SeqCst) & 1)?;
                none(Place::Set(s), "counted for a peer", set.peer_word.load(SeqCst))?;
            }
        }
        for (w, worker) in self.workers.iter().enumerate() {
            let owners = workers.iter().filter(|workers| workers.contains(&w)).count();
            at_most(Place::Worker(w), "pools that have it", owners, "at most", 1usize)?;
            if owners == 0 {
                none(Place::Worker(w), "word, without a pool", worker.word())?;
            }
        }
        Ok(())
    }

    /// Each job cell is free, holds a result, or is the job of a worker that has one.
    fn audit_jobs(&'static self, sum: &mut Figures) -> Check {
        for (w, worker) in self.workers.iter().enumerate() {
            let job = if has_job(worker.state()) { worker.job.load(SeqCst) as usize } else { 0 };
            let own = job == 0 || job_cells(w).contains(&(job - 1));
            same(Place::Worker(w), "job cell its own", own, "wanted", true)?;
            for cell in job_cells(w) {
                let state = self.jobs[cell].word.load(SeqCst) & job_state::STATE;
                let place = Place::Job(cell);
                none(place, "being joined", state == job_state::WAITED)?;
                let waits = !matches!(state, job_state::FREE | job_state::DONE);
                same(place, "waits for its job's end", waits, "a worker has it", job == cell + 1)?;
                sum.results += usize::from(state == job_state::DONE);
            }
        }
        Ok(())
    }

    fn audit_charges(&self, sum: &mut Figures) -> Check {
        for slot in &self.charges {
            let state = slot.word.load(SeqCst) & CHARGE_STATE;
            none(
                Place::Process,
                "charges in change",
                !matches!(state, CHARGE_FREE | CHARGE_TAKEN),
            )?;
            if state == CHARGE_TAKEN {
                sum.fixed += slot.bytes.load(SeqCst);
            }
        }
        sum.held += sum.fixed;
        Ok(())
    }

    fn audit_process(&self, sum: &Figures) -> Check {
        let place = Place::Process;
        let fixed = self.fixed_bytes.load(SeqCst);
        same(place, "bytes of fixed threads", fixed, "sum of charges", sum.fixed)?;
        let held = self.account.held();
        same(place, "bytes held", held, "threads, extras and charges", sum.held)?;
        at_most(place, "bytes held", held, "high water", self.account.high_water())?;
        let exited = self.exited.load(SeqCst);
        same(place, "threads to be reaped", exited, "workers that exited", sum.exited)?;
        none(place, "seats of waiters taken", self.waiters.taken())?;
        none(place, "administrative calls", self.admin.load(SeqCst))
    }

    /// Checks what holds at any moment, whoever is at work: words that can be, and bounds.
    ///
    /// # Errors
    /// The first word or bound that cannot be.
    pub fn audit_busy(&'static self) -> Check {
        for (p, pool) in self.pools.iter().enumerate() {
            let place = Place::Pool(p);
            let life = pool.word.load(SeqCst);
            let capacity = pool.capacity();
            let (created, idle) = (pool.created.load(SeqCst), pool.idle.count());
            // Only if the slot did not change hands are these one pool's figures.
            if pool.is_live() && pool.word.load(SeqCst) == life {
                at_most(place, "sets created", created, "capacity", capacity)?;
                at_most(place, "idle bits", idle, "capacity", capacity)?;
            }
            let (sets, peers) = (pool.waiting.load(SeqCst), pool.peer_waiting.load(SeqCst));
            at_most(place, "threads waiting for a set", sets, "seats", MAX_WAITERS)?;
            at_most(place, "threads waiting for a peer", peers, "seats", MAX_WAITERS)?;
        }
        for (s, set) in self.sets.iter().enumerate() {
            let (word, place) = (set.word(), Place::Set(s));
            let exclusive = SetWord::LEASED | SetWord::IDLE | SetWord::BUILDING | SetWord::FREEING;
            let states = (word.0 & exclusive).count_ones();
            at_most(place, "states at once", states, "at most", 1u32)?;
            none(place, "unknown bits", word.0 & !SET_BITS)?;
            none(place, "jobs while idle", word.is(SetWord::IDLE) && word.jobs() > 0)?;
            let freed = word.is(SetWord::FREEING);
            none(place, "threads while being freed", freed && word.alive() > 0)?;
            at_most(place, "threads", word.alive(), "roles", MAX_ROLES)?;
        }
        for (w, worker) in self.workers.iter().enumerate() {
            use worker_state::{REAPING, STATE, STOP, WATCHED};
            let (word, place) = (worker.word(), Place::Worker(w));
            none(place, "unknown bits", word & !(STATE | STOP | WATCHED))?;
            at_most(place, "state", word & STATE, "highest", REAPING)?;
        }
        for (cell, job) in self.jobs.iter().enumerate() {
            let state = job.word.load(SeqCst) & job_state::STATE;
            at_most(Place::Job(cell), "state", state, "highest", job_state::DETACHED)?;
        }
        // A forged exit call counts for a moment; a count that wrapped is far above.
        let exited = self.exited.load(SeqCst);
        at_most(Place::Process, "threads to be reaped", exited, "twice the table", 2 * MAX_WORKERS)
    }
}

// Its process does not fit in a model's tables.
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::port::still::Still;
    use crate::{BootOptions, Budget, Lease, Pool, PoolOptions, Role, RunError, Worker};
    use core::num::NonZeroU64;

    const STACK: usize = 64 << 10;

    /// Two roles, at most two sets a peer, 100 extra bytes a set. Set 0 is on a lease for peer 7 and
    /// its first worker has a joinable job, set 1 is idle, set 2 does not exist; 5 bytes are charged.
    fn process() -> (&'static Crew, Pool<2>) {
        let crew: &'static Crew = Box::leak(Box::new(Crew::new()));
        assert_eq!(crew.audit(Some(0)), Ok(Figures::default()), "nothing yet, nothing wrong");
        crew.boot(&BootOptions { port: &Still(|| ()), budget: Budget::Default }).unwrap();
        let role = |name| Role { name, stack_bytes: STACK, priority: 0 };
        let options =
            PoolOptions { name: "p", capacity: 3, prestart: 2, per_peer: 2, ..Default::default() };
        let options = PoolOptions { extra_bytes: 100, ..options };
        let pool = Pool::open(crew, &[role("a"), role("b")], &options).unwrap();
        let (lease, [worker, _]): (Lease, [Worker; 2]) =
            pool.acquire_for(NonZeroU64::new(7).unwrap(), 0).unwrap();
        core::mem::forget((lease, worker.run("job", || 0).unwrap(), crew.charge(5).unwrap()));
        (crew, pool)
    }

    /// As if so many callers had counted themselves and not yet looked at the worker.
    #[test]
    fn more_callers_of_run_than_a_set_counts_are_told_busy_and_carry_nowhere() {
        let (crew, pool) = process();
        let (_lease, [worker, _]) = pool.acquire(0).unwrap();
        let set =
            crew.sets.iter().find(|set| set.word().is(SetWord::LEASED) && set.word().jobs() == 0);
        let set = set.unwrap();
        let full = SetWord(set.word().0 + SetWord::JOBS_MAX * SetWord::ONE_JOB);
        set.store(full);
        assert_eq!(worker.run("job", || 0).map(drop), Err(RunError::Busy));
        assert_eq!(set.word().0, full.0);
    }

    #[test]
    fn a_process_in_use_adds_up() {
        let (crew, pool) = process();
        let mut expected = Figures {
            pools: 1,
            sets: 2,
            idle: 1,
            leased: 1,
            threads: 4,
            exited: 0,
            jobs: 1,
            results: 0,
            held: 4 * STACK + 2 * 100 + 5,
            fixed: 5,
        };
        assert_eq!(crew.audit(Some(4)), Ok(expected));
        assert_eq!(crew.audit_busy(), Ok(()));

        // A death, not yet reaped: the set is retired, and its other thread lives.
        crew.member(2).unwrap().exited();
        expected = Figures { idle: 0, exited: 1, ..expected };
        assert_eq!(crew.audit(Some(4)), Ok(expected));
        // Reaped.
        pool.usage().unwrap();
        expected = Figures { threads: 3, exited: 0, held: expected.held - STACK, ..expected };
        assert_eq!(crew.audit(Some(3)), Ok(expected));
    }

    /// Spoils one word of [`process`], and tells what the audit says to that.
    fn spoiled(spoil: impl FnOnce(&'static Crew)) -> String {
        let (crew, _) = process();
        spoil(crew);
        crew.audit(Some(4)).expect_err("spoiled").to_string()
    }

    #[test]
    fn a_wrong_number_is_named_with_the_right_one() {
        let set = |crew: &'static Crew, s: usize, flags: u32| {
            let word = crew.sets[s].word();
            crew.sets[s].store(SetWord(word.0 ^ flags));
        };
        let cases: [(&str, &dyn Fn(&'static Crew)); 24] = [
            ("pool 0: sets created 3, words not free 2", &|crew| {
                crew.pools[0].created.fetch_add(1, SeqCst);
            }),
            ("pool 0: users 1, words not free 2", &|crew| {
                crew.pools[0].users.fetch_sub(1, SeqCst);
            }),
            ("pool 0: free slots 2, words free 1", &|crew| crew.pools[0].slots.put(3)),
            ("pool 0: idle bits 2, words marked idle 1", &|crew| crew.pools[0].idle.put(3)),
            ("pool 0: threads waiting for a set 1, wanted 0", &|crew| {
                crew.pools[0].waiting.store(1, SeqCst);
            }),
            ("pool 0: sets of one peer 1, limit 0", &|crew| {
                crew.pools[0].per_peer.store(0, SeqCst);
            }),
            ("pool 1: state 1, free is 0", &|crew| {
                crew.pools[1].word.store(pool_state::CHANGING, SeqCst);
            }),
            ("set 2: slot marked free 0, word free 1", &|crew| {
                crew.pools[0].slots.claim(2);
            }),
            ("set 1: idle bit 0, word marked idle 1", &|crew| {
                crew.pools[0].idle.claim(1);
            }),
            ("set 1: idle bit 1, word marked idle 0", &|crew| set(crew, 1, SetWord::IDLE)),
            ("set 1: leased, retired or busy while idle 1, wanted 0", &|crew| {
                set(crew, 1, SetWord::RETIRED);
            }),
            ("set 0: lease generation odd 1, word leased 0", &|crew| set(crew, 0, SetWord::LEASED)),
            ("set 0: counted for a peer 0, leased to one 1", &|crew| {
                crew.sets[0].peer_word.store(0, SeqCst);
            }),
            ("set 1: counted for a peer 1, wanted 0", &|crew| {
                crew.sets[1].peer_word.store(ADMITTED, SeqCst);
            }),
            ("set 1: threads in its word 3, live workers 2", &|crew| {
                set(crew, 1, SetWord::ONE_ALIVE);
            }),
            ("set 0: jobs in its word 0, workers with a job 1", &|crew| {
                set(crew, 0, SetWord::ONE_JOB);
            }),
            ("set 9: word, without a pool 1, wanted 0", &|crew| set(crew, 9, 1)),
            ("worker 3: thread alive 0, set in use 1", &|crew| {
                crew.workers[3].store(worker_state::EMPTY);
            }),
            ("worker 3: asked to stop 1, set retired 0", &|crew| {
                crew.workers[3].store(worker_state::PARKED | worker_state::STOP);
            }),
            ("job cell 0: waits for its job's end 0, a worker has it 1", &|crew| {
                crew.jobs[0].word.store(job_state::FREE, SeqCst);
            }),
            ("job cell 7: waits for its job's end 1, a worker has it 0", &|crew| {
                crew.jobs[7].word.store(job_state::DETACHED, SeqCst);
            }),
            ("process: bytes of fixed threads 6, sum of charges 5", &|crew| {
                crew.fixed_bytes.fetch_add(1, SeqCst);
            }),
            ("process: bytes held 262348, threads, extras and charges 262349", &|crew| {
                crew.account.release(1);
            }),
            ("process: threads to be reaped 1, workers that exited 0", &|crew| {
                crew.exited.fetch_add(1, SeqCst);
            }),
        ];
        for (said, spoil) in cases {
            assert_eq!(spoiled(spoil), said);
        }
    }

    #[test]
    fn the_ports_number_of_threads_and_taken_seats_count() {
        let (crew, _) = process();
        let said = crew.audit(Some(5)).unwrap_err().to_string();
        assert_eq!(said, "process: threads of the port 5, live workers 4");
        let seat = crew.waiters.enter();
        let said = crew.audit(None).unwrap_err().to_string();
        assert_eq!(said, "process: seats of waiters taken 1, wanted 0");
        drop(seat);
        assert!(crew.audit(None).is_ok());
    }

    #[test]
    fn words_that_cannot_be_are_named_at_any_moment() {
        let reaped = format!(
            "process: threads to be reaped 4294967295, twice the table {}",
            2 * MAX_WORKERS
        );
        let cases: [(&str, &dyn Fn(&'static Crew)); 6] = [
            ("pool 0: sets created 4, capacity 3", &|crew| {
                crew.pools[0].created.store(4, SeqCst);
            }),
            ("set 1: states at once 2, at most 1", &|crew| {
                crew.sets[1].store(SetWord(SetWord::IDLE | SetWord::LEASED));
            }),
            ("set 1: jobs while idle 1, wanted 0", &|crew| {
                crew.sets[1].store(SetWord(SetWord::IDLE | SetWord::ONE_JOB));
            }),
            ("worker 3: state 8, highest 7", &|crew| crew.workers[3].store(8)),
            ("job cell 7: state 5, highest 4", &|crew| crew.jobs[7].word.store(5, SeqCst)),
            (&reaped, &|crew| {
                crew.exited.fetch_sub(1, SeqCst);
            }),
        ];
        for (said, spoil) in cases {
            let (crew, _) = process();
            spoil(crew);
            assert_eq!(crew.audit_busy().unwrap_err().to_string(), said);
        }
    }
}
