// SPDX-License-Identifier: MIT OR Apache-2.0
//! Injected faults: in each scenario the port's n-th call of each kind goes wrong, for n = 1, 2,
//! ... until a run meets no fault; once only, and from there on. Then the same for the first few n
//! while calls of a second kind go wrong all the time. After each the books agree, and once the
//! port is well again so is the pool: it serves, it closes, and nothing is left.
//!
//! `cargo test --test faults -- --nocapture` prints how many faults were injected.

mod common;

use common::sim::{EAGAIN, ENOMEM, Fault, Plan, die_in_job};
use common::{KIB, MIB, World};
use crew::audit::Figures;
use crew::{
    AcquireError, BootError, BootOptions, Budget, CloseError, Job, Lease, OpenError, Pool,
    PoolOptions, Refusal, Role, Worker,
};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

const FAULTS: [Fault; 10] = [
    Fault::ThreadCreate,
    Fault::EventCreate,
    Fault::Wait,
    Fault::ClockStalls,
    Fault::ClockJumps,
    Fault::Memory,
    Fault::Reap,
    Fault::Suspended,
    Fault::Log,
    Fault::Death,
];

/// What goes wrong besides, all the time: no waiter is told in time, or no thread is gone in time.
const BESIDES: [Option<Fault>; 4] =
    [None, Some(Fault::Wait), Some(Fault::ClockJumps), Some(Fault::Reap)];

/// Bounds the loops over n: no scenario makes so many calls of one kind.
const CALLS_MAX: u32 = 2_000;
/// The n tried beside a second kind: waits that never end well make a thousand calls.
const CALLS_BESIDE: u32 = 12;

/// Longer than any wait that is meant to succeed.
const LONG_MS: u32 = 10_000;

const STACK: usize = 64 * KIB;
/// Four of these, and the other bytes of their sets, fit just inside the budget of 8 MiB.
const BIG: usize = 2 * MIB - 4 * KIB;

/// One run of one scenario: what it has opened, borrowed and started.
struct Run<'a> {
    world: &'a World,
    wrong: Wrong,
    pools: Vec<Pool<2>>,
    leases: Vec<(Lease, Vec<Worker>)>,
    jobs: Vec<Job>,
}

/// The kinds of calls that go wrong in a run.
#[derive(Clone, Copy)]
struct Wrong(Fault, Option<Fault>);

