// SPDX-License-Identifier: MIT OR Apache-2.0
//! Question 2: what does it cost to have a job run on another thread and to wait for its end?

use crate::drivers::{self, job};
use crate::place::{self, Placement};
use crate::runner::{Contestant, contest, scaled};
use crate::{CREW, PRIORITY, Port};
use crew::{Lease, Pool, PoolOptions, Role, RunError, Worker};
use rayon::ThreadPoolBuilder;
use std::sync::mpsc::{self, Sender, sync_channel};
use std::thread;
use threadpool::ThreadPool;

const ROUNDS: u32 = 101;
const JOBS: u32 = 200;
const LONG_MS: u32 = 60_000;

type Job = Box<dyn FnOnce() + Send>;

pub fn measure(port: Port, placement: &Placement) {
    let pool = drivers::crew_open(3, 1, false);
    let lease = drivers::crew_take(pool);
    let rust = RustSet::open();
    drivers::floor_open();
    let channel = channel_worker();
    let threads = ThreadPool::new(1);
    let rayon = ThreadPoolBuilder::new().num_threads(1).build().expect("a rayon pool");
    placement.for_giving();

    let crew_c = match port {
        Port::Posix => "Crew, from C, POSIX port",
        Port::Epics => "Crew, from C, EPICS port",
    };
    let mut contestants = vec![
        Contestant::new(crew_c, move |n| drivers::crew_round_trip(lease, n)),
        Contestant::new("Crew, from Rust, std port (leased for each job)", |n| rust.round_trip(n)),
        Contestant::new("floor: two futex words", |n| drivers::floor_futexes(n)),
        Contestant::new("floor: two semaphores", |n| drivers::floor_semaphores(n)),
        Contestant::new("floor: two semaphores, bounded waits", |n| {
            drivers::floor_bounded_semaphores(n)
        }),
        Contestant::new("std mpsc, boxed job, one-shot reply", |n| {
            for _ in 0..n {
                let (reply, answer) = sync_channel(1);
                let job: Job = Box::new(move || {
                    let _ = reply.send(job());
                });
                channel.send(job).expect("the worker lives");
                answer.recv().expect("the job answers");
            }
        }),
        Contestant::new("threadpool", |n| {
            for _ in 0..n {
                threads.execute(|| {
                    job();
                });
                threads.join();
            }
        }),
        Contestant::new("rayon install", |n| {
            for _ in 0..n {
                rayon.install(job);
            }
        }),
    ];
    // A thread that is made starts on its maker's CPU, so with the two on different CPUs there is
    // nothing to compare.
    if placement.is_one_cpu() {
        contestants.push(Contestant::new("a std::thread for each job", |n| {
            for _ in 0..n {
                thread::spawn(job).join().expect("does not panic");
            }
        }));
        contestants
            .push(Contestant::new("a pthread for each job", |n| drivers::pthread_round_trip(n)));
    }
    if port == Port::Epics {
        contestants.push(Contestant::new("floor: two epicsEvents", |n| drivers::epics_events(n)));
        contestants.push(Contestant::new("epicsThreadPool", |n| drivers::epics_pool_round_trip(n)));
        if placement.is_one_cpu() {
            let create = Contestant::new("an epicsThread for each job", |n| {
                drivers::epics_thread_round_trip(n)
            });
            contestants.push(create);
        }
    }
    for contestant in &mut contestants {
        place::check(&contestant.who.clone(), || {
            (contestant.turn)(1);
        });
    }
    let case = format!("{}, {}", port.process(), placement.name());
    contest("round trip", &case, ROUNDS, scaled(JOBS, 30), &mut contestants);
}

/// A set lent to a Rust program, which gives one worker job after job.
struct RustSet {
    pool: Pool<1>,
}

impl RustSet {
    fn open() -> Self {
        let roles = [Role { name: "rust", stack_bytes: 512 << 10, priority: PRIORITY }];
        let options =
            PoolOptions { name: "rust", capacity: 1, prestart: 1, ..PoolOptions::default() };
        Self { pool: Pool::open(&CREW, &roles, &options).expect("the pool opens") }
    }

    /// A worker is consumed by its job, so each job here is a lease of its own as well.
    fn round_trip(&self, count: u32) {
        for _ in 0..count {
            let (lease, [worker]) = self.pool.acquire(0).expect("join implies idle");
            run_and_join(worker).expect("the worker is free");
            drop::<Lease>(lease);
        }
    }
}

fn run_and_join(worker: Worker) -> Result<(), RunError> {
    let result = worker.run("bench", job)?.join(LONG_MS);
    assert!(result.is_ok(), "the job ends");
    Ok(())
}

fn channel_worker() -> Sender<Job> {
    let (sender, receiver) = mpsc::channel::<Job>();
    thread::spawn(move || receiver.into_iter().for_each(|job| job()));
    sender
}
