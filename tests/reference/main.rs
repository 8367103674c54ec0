// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random calls, on a pool over the simulated port and on the reference; after each call the
//! answers and all figures are the same, after each run everything that is counted twice agrees.
//!
//! `CREW_REFERENCE_RUNS` sets the number of runs, else 1,000; `CREW_REFERENCE_SEED` a number that
//! decides which runs, else 0. A run that fails is printed, shortened.

#[path = "../common/mod.rs"]
mod common;
mod model;

use common::sim::{die_in_job, throw_in_job};
use common::{KIB, World};
use crew::audit::{Calls, Figures};
use crew::table::{Handle, Kind};
use crew::{Budget, PoolOptions, Role};
use model::{How, Model, WAIT_MS};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt::Debug;
use std::num::NonZeroU64;

const STACK: usize = 64 * KIB;
const OVERHEAD: usize = 1_000;
const OPERATIONS: usize = 50;

/// One call. Numbers that choose among what there is are taken modulo how much there is; handles
/// may be of what has ended.
#[derive(Clone, Copy, Debug)]
enum Op {
    Open { roles: usize, capacity: u32, prestart: u32, keep: u32, per_peer: u32, extra: usize },
    Close { pool: usize, wait: bool },
    Acquire { pool: usize, peer: u64 },
    Run { lease: usize, role: usize, how: How, joinable: bool },
    Join { job: usize },
    Detach { job: usize },
    Release { lease: usize },
    Kill { thread: usize },
    Trim { pool: usize, keep: u32 },
    Charge { bytes: usize },
    Uncharge { charge: usize },
    Advance { ms: u64 },
    Settle,
}

fn any_op() -> impl Strategy<Value = Op> {
    let some = 0..1_000usize;
    let how = prop_oneof![
        8 => (0..100).prop_map(How::Return),
        1 => Just(How::Throw),
        1 => Just(How::Die),
    ];
    let role = prop_oneof![5 => Just(0), 3 => Just(1), 2 => Just(2), 1 => Just(3)];
    let roles = prop_oneof![1 => Just(0), 6 => 1..=3usize];
    let open = (roles, 1..=3u32, 0..=3u32, 0..=2u32, 0..=2u32, 0..=100 * KIB).prop_map(
        |(roles, capacity, prestart, keep, per_peer, extra)| Op::Open {
            roles,
            capacity,
            prestart: prestart.min(capacity),
            keep: keep.min(capacity),
            per_peer,
            extra: extra.max(1),
        },
    );
    prop_oneof![
        2 => open,
        1 => (some.clone(), any::<bool>()).prop_map(|(pool, wait)| Op::Close { pool, wait }),
        10 => (some.clone(), 0..3u64).prop_map(|(pool, peer)| Op::Acquire { pool, peer }),
        20 => (some.clone(), role, how, any::<bool>())
            .prop_map(|(lease, role, how, joinable)| Op::Run { lease, role, how, joinable }),
        2 => some.clone().prop_map(|job| Op::Join { job }),
        1 => some.clone().prop_map(|job| Op::Detach { job }),
        7 => some.clone().prop_map(|lease| Op::Release { lease }),
        2 => some.clone().prop_map(|thread| Op::Kill { thread }),
        1 => (some.clone(), 0..3u32).prop_map(|(pool, keep)| Op::Trim { pool, keep }),
        1 => (0..400 * KIB).prop_map(|bytes| Op::Charge { bytes }),
        1 => some.prop_map(|charge| Op::Uncharge { charge }),
        1 => (0..5_000u64).prop_map(|ms| Op::Advance { ms }),
        7 => Just(Op::Settle),
    ]
}

extern "C" fn give(argument: *mut c_void) -> i32 {
    argument as usize as i32
}

extern "C" fn throw(_: *mut c_void) -> i32 {
    throw_in_job();
    1
}

extern "C" fn die(_: *mut c_void) -> i32 {
    die_in_job();
    1
}

/// Both sides, and the names by which one knows what the other has.
struct Pair {
    world: World,
    calls: Calls,
    model: Model,
    /// With the number of their life.
    pools: Vec<(usize, Handle)>,
    leases: Vec<Handle>,
    /// With the model's number.
    jobs: Vec<(Handle, usize)>,
    charges: Vec<Handle>,
}

thread_local! {
    /// How often each call had each answer, over all runs.
    static ANSWERS: RefCell<BTreeMap<String, u32>> = const { RefCell::new(BTreeMap::new()) };
}

/// The two sides answer the same.
fn agree<T: Debug + PartialEq, E: Debug + PartialEq>(
    call: &str,
    core: Result<T, E>,
    model: Result<T, E>,
) {
    assert_eq!(core, model, "{call}: the answers differ");
    let answer = match core {
        Ok(_) => "Ok".to_owned(),
        Err(error) => format!("{error:?}"),
    };
    // The name without its numbers.
    let mut names = answer.split(['(', ')', ' ', '{', '"']).filter(|name| !name.is_empty());
    let name = names.find(|&name| name != "Refused").unwrap_or_default();
    tally(format!("{call}: {name}"));
}

