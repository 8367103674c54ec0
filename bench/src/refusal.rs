// SPDX-License-Identifier: MIT OR Apache-2.0
//! Question 5: what does it cost to be refused, by cause, and what does work that runs lose while
//! others are refused beside it?

use crate::drivers::{self, job};
use crate::place::{allowed_cpus, pin};
use crate::runner::{Contestant, contest, scaled};
use crate::{CREW, PRIORITY};
use crew::port::{Event, MemoryAnswer, Port, Severity, Target, ThreadSpec};
use crew::{
    AcquireError, BootOptions, Budget, Crew, Lease, Pool, PoolOptions, RefusalKind, Role, Worker,
    shim,
};
use std::hint::black_box;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 31;
const REFUSALS: u32 = 2_000;
const STORM: u32 = 10_000;
const WORK: u32 = 2_000;
const LONG_MS: u32 = 60_000;
const STACK_BYTES: usize = 64 << 10;
const ROLES: [Role<'static>; 1] =
    [Role { name: "w", stack_bytes: STACK_BYTES, priority: PRIORITY }];

/// The std port on a target that has run out of something, and says nothing.
struct Poor {
    has_memory: bool,
    makes_threads: bool,
}

// SAFETY: its threads and events are the std port's.
unsafe impl Port for Poor {
    fn target(&self) -> Target {
        Target::Host
    }
    fn thread_overhead_bytes(&self) -> usize {
        0
    }
    fn thread_create(&self, spec: &ThreadSpec<'_>) -> Result<usize, i32> {
        if self.makes_threads { shim::PORT.thread_create(spec) } else { Err(libc::EAGAIN) }
    }
    unsafe fn thread_reap(&self, thread: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { shim::PORT.thread_reap(thread) }
    }
    fn event_create(&self, event: &'static Event) -> Result<(), i32> {
        shim::PORT.event_create(event)
    }
    unsafe fn event_wait(&self, event: &'static Event, timeout_ms: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe { shim::PORT.event_wait(event, timeout_ms) }
    }
    unsafe fn event_post(&self, event: &'static Event) {
        // SAFETY: the caller's promise.
        unsafe { shim::PORT.event_post(event) }
    }
    fn clock_ms(&self) -> u64 {
        shim::PORT.clock_ms()
    }
    fn memory_has(&self, _bytes: usize) -> MemoryAnswer {
        if self.has_memory { MemoryAnswer::CannotTell } else { MemoryAnswer::No("has no more") }
    }
    fn log(&self, _severity: Severity, _text: &str) {}
}

static RICH: Poor = Poor { has_memory: true, makes_threads: true };
static NO_MEMORY: Poor = Poor { has_memory: false, makes_threads: true };
static NO_THREADS: Poor = Poor { has_memory: true, makes_threads: false };

static SMALL: Crew = Crew::new();
static SEALED: Crew = Crew::new();
static CLOSING: Crew = Crew::new();
static WITHOUT_MEMORY: Crew = Crew::new();
static WITHOUT_THREADS: Crew = Crew::new();

fn pool(crew: &'static Crew, capacity: u32, prestart: u32, per_peer: u32) -> Pool<1> {
    let options =
        PoolOptions { name: "bench", capacity, prestart, per_peer, ..PoolOptions::default() };
    Pool::open(crew, &ROLES, &options).expect("the pool opens")
}

fn boot(crew: &'static Crew, port: &'static dyn Port, budget: Budget<'_>) {
    crew.boot(&BootOptions { port, budget }).expect("boots once");
}

/// Asks `count` times and is refused for `kind` each time.
fn refused(
    kind: RefusalKind,
    acquire: impl Fn() -> Result<(Lease, [Worker; 1]), AcquireError>,
    count: u32,
) {
    for _ in 0..count {
        match acquire() {
            Err(AcquireError::Refused(refusal)) if refusal.kind() == kind => {
                black_box(&refusal);
            }
            other => panic!("expected {kind:?}: {other:?}"),
        }
    }
}

pub fn measure() {
    by_cause();
    storm();
}

fn by_cause() {
    let full = pool(&CREW, 1, 1, 0);
    let held = full.acquire(0).expect("a set is idle");
    let from_c = drivers::crew_open(1, 1, true);
    let held_from_c = drivers::crew_take(from_c);

    let peer = NonZeroU64::new(1).expect("not 0");
    let limited = pool(&CREW, 64, 64, 1);
    let held_for_peer = limited.acquire_for(peer, 0).expect("the first is admitted");

    boot(&SMALL, &RICH, Budget::Mib(8));
    let stacks = (8 << 20) / STACK_BYTES as u32;
    let small = pool(&SMALL, stacks + 1, stacks, 0);
    let held_of_small: Vec<_> =
        (0..stacks).map(|_| small.acquire(0).expect("within the budget")).collect();

    boot(&SEALED, &RICH, Budget::Default);
    let sealed = pool(&SEALED, 2, 1, 0);
    SEALED.seal().expect("seals");
    let held_of_sealed = sealed.acquire(0).expect("a set is idle");

    boot(&CLOSING, &RICH, Budget::Default);
    let closing = pool(&CLOSING, 1, 1, 0);
    let (lease, [worker]) = closing.acquire(0).expect("a set is idle");
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let busy = worker.run("busy", move || gone.recv().is_ok().into()).expect("the worker is free");
    assert!(closing.close(0).is_err(), "a busy set holds the close up");

    boot(&WITHOUT_MEMORY, &NO_MEMORY, Budget::Default);
    let without_memory = pool(&WITHOUT_MEMORY, 1, 0, 0);
    boot(&WITHOUT_THREADS, &NO_THREADS, Budget::Default);
    let without_threads = pool(&WITHOUT_THREADS, 1, 0, 0);

    let idle = pool(&CREW, 1, 1, 0);
    use RefusalKind as Kind;
    let mut contestants = vec![
        Contestant::new("for comparison: an idle set leased and released", |n| {
            for _ in 0..n {
                drop(black_box(idle.acquire(0).expect("a set is idle")));
            }
        }),
        Contestant::new("at capacity", |n| refused(Kind::AtCapacity, || full.acquire(0), n)),
        Contestant::new("at capacity, from C, with the figures", |n| {
            drivers::crew_refused(from_c, n);
        }),
        Contestant::new("peer limit, pool of 64", |n| {
            refused(Kind::PeerLimit, || limited.acquire_for(peer, 0), n);
        }),
        Contestant::new("out of reservation", |n| {
            refused(Kind::OutOfReservation, || small.acquire(0), n);
        }),
        Contestant::new("sealed", |n| refused(Kind::Sealed, || sealed.acquire(0), n)),
        Contestant::new("shutting down", |n| {
            refused(Kind::ShuttingDown, || closing.acquire(0), n);
        }),
        Contestant::new("target memory", |n| {
            refused(Kind::TargetMemory, || without_memory.acquire(0), n);
        }),
        Contestant::new("spawn failed (the system's own no not counted)", |n| {
            refused(Kind::SpawnFailed, || without_threads.acquire(0), n);
        }),
    ];
    contest("refusal", "one refusal, by cause", ROUNDS, scaled(REFUSALS, 200), &mut contestants);
    drop(contestants);

    drop((held, held_for_peer, held_of_small, held_of_sealed));
    drivers::crew_give(held_from_c);
    go.send(()).expect("the job waits");
    assert!(busy.join(LONG_MS).is_ok(), "the job ends");
    drop(lease);
    closing.close(LONG_MS).expect("closes");
}

/// Work on one CPU, and refusals on another, all the time: at least one storm is over before the
/// work begins, and the next ones go on until it ends.
fn storm() {
    let cpus = allowed_cpus();
    pin(&cpus[..1]);
    let working = pool(&CREW, 2, 2, 0);
    let full = pool(&CREW, 1, 1, 0);
    let held = full.acquire(0).expect("a set is idle");
    let counting = || {
        black_box((0..STORM).fold(0, |sum, i| black_box(sum ^ i)));
    };
    let refusing = || refused(RefusalKind::AtCapacity, || full.acquire(0), STORM);

    let jobs = |count: u32| {
        for _ in 0..count {
            let (_lease, [worker]) = working.acquire(0).expect("join implies idle");
            let job = worker.run("work", job).expect("the worker is free");
            assert!(job.join(LONG_MS).is_ok(), "the job ends");
        }
    };
    let leases = |count: u32| {
        (0..count).for_each(|_| drop(black_box(working.acquire(0).expect("a set is idle"))));
    };
    let measure = |work: &str, count: u32, operate: &dyn Fn(u32)| {
        let mut contestants = [
            Contestant::new("alone", operate),
            Contestant::timing_itself("beside a thread that counts", |n| {
                beside(&counting, &cpus, || operate(n))
            }),
            Contestant::timing_itself("beside a thread that is refused", |n| {
                beside(&refusing, &cpus, || operate(n))
            }),
        ];
        let case = format!("{work}, and a storm of refusals on the other CPU");
        contest("refusal", &case, ROUNDS, scaled(count, 50), &mut contestants);
    };
    measure("a job on a set leased for it", WORK, &jobs);
    measure("a lease of another pool", WORK * 50, &leases);
    drop(held);
}

/// How long `work` takes while another thread does `other` over and over on the last CPU.
fn beside(other: &(dyn Fn() + Sync), cpus: &[usize], work: impl FnOnce()) -> Duration {
    let (ready, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(&cpus[cpus.len() - 1..]);
            while !stop.load(Relaxed) {
                other();
                ready.store(true, Relaxed);
            }
        });
        while !ready.load(Relaxed) {
            thread::yield_now();
        }
        let start = Instant::now();
        work();
        let took = start.elapsed();
        stop.store(true, Relaxed);
        took
    })
}
