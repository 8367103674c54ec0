// SPDX-License-Identifier: MIT OR Apache-2.0
//! The audit: everything that is counted twice must come out the same from both sides. For tests;
//! an image that does not call it has none of it.
//!
//! [`Crew::audit`] is for a quiet moment: no thread is inside a call of Crew's, and none waits in
//! one. Leases may be out, jobs given or running, threads dead and not yet reaped.
//! [`Crew::audit_busy`] is for any moment: it looks at one word at a time, and at bounds that no
//! moment may pass.

mod calls;
#[cfg(feature = "audit")]
mod ffi;
mod sets;

pub use calls::Calls;
#[cfg(feature = "audit")]
pub use ffi::{crew_audit, crew_audit_busy};

use crate::crew::Crew;
use crate::host::{Host, charges};
use crate::sync::atomic::Ordering::SeqCst;
use core::fmt;

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

/// The first thing that does not add up, with both numbers. For a yes or no the numbers are 1 and
/// 0.
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

impl Crew {
    /// Checks every sum from both sides. Needs a quiet moment: no thread is inside a call of
    /// Crew's. `threads`: how many threads the port has made and not reaped, where the caller
    /// knows.
    ///
    /// # Errors
    /// The first two sides that disagree.
    pub fn audit(&'static self, threads: Option<usize>) -> Result<Figures, Disagreement> {
        let mut sum = Figures::default();
        self.sets().audit(&mut sum)?;
        self.host.audit(&mut sum)?;
        if let Some(threads) = threads {
            same(Place::Process, "threads of the port", threads, "live workers", sum.threads)?;
        }
        Ok(sum)
    }

    /// Checks what holds at any moment, whatever is under way: words that can be, and bounds.
    ///
    /// # Errors
    /// The first word or bound that cannot be.
    pub fn audit_busy(&'static self) -> Check {
        self.sets().audit_busy()
    }
}

impl Host {
    /// The account against the sums of all services.
    fn audit(&self, sum: &mut Figures) -> Check {
        let place = Place::Process;
        for slot in &self.charges.slots {
            let state = slot.word.load_seq_cst().state();
            let changing = !matches!(state, charges::FREE | charges::TAKEN);
            none(place, "charges in change", changing)?;
            if state == charges::TAKEN {
                sum.fixed += slot.bytes.load(SeqCst);
            }
        }
        sum.held += sum.fixed;
        same(place, "bytes of fixed threads", self.charges.bytes(), "sum of charges", sum.fixed)?;
        let held = self.account.held();
        same(place, "bytes held", held, "threads, extras and charges", sum.held)?;
        at_most(place, "bytes held", held, "high water", self.account.high_water())?;
        none(place, "administrative calls", self.admin.load(SeqCst))
    }
}