fn tally(answer: String) {
    ANSWERS.with_borrow_mut(|answers| *answers.entry(answer).or_default() += 1);
}

/// One of `count`: mostly one of the newest few, now and then any.
fn chosen(count: usize, number: usize) -> Option<usize> {
    let among = if number.is_multiple_of(4) { count } else { count.min(4) };
    (count > 0).then(|| count - among + number / 4 % among)
}

impl Pair {
    fn new() -> Self {
        let world = World::new();
        world.sim.script().overhead = OVERHEAD;
        world.boot(Budget::Mib(1));
        let model = Model::new(1 << 20, 1_000);
        let (pools, leases, jobs) = (Vec::new(), Vec::new(), Vec::new());
        let calls = Calls(world.crew);
        Self { world, calls, model, pools, leases, jobs, charges: Vec::new() }
    }

    fn settle(&mut self) {
        self.world.sim.settle();
        self.model.settle();
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Open { roles, capacity, prestart, keep, per_peer, extra } => {
                let options = PoolOptions {
                    capacity,
                    prestart,
                    keep,
                    per_peer,
                    extra_bytes: extra,
                    busy_age_s: 3,
                    ..PoolOptions::default()
                };
                self.open(options, roles);
            }
            Op::Close { pool, wait } => {
                if let Some(pool) = chosen(self.pools.len(), pool) {
                    self.close(pool, wait);
                }
            }
            Op::Acquire { pool, peer } => {
                if let Some(pool) = chosen(self.pools.len(), pool) {
                    self.acquire(pool, peer);
                }
            }
            Op::Run { lease, role, how, joinable } => {
                if let Some(lease) = chosen(self.leases.len(), lease) {
                    self.run(lease, role, how, joinable);
                }
            }
            Op::Join { job } => {
                if let Some(job) = chosen(self.jobs.len(), job) {
                    self.join(job);
                }
            }
            Op::Detach { job } => {
                if let Some(index) = chosen(self.jobs.len(), job) {
                    let (handle, job) = self.jobs[index];
                    agree("detach", self.calls.detach(handle), self.model.detach(job));
                }
            }
            Op::Release { lease } => {
                if let Some(lease) = chosen(self.leases.len(), lease) {
                    self.release(lease);
                }
            }
            Op::Kill { thread } => {
                let threads = self.model.threads();
                if let Some(index) = chosen(threads.len(), thread) {
                    let (p, slot, role) = threads[index];
                    let life = self.model.pools[p].as_ref().expect("it has a thread").life;
                    self.world.sim.kill(&format!("{life}.{slot}-{}", ROLES[role]));
                    self.model.kill(p, slot, role);
                }
            }
            Op::Trim { pool, keep } => {
                if let Some(pool) = chosen(self.pools.len(), pool) {
                    self.trim(pool, keep);
                }
            }
            Op::Charge { bytes } => {
                self.charges.push(self.calls.charge(bytes).expect("few charges"));
                self.model.charge(bytes);
            }
            Op::Uncharge { charge } => {
                if let Some(charge) = chosen(self.charges.len(), charge) {
                    self.uncharge(charge);
                }
            }
            Op::Advance { ms } => {
                self.world.sim.advance(ms);
                self.model.now_ms += ms;
            }
            Op::Settle => self.settle(),
        }
    }

    fn open(&mut self, options: PoolOptions<'static>, roles: usize) {
        self.settle();
        let model = self.model.open(options, roles, STACK + OVERHEAD);
        let life = self.model.lives;
        let role = |&name| Role { name, stack_bytes: STACK, priority: 20 };
        let roster: Vec<Role<'_>> = ROLES[..roles].iter().map(role).collect();
        let name = life.to_string();
        let options = PoolOptions { name: &name, roles: &roster, ..options };
        let core = self.calls.open(&options);
        self.pools.extend(core.map(|handle| (life, handle)));
        agree("open", core.map(|_| life), model);
        self.settle();
    }

    fn close(&mut self, pool: usize, wait: bool) {
        let (life, handle) = self.pools[pool];
        if wait {
            self.settle();
        }
        let timeout_ms = if wait { WAIT_MS as u32 } else { 0 };
        let model = self.model.close(life, wait);
        agree("close", self.calls.close(handle, timeout_ms), model);
        if wait {
            self.settle();
        }
    }

    fn trim(&mut self, pool: usize, keep: u32) {
        let (life, handle) = self.pools[pool];
        self.settle();
        agree("trim", self.calls.trim(handle, keep), self.model.trim(life, keep));
        self.settle();
    }

    fn acquire(&mut self, pool: usize, peer: u64) {
        let (life, handle) = self.pools[pool];
        let core = self.calls.acquire(handle, NonZeroU64::new(peer), 0);
        self.leases.extend(core);
        let place = |lease: Handle| lease.parts(Kind::Lease, usize::MAX).expect("a lease").0;
        agree("acquire", core.map(place), self.model.acquire(life, peer));
    }

    fn run(&mut self, lease: usize, role: usize, how: How, joinable: bool) {
        let handle = self.leases[lease];
        let core = match how {
            How::Return(value) => self.calls.run(handle, role, give, value as usize, joinable),
            How::Throw => self.calls.run(handle, role, throw, 0, joinable),
            How::Die => self.calls.run(handle, role, die, 0, joinable),
        };
        let cell = |job: Handle| job.parts(Kind::Job, usize::MAX).expect("a job").0;
        let model = self.model.run(lease, role, how, joinable);
        agree("run", core.map(|job| job.map(cell)), model);
        if let Ok(Some(job)) = core {
            self.jobs.push((job, self.model.last_job()));
        }
    }

    fn join(&mut self, index: usize) {
        let (handle, job) = self.jobs[index];
        let core = self.calls.join(handle, 0);
        agree("join", core, self.model.join(job));
        if let Ok(result) = core {
            tally(format!("join: {:?}", result.outcome));
        }
    }

    fn release(&mut self, lease: usize) {
        agree("release", self.calls.release(self.leases[lease]), self.model.release(lease));
    }

    fn uncharge(&mut self, index: usize) {
        let answer = |ended: bool| if ended { Ok(()) } else { Err("Stale") };
        let core = answer(self.calls.uncharge(self.charges[index]));
        agree("uncharge", core, answer(self.model.uncharge(index)));
    }

    /// All figures are the same.
    fn compare(&self) {
        for &(life, handle) in &self.pools {
            assert_eq!(self.calls.usage(handle).ok(), self.model.usage(life), "pool {life}");
        }
        let account = self.world.crew.account_usage().expect("booted");
        let model = &self.model;
        assert_eq!(account.held, model.held, "held");
        assert_eq!(account.high_water, model.high_water, "high water");
        assert_eq!(account.refusals, model.refusals, "refusals");
        let fixed = model.charges.iter().flatten().sum::<usize>();
        assert_eq!(account.fixed, fixed, "fixed");
        assert_eq!(self.world.crew.charges(), model.charges.iter().flatten().count(), "charges");
    }

    /// Everything goes back, and nothing is left.
    fn finish(mut self) {
        self.world.audit();
        for lease in 0..self.leases.len() {
            self.release(lease);
        }
        for pool in 0..self.pools.len() {
            self.close(pool, true);
            self.compare();
        }
        for job in 0..self.jobs.len() {
            self.join(job);
        }
        for charge in 0..self.charges.len() {
            self.uncharge(charge);
        }
        assert_eq!(self.world.audit(), Figures::default(), "nothing is left");
    }
}

