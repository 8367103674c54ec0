// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a model's body is run, and what its threads are: one module per explorer, all with the same
//! names.
//!
//! - `explore(name, body)` runs `body` as often as the build asks for, and says how often that was.
//! - `thread`: as `std::thread`.
//! - `pause(ms)`: lets others run, in real time at most so long.
//! - `park()`: until unparked.
//! - `random(n)`: less than `n`, from the seed.

pub(super) use system::{explore, park, pause, random, thread};

/// A part of a model, in a thread of its own.
pub(super) type Part = thread::JoinHandle<()>;

pub(super) fn spawn(part: impl FnOnce() + Send + 'static) -> Part {
    #[cfg(loom)]
    system::count_parts(1);
    thread::spawn(part)
}

/// Waits for parts to end.
pub(super) fn join(parts: impl IntoIterator<Item = Part>) {
    for part in parts {
        part.join().expect("no part fails");
        #[cfg(loom)]
        system::count_parts(-1);
    }
}

/// A setting of `ci/models.sh`.
#[cfg(any(loom, shuttle))]
fn setting<T: core::str::FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number")),
        Err(_) => default,
    }
}

#[cfg(loom)]
mod system {
    use super::setting;
    use crate::sync::loom::{Fences, set_fences, stock};
    use loom::model::Builder;
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    pub use loom::thread::{self, park};

    /// Steps of one interleaving; more are taken for a loop without an end.
    const STEPS: usize = 20_000;
    /// Interleavings between two looks at the clock.
    const LOOK_AT_CLOCK: usize = 100;

    pub fn explore(name: &str, body: impl Fn() + Send + Sync + 'static) {
        let preemptions = setting("MODEL_PREEMPTIONS", 2);
        let seconds = setting("MODEL_SECONDS", 20);
        let body = Arc::new(body);
        for fences in [Fences::Before, Fences::After] {
            let count = Arc::new(AtomicU64::new(0));
            let mut builder = Builder::new();
            builder.preemption_bound = Some(preemptions);
            builder.max_branches = STEPS;
            builder.max_duration = Some(Duration::from_secs(seconds));
            builder.checkpoint_interval = LOOK_AT_CLOCK;
            let begun = Instant::now();
            let (body, counted) = (body.clone(), count.clone());
            builder.check(move || {
                counted.fetch_add(1, Relaxed);
                CHOSEN.set(fences);
                PARTS.set(0);
                set_fences(Fences::None);
                stock();
                body();
            });
            let count = count.load(Relaxed);
            let end = if begun.elapsed().as_secs() < seconds { "all" } else { "not all" };
            println!(
                "model {name}: {count} interleavings, {end} of {preemptions} preemptions, \
                 fences {fences:?}"
            );
        }
    }

    // As in `sync::loom`: one thread of the system.
    std::thread_local! {
        static CHOSEN: Cell<Fences> = const { Cell::new(Fences::None) };
        static PARTS: Cell<i32> = const { Cell::new(0) };
    }

    /// So many more parts run beside the model's own thread.
    pub fn count_parts(more: i32) {
        PARTS.set(PARTS.get() + more);
        set_fences(if PARTS.get() > 0 { CHOSEN.get() } else { Fences::None });
    }

    pub fn pause(_: u32) {
        thread::yield_now();
    }

    pub fn random(_: u32) -> u32 {
        unreachable!("loom's models leave nothing to chance")
    }
}

#[cfg(shuttle)]
mod system {
    use super::setting;
    use shuttle::rand::{Rng, thread_rng};
    use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
    use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::Arc;

    pub use shuttle::thread::{self, park};

    /// Schedules from one seed: what a replay runs at most.
    const BATCH: usize = 20;
    /// Changes of priority in one schedule of the PCT scheduler, plus one.
    const DEPTH: usize = 4;
    /// Steps of one schedule; more are taken for a loop without an end.
    const STEPS: usize = 1_000_000;
    const STACK: usize = 256 << 10;

    pub fn explore(name: &str, body: impl Fn() + Send + Sync + 'static) {
        let seed: u64 = setting("SEED", 0);
        let batches = setting("MODEL_SCHEDULES", BATCH).div_ceil(BATCH);
        let body = Arc::new(body);
        for batch in 0..batches as u64 {
            let seed = seed.wrapping_add(batch);
            let random = RandomScheduler::new_from_seed(seed, BATCH);
            let pct = PctScheduler::new_from_seed(seed, DEPTH, BATCH);
            let result = catch_unwind(AssertUnwindSafe(|| {
                run(random, &body);
                run(pct, &body);
            }));
            if let Err(cause) = result {
                println!("model {name} failed; to run it again: SEED={seed} ci/models.sh {name}");
                resume_unwind(cause);
            }
        }
        let count = batches * BATCH;
        println!("model {name}: {count} random and {count} PCT schedules from seed {seed}");
    }

    fn run<B: Fn() + Send + Sync + 'static>(scheduler: impl Scheduler + 'static, body: &Arc<B>) {
        let mut config = Config::new();
        config.stack_size = STACK;
        config.max_steps = MaxSteps::FailAfter(STEPS);
        config.failure_persistence = FailurePersistence::None;
        config.silence_warnings = true; // that it takes every ordering for SeqCst: loom does not
        let body = body.clone();
        Runner::new(scheduler, config).run(move || body());
    }

    pub fn pause(_: u32) {
        thread::yield_now();
    }

    pub fn random(n: u32) -> u32 {
        thread_rng().gen_range(0..n)
    }
}

#[cfg(not(any(loom, shuttle)))]
mod system {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::time::Duration;

    pub use std::thread;

    /// Longer than anything that a model waits for can take.
    const STUCK: Duration = Duration::from_secs(60);

    pub fn explore(_: &str, body: impl Fn() + Send + Sync + 'static) {
        body();
    }

    pub fn pause(ms: u32) {
        match ms {
            0 => thread::yield_now(),
            ms => thread::park_timeout(Duration::from_millis(ms.into())),
        }
    }

    pub fn park() {
        let begun = std::time::Instant::now();
        thread::park_timeout(STUCK);
        assert!(begun.elapsed() < STUCK, "nobody ends this wait");
    }

    /// The same numbers in every run, whichever thread gets which.
    pub fn random(n: u32) -> u32 {
        static STATE: AtomicU32 = AtomicU32::new(1);
        let step = |state: u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        let state = STATE.fetch_update(Relaxed, Relaxed, step).expect("it always steps");
        (state >> 8) % n
    }
}