// Its process does not fit in a model's tables.
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::limits::MAX_WORKERS;
    use crate::port::still::Still;
    use crate::sets::peer::ADMITTED;
    use crate::sets::slot::{SetWord, job_state, pool_state, worker_state};
    use crate::table::Packed;
    use crate::{BootOptions, Budget, Lease, Pool, PoolOptions, Role, RunError, Worker};
    use core::num::NonZeroU64;

    const STACK: usize = 64 << 10;

    /// Two roles, at most two sets a peer, 100 extra bytes a set. Set 0 is on a lease for peer 7
    /// and its first worker has a joinable job, set 1 is idle, set 2 does not exist; 5 bytes are
    /// charged.
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
        let set = crew
            .sets
            .sets
            .iter()
            .find(|set| set.word().is(SetWord::LEASED) && set.word().jobs() == 0);
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
        // SAFETY: no thread of this port ever runs: the test speaks for the worker's.
        unsafe { crew.member(2).unwrap().exited() };
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
            let word = crew.sets.sets[s].word();
            crew.sets.sets[s].store(SetWord(word.0 ^ flags));
        };
        let cases: [(&str, &dyn Fn(&'static Crew)); 24] = [
            ("pool 0: sets created 3, words not free 2", &|crew| {
                crew.sets.pools[0].created.fetch_add(1, SeqCst);
            }),
            ("pool 0: users 1, words not free 2", &|crew| {
                crew.sets.pools[0].users.fetch_sub(1, SeqCst);
            }),
            ("pool 0: free slots 2, words free 1", &|crew| crew.sets.pools[0].slots.put(3)),
            ("pool 0: idle bits 2, words marked idle 1", &|crew| crew.sets.pools[0].idle.put(3)),
            ("pool 0: threads waiting for a set 1, wanted 0", &|crew| {
                crew.sets.pools[0].waiting.store(1, SeqCst);
            }),
            ("pool 0: sets of one peer 1, limit 0", &|crew| {
                crew.sets.pools[0].per_peer.store(0, SeqCst);
            }),
            ("pool 1: state 1, free is 0", &|crew| {
                crew.sets.pools[1].word.store(Packed::new(0, pool_state::CHANGING));
            }),
            ("set 2: slot marked free 0, word free 1", &|crew| {
                crew.sets.pools[0].slots.claim(2);
            }),
            ("set 1: idle bit 0, word marked idle 1", &|crew| {
                crew.sets.pools[0].idle.claim(1);
            }),
            ("set 1: idle bit 1, word marked idle 0", &|crew| set(crew, 1, SetWord::IDLE)),
            ("set 1: leased, retired or busy while idle 1, wanted 0", &|crew| {
                set(crew, 1, SetWord::RETIRED);
            }),
            ("set 0: lease generation odd 1, word leased 0", &|crew| set(crew, 0, SetWord::LEASED)),
            ("set 0: counted for a peer 0, leased to one 1", &|crew| {
                crew.sets.sets[0].peer_word.store(0, SeqCst);
            }),
            ("set 1: counted for a peer 1, wanted 0", &|crew| {
                crew.sets.sets[1].peer_word.store(ADMITTED, SeqCst);
            }),
            ("set 1: threads in its word 3, live workers 2", &|crew| {
                set(crew, 1, SetWord::ONE_ALIVE);
            }),
            ("set 0: jobs in its word 0, workers with a job 1", &|crew| {
                set(crew, 0, SetWord::ONE_JOB);
            }),
            ("set 9: word, without a pool 1, wanted 0", &|crew| set(crew, 9, 1)),
            ("worker 3: thread alive 0, set in use 1", &|crew| {
                crew.sets.workers[3].store(worker_state::EMPTY);
            }),
            ("worker 3: asked to stop 1, set retired 0", &|crew| {
                crew.sets.workers[3].store(worker_state::PARKED | worker_state::STOP);
            }),
            ("job cell 0: waits for its job's end 0, a worker has it 1", &|crew| {
                crew.sets.jobs[0].word.store(Packed::new(0, job_state::FREE));
            }),
            ("job cell 7: waits for its job's end 1, a worker has it 0", &|crew| {
                crew.sets.jobs[7].word.store(Packed::new(0, job_state::DETACHED));
            }),
            ("process: bytes of fixed threads 6, sum of charges 5", &|crew| {
                crew.host.charges.bytes.fetch_add(1, SeqCst);
            }),
            ("process: bytes held 262348, threads, extras and charges 262349", &|crew| {
                crew.host.account.release(1);
            }),
            ("process: threads to be reaped 1, workers that exited 0", &|crew| {
                crew.sets.exited.fetch_add(1, SeqCst);
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
        let seat = crew.sets.waiters.enter();
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
                crew.sets.pools[0].created.store(4, SeqCst);
            }),
            ("set 1: states at once 2, at most 1", &|crew| {
                crew.sets.sets[1].store(SetWord(SetWord::IDLE | SetWord::LEASED));
            }),
            ("set 1: jobs while idle 1, wanted 0", &|crew| {
                crew.sets.sets[1].store(SetWord(SetWord::IDLE | SetWord::ONE_JOB));
            }),
            ("worker 3: state 8, highest 7", &|crew| crew.sets.workers[3].store(8)),
            ("job cell 7: state 5, highest 4", &|crew| {
                crew.sets.jobs[7].word.store(Packed::new(0, 5))
            }),
            (&reaped, &|crew| {
                crew.sets.exited.fetch_sub(1, SeqCst);
            }),
        ];
        for (said, spoil) in cases {
            let (crew, _) = process();
            spoil(crew);
            assert_eq!(crew.audit_busy().unwrap_err().to_string(), said);
        }
    }
}