/// Answers that the runs of the normal tests must have seen, so that they cannot become weak
/// unseen.
const EXPECTED: [&str; 32] = [
    "acquire: AtCapacity",
    "acquire: Ok",
    "acquire: OutOfReservation",
    "acquire: PeerLimit",
    "acquire: ShuttingDown",
    "acquire: Stale",
    "close: Ok",
    "close: Stale",
    "close: TimedOut",
    "detach: Ok",
    "detach: Stale",
    "join: Died",
    "join: Failed",
    "join: NotRun",
    "join: Returned",
    "join: Stale",
    "join: TimedOut",
    "open: Ok",
    "open: OutOfReservation",
    "release: Ok",
    "release: Retired",
    "release: Stale",
    "run: BadRole",
    "run: Busy",
    "run: NoJobCell",
    "run: NotRun",
    "run: Ok",
    "run: Stale",
    "trim: Ok",
    "trim: Stale",
    "uncharge: Ok",
    "uncharge: Stale",
];

const ROLES: [&str; 3] = ["a", "b", "c"];

fn run(ops: &[Op]) {
    let mut pair = Pair::new();
    for &op in ops {
        pair.apply(op);
        pair.compare();
    }
    pair.finish();
}

#[test]
fn answers_and_figures_are_those_of_the_reference() {
    let runs = std::env::var("CREW_REFERENCE_RUNS").map_or(1_000, |n| n.parse().expect("a number"));
    let seed: u64 =
        std::env::var("CREW_REFERENCE_SEED").map_or(0, |n| n.parse().expect("a number"));
    let config = Config { cases: runs, failure_persistence: None, ..Config::default() };
    let bytes = (u128::from(seed) << 64 | 0x5eed).to_le_bytes();
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, &bytes);
    let strategy = prop::collection::vec(any_op(), OPERATIONS);
    let result = TestRunner::new_with_rng(config, rng).run(&strategy, |ops| {
        run(&ops);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("seed {seed}: {failure}");
    }
    ANSWERS.with_borrow(|answers| {
        answers.iter().for_each(|(answer, count)| println!("{count:7} {answer}"));
        let calls: u32 = answers.values().sum();
        println!("{runs} runs of {OPERATIONS} operations, {calls} answers: as the reference's");
        for answer in EXPECTED {
            let seen = answers.contains_key(answer);
            assert!(seen || runs < 1_000 || seed != 0, "never seen: {answer}");
        }
    });
}