struct Scenario {
    name: &'static str,
    /// Faults that it must have met alone, at least: so that the loops cannot become empty unseen.
    faults_min: u32,
    /// How many looks pass before an ended thread is gone.
    linger: u32,
    /// Does what comes before the first fault.
    prepare: fn(&mut Run<'_>),
    /// Makes the calls that the faults hit.
    act: fn(&mut Run<'_>),
}

impl Wrong {
    fn is(self, fault: Fault) -> bool {
        self.0 == fault || self.1 == Some(fault)
    }

    fn is_any_of(self, faults: &[Fault]) -> bool {
        faults.iter().any(|&fault| self.is(fault))
    }

    /// Whether these faults lead to `refusal`.
    fn explains(self, refusal: &Refusal) -> bool {
        use Fault::{ClockJumps, ClockStalls, Death, Reap, Suspended, Wait};
        match refusal {
            Refusal::SpawnFailed { os_error: 0, .. } => self.is(Death),
            Refusal::SpawnFailed { os_error, .. } => {
                self.is(Fault::ThreadCreate) && *os_error == EAGAIN
            }
            Refusal::ObjectsExhausted { .. } => self.is(Fault::EventCreate),
            Refusal::TargetMemory { .. } => self.is(Fault::Memory),
            // The set that the caller waited for did not come in time, or ended on its way.
            Refusal::AtCapacity { .. }
            | Refusal::PeerLimit { .. }
            | Refusal::OutOfReservation(_) => {
                self.is_any_of(&[Wait, ClockJumps, ClockStalls, Reap, Suspended, Death])
            }
            _ => false,
        }
    }

    /// Whether the target says no, and nothing keeps the growth from being undone.
    fn is_a_plain_no(self) -> bool {
        self.1.is_none()
            && self.is_any_of(&[Fault::ThreadCreate, Fault::EventCreate, Fault::Memory])
    }
}

impl Run<'_> {
    fn boot(&self) {
        self.world.boot(Budget::Mib(8));
    }

    fn try_open(&mut self, options: PoolOptions<'_>, stack_bytes: usize) -> Result<(), OpenError> {
        let role = |name| Role { name, stack_bytes, priority: 20 };
        let pool = Pool::open(self.world.crew, &[role("a"), role("b")], &options)?;
        self.pools.push(pool);
        Ok(())
    }

    fn open(&mut self, options: PoolOptions<'_>) {
        self.try_open(options, STACK).expect("opens");
    }

    /// Borrows from pool `index`. A refusal comes from the fault; if the target said no, nothing is
    /// different afterwards.
    fn acquire(&mut self, index: usize, peer: Option<NonZeroU64>, timeout_ms: u32) -> bool {
        let before = self.wrong.is_a_plain_no().then(|| self.world.audit());
        let pool = self.pools[index];
        let lent = match peer {
            Some(peer) => pool.acquire_for(peer, timeout_ms),
            None => pool.acquire(timeout_ms),
        };
        match lent {
            Ok((lease, workers)) => {
                self.leases.push((lease, workers.into()));
                true
            }
            Err(AcquireError::Refused(refusal)) => {
                assert!(self.wrong.explains(&refusal), "{refusal}");
                if let Some(before) = before
                    && timeout_ms == 0
                    && before.exited == 0
                {
                    assert_eq!(self.world.audit(), before, "a refusal changes nothing");
                }
                false
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Starts a joinable job on each worker of the lease borrowed last.
    fn start(&mut self, job: fn() -> i32) {
        let (_, workers) = self.leases.last_mut().expect("borrowed");
        for worker in workers.drain(..) {
            match worker.run("job", job) {
                Ok(job) => self.jobs.push(job),
                Err(error) => assert!(self.wrong.is(Fault::Death), "{error}"),
            }
        }
    }

    fn release_all(&mut self) {
        self.leases.clear();
    }

    /// Every job that was accepted is told to its joiner, once.
    fn join_all(&mut self) {
        for job in self.jobs.drain(..) {
            job.join(LONG_MS).expect("every job ends");
        }
    }
}

/// The port is well again: whatever the faults left, the pools serve and close, and nothing stays.
fn recovers(run: &mut Run<'_>) {
    let world = run.world;
    if world.crew.account_usage().is_none() {
        run.boot();
    }
    run.release_all();
    run.join_all();
    world.sim.settle();
    world.audit();
    if run.pools.is_empty() && run.try_open(plain("again"), STACK) == Err(OpenError::Sealed) {
        return;
    }
    for pool in std::mem::take(&mut run.pools) {
        match pool.acquire(LONG_MS) {
            Ok((lease, workers)) => {
                for worker in workers {
                    let job = worker.run("again", || 7).expect("a whole set");
                    assert_eq!(job.join(LONG_MS).expect("runs").value, 7);
                }
                drop(lease);
            }
            // Closing went on; or, after the seal, the only sets have died.
            Err(AcquireError::Refused(Refusal::ShuttingDown) | AcquireError::Stale) => {}
            Err(AcquireError::Refused(Refusal::Sealed)) => assert!(run.wrong.is(Fault::Death)),
            Err(other) => panic!("does not serve again: {other}"),
        }
        world.audit();
        match pool.close(LONG_MS) {
            Ok(()) | Err(CloseError::Stale) => {}
            Err(other) => panic!("does not close: {other}"),
        }
    }
    assert_eq!(world.audit(), Figures::default(), "nothing is left");
}

/// One run. Returns whether it met a fault of the plan's.
fn run(scenario: &Scenario, plan: Plan, besides: Option<Fault>) -> bool {
    let world = World::new();
    world.sim.script().linger = scenario.linger;
    let (pools, leases, jobs) = (Vec::new(), Vec::new(), Vec::new());
    let wrong = Wrong(plan.fault, besides);
    let mut run = Run { world: &world, wrong, pools, leases, jobs };
    (scenario.prepare)(&mut run);
    world.sim.plan(Some(plan), besides);
    (scenario.act)(&mut run);
    let met = world.sim.script().faults > 0;
    world.audit();
    world.sim.plan(None, None);
    recovers(&mut run);
    met
}

fn plain(name: &str) -> PoolOptions<'_> {
    PoolOptions { name, capacity: 2, extra_bytes: 100, ..PoolOptions::default() }
}

fn peer() -> Option<NonZeroU64> {
    NonZeroU64::new(7)
}

fn nothing(run: &mut Run<'_>) {
    run.boot();
}

fn boot(run: &mut Run<'_>) {
    let options = BootOptions { port: run.world.sim, budget: Budget::Mib(64) };
    match run.world.crew.boot(&options) {
        Ok(()) => {}
        Err(BootError::Objects(error)) => {
            assert!(run.wrong.is(Fault::EventCreate) && error == ENOMEM, "{error}");
            assert!(run.world.crew.account_usage().is_none(), "not booted");
        }
        Err(other) => panic!("{other}"),
    }
}

fn open_with_prestart(run: &mut Run<'_>) {
    let options = PoolOptions { prestart: 2, ..plain("prestart") };
    let before = run.world.audit();
    if let Err(error) = run.try_open(options, STACK) {
        let OpenError::Refused(refusal) = error else { panic!("{error}") };
        assert!(run.wrong.explains(&refusal), "{refusal}");
        if run.wrong.is_a_plain_no() {
            assert_eq!(run.world.audit(), before, "nothing was opened");
        }
    }
}

fn one_pool(run: &mut Run<'_>) {
    run.boot();
    run.open(plain("p"));
}

fn grow(run: &mut Run<'_>) {
    while run.leases.len() < 2 && run.acquire(0, None, 0) {}
}

fn two_idle(run: &mut Run<'_>) {
    run.boot();
    run.open(PoolOptions { prestart: 2, ..plain("p") });
}

fn trim(run: &mut Run<'_>) {
    run.pools[0].trim(1).expect("open");
    run.pools[0].trim(0).expect("open");
}

fn one_busy_one_idle(run: &mut Run<'_>) {
    two_idle(run);
    run.acquire(0, None, 0);
    run.start(|| 1);
}

fn close(run: &mut Run<'_>) {
    match run.pools[0].close(50) {
        Ok(()) | Err(CloseError::TimedOut(_)) => {}
        Err(other) => panic!("{other}"),
    }
}

fn one_busy(run: &mut Run<'_>) {
    one_pool(run);
    run.acquire(0, None, 0);
    run.start(|| {
        die_in_job();
        0
    });
}

/// Both members die in their jobs, under a lease; a new set replaces theirs.
fn death_and_replacement(run: &mut Run<'_>) {
    run.world.sim.settle();
    run.pools[0].usage().expect("open");
    run.acquire(0, None, 0);
    run.acquire(0, None, 0);
    run.pools[0].usage().expect("open");
}

fn all_released_and_running(run: &mut Run<'_>) {
    two_idle(run);
    for _ in 0..2 {
        run.acquire(0, None, 0);
        run.start(|| 1);
    }
    run.release_all();
}

/// The sets come back while the caller waits.
fn acquire_with_wait(run: &mut Run<'_>) {
    run.acquire(0, None, 50);
    run.acquire(0, None, 50);
    // And a wait for which no set comes.
    let result = run.pools[0].acquire(20);
    if run.leases.len() == 2 {
        assert!(result.is_err() || run.wrong.is(Fault::Death));
    }
}

fn one_released_and_running_for_a_peer(run: &mut Run<'_>) {
    run.boot();
    run.open(PoolOptions { per_peer: 1, ..plain("p") });
    run.acquire(0, peer(), 0);
    run.start(|| 1);
    run.release_all();
}

fn wait_for_the_peers_set(run: &mut Run<'_>) {
    run.acquire(0, peer(), 50);
}

/// The rich pool holds nearly all of the 8 MiB in two idle sets.
fn rich_and_poor(run: &mut Run<'_>) {
    run.boot();
    run.try_open(PoolOptions { prestart: 2, ..plain("rich") }, BIG).expect("opens");
    run.try_open(plain("poor"), BIG).expect("opens");
}

fn reclaim(run: &mut Run<'_>) {
    run.acquire(1, None, 50);
    run.acquire(1, None, 50);
}

fn keeper(run: &mut Run<'_>) {
    run.boot();
    run.open(PoolOptions { keep: 2, ..plain("p") });
}

fn seal(run: &mut Run<'_>) {
    match run.world.crew.seal() {
        Ok(()) => {}
        Err(OpenError::Refused(refusal)) => assert!(run.wrong.explains(&refusal), "{refusal}"),
        Err(other) => panic!("{other}"),
    }
}

fn two_idle_that_age(run: &mut Run<'_>) {
    run.boot();
    run.open(PoolOptions { prestart: 2, idle_age_s: 10, ..plain("p") });
    run.world.sim.settle();
}

fn idle_age(run: &mut Run<'_>) {
    for _ in 0..3 {
        run.world.sim.advance(10_000);
        run.world.sim.settle();
        run.pools[0].usage().expect("open");
    }
}

fn one_lease(run: &mut Run<'_>) {
    one_pool(run);
    run.acquire(0, None, 0);
}

fn run_and_join(run: &mut Run<'_>) {
    run.start(|| 1);
    let jobs: Vec<Job> = run.jobs.drain(..).collect();
    run.jobs = jobs.into_iter().filter_map(|job| job.join(50).err()).collect();
}

/// Two pools: the jobs of one wait in line for the only set of the other, which its own job
/// returns.
fn a_line_of_waiters(run: &mut Run<'_>) {
    run.boot();
    run.open(PoolOptions { capacity: 1, prestart: 1, ..plain("wanted") });
    run.open(PoolOptions { prestart: 2, ..plain("waiters") });
    run.acquire(1, None, 0);
    run.acquire(1, None, 0);
    run.acquire(0, None, 0);
    run.start(|| 1);
    run.leases.pop();
}

fn wait_in_line(run: &mut Run<'_>) {
    let wanted = run.pools[0];
    for (_, workers) in &mut run.leases {
        for worker in workers.drain(..) {
            let job = worker.run("wait", move || i32::from(wanted.acquire(100).is_ok()));
            run.jobs.extend(job.ok());
        }
    }
    run.world.sim.settle();
}

const SCENARIOS: [Scenario; 14] = {
    const fn scenario(
        name: &'static str,
        faults_min: u32,
        linger: u32,
        prepare: fn(&mut Run<'_>),
        act: fn(&mut Run<'_>),
    ) -> Scenario {
        Scenario { name, faults_min, linger, prepare, act }
    }
    [
        scenario("boot", 57, 0, |_| {}, boot),
        scenario("open with prestart", 30, 0, nothing, open_with_prestart),
        scenario("grow", 36, 0, one_pool, grow),
        scenario("grow, threads end slowly", 36, 3, one_pool, grow),
        scenario("trim", 37, 0, two_idle, trim),
        scenario("close", 46, 2, one_busy_one_idle, close),
        scenario("death and replacement", 50, 1, one_busy, death_and_replacement),
        scenario("acquire with wait", 60, 0, all_released_and_running, acquire_with_wait),
        scenario(
            "wait for a peer",
            16,
            0,
            one_released_and_running_for_a_peer,
            wait_for_the_peers_set,
        ),
        scenario("reclaim across pools", 90, 1, rich_and_poor, reclaim),
        scenario("seal", 30, 0, keeper, seal),
        scenario("idle age", 27, 0, two_idle_that_age, idle_age),
        scenario("run and join", 8, 0, one_lease, run_and_join),
        scenario("a line of waiters", 57, 0, a_line_of_waiters, wait_in_line),
    ]
};

/// Runs the scenario with the n-th call going wrong, for n = 1, 2, ... until none does. Returns how
/// many did.
fn sweep(scenario: &Scenario, fault: Fault, from_then_on: bool, besides: Option<Fault>) -> u32 {
    let meets = |&nth: &u32| {
        let plan = Plan { fault, nth, from_then_on };
        let name = scenario.name;
        std::panic::catch_unwind(|| run(scenario, plan, besides))
            .unwrap_or_else(|_| panic!("scenario {name}, {plan:?}, besides {besides:?}: see above"))
    };
    let bound = if besides.is_some() { CALLS_BESIDE } else { CALLS_MAX };
    let met = (1..=bound).take_while(meets).count() as u32;
    assert!(met < CALLS_MAX, "{}: {fault:?} has no end", scenario.name);
    met
}

#[test]
fn nothing_is_lost_whatever_call_of_the_port_goes_wrong() {
    let mut total = 0;
    let mut kinds = BTreeMap::new();
    for scenario in &SCENARIOS {
        let mut faults = [0, 0];
        for (fault, besides) in FAULTS.iter().flat_map(|fault| BESIDES.map(|other| (*fault, other)))
        {
            if besides == Some(fault) {
                continue;
            }
            for from_then_on in [false, true] {
                let met = sweep(scenario, fault, from_then_on, besides);
                faults[usize::from(besides.is_some())] += met;
                *kinds.entry(format!("{fault:?}")).or_insert(0) += met;
            }
        }
        let [alone, with_others] = faults;
        println!("{alone:5} faults alone, {with_others:5} beside others: {}", scenario.name);
        assert!(alone >= scenario.faults_min, "{}: {alone} faults", scenario.name);
        total += alone + with_others;
    }
    for (kind, count) in kinds {
        println!("{count:5} faults of kind {kind}");
        assert!(count > 0, "{kind}");
    }
    println!("{total:5} distinct faults injected, after each the books agreed");
    assert!(total >= 1_800, "{total} faults");
}
