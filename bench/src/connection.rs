// SPDX-License-Identifier: MIT OR Apache-2.0
//! Question 3: what does a connection cost, from its start to its end, that needs three threads?

use crate::drivers::{self, relay_begin, relay_check, relay_job};
use crate::runner::scaled;
use crate::{CREW, PRIORITY, Port};
use crew::{Pool, PoolOptions, Role};
use std::thread;
use std::time::Instant;

const ROUNDS: u32 = 41;
const CYCLES: u32 = 150;
const LONG_MS: u32 = 60_000;
const ROLES: usize = 3;

/// A contestant: as many connections, one after the other, as the slice has room for their times.
type Turn<'a> = Box<dyn FnMut(&mut [u64]) + 'a>;

pub fn measure(port: Port, placement: &str) {
    let pool = drivers::crew_open(ROLES as u32, 1, false);
    let rust = open();
    drivers::floor_open();
    let crew_c = match port {
        Port::Posix => "Crew, from C, POSIX port",
        Port::Epics => "Crew, from C, EPICS port",
    };
    let mut contestants: Vec<(&str, Turn<'_>)> = vec![
        (crew_c, Box::new(move |cycles| drivers::crew_connection(pool, cycles))),
        ("Crew, from Rust, std port", Box::new(|cycles| from_rust(&rust, cycles))),
        ("floor: three threads and semaphores", Box::new(drivers::floor_connection)),
        ("three pthreads made", Box::new(drivers::pthread_connection)),
        ("three std::threads made", Box::new(std_threads)),
    ];
    if port == Port::Epics {
        contestants.push(("three epicsThreads made", Box::new(drivers::epics_connection)));
    }
    contest(&format!("{}, {placement}", port.process()), &mut contestants);
}

/// As `runner::contest`, with every cycle's time, and what is left behind.
fn contest(case: &str, contestants: &mut [(&str, Turn<'_>)]) {
    let rounds = scaled(ROUNDS, 3) as usize;
    let cycles = scaled(CYCLES, 20) as usize;
    let mut ns = vec![0u64; rounds * cycles * contestants.len()];
    let mut warm_up = vec![0u64; cycles];
    contestants.iter_mut().for_each(|(_, turn)| turn(&mut warm_up));
    let mut left = vec![Left::default(); contestants.len()];
    for (round, slots) in ns.chunks_mut(cycles * contestants.len()).enumerate() {
        for i in 0..contestants.len() {
            let who = (i + round) % contestants.len();
            let before = Left::now();
            (contestants[who].1)(&mut slots[who * cycles..][..cycles]);
            left[who].add(&before, &Left::now());
        }
    }
    for (i, (who, _)) in contestants.iter().enumerate() {
        let rounds: Vec<&[u64]> = ns.chunks(cycles).skip(i).step_by(contestants.len()).collect();
        let total = (rounds.len() * cycles) as f64;
        let (heap, faults) = (left[i].heap_bytes as f64 / total, left[i].faults as f64 / total);
        let extra = format!(r#"{{"heap B left":{heap},"page faults":{faults}}}"#);
        let row = format!(r#""question":"connection","case":"{case}","who":"{who}","unit":"ns""#);
        println!(r#"{{{row},"rounds":{rounds:?},"extra":{extra}}}"#);
    }
}

/// Bytes that the process holds from malloc, and page faults so far.
#[derive(Clone, Default)]
struct Left {
    heap_bytes: i64,
    faults: i64,
}

impl Left {
    fn now() -> Self {
        // SAFETY: plain calls; rusage is plain numbers, for which all zeros is valid.
        unsafe {
            let heap = libc::mallinfo2();
            let mut usage: libc::rusage = core::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            Self {
                heap_bytes: (heap.uordblks + heap.hblkhd) as i64,
                faults: usage.ru_minflt + usage.ru_majflt,
            }
        }
    }

    fn add(&mut self, before: &Self, after: &Self) {
        self.heap_bytes += after.heap_bytes - before.heap_bytes;
        self.faults += after.faults - before.faults;
    }
}

fn open() -> Pool<ROLES> {
    let role = |name, index| Role {
        name,
        stack_bytes: drivers::stack_bytes(index) as usize,
        priority: PRIORITY,
    };
    let roles = [role("conn", 0), role("reader", 1), role("writer", 2)];
    let options = PoolOptions { name: "rust", capacity: 1, prestart: 1, ..PoolOptions::default() };
    Pool::open(&CREW, &roles, &options).expect("the pool opens")
}

fn from_rust(pool: &Pool<ROLES>, cycles: &mut [u64]) {
    for cycle in cycles {
        let start = Instant::now();
        relay_begin();
        let (lease, workers) = pool.acquire(0).expect("join implies idle");
        let mut roles = 0..;
        let jobs = workers.map(|worker| {
            let role = roles.next().unwrap_or(0);
            worker.run("relay", move || relay_job(role)).expect("the worker is free")
        });
        for job in jobs {
            assert!(job.join(LONG_MS).is_ok(), "the job ends");
        }
        drop(lease);
        *cycle = start.elapsed().as_nanos() as u64;
        relay_check();
    }
}

fn std_threads(cycles: &mut [u64]) {
    for cycle in cycles {
        let start = Instant::now();
        relay_begin();
        let threads: [_; ROLES] = core::array::from_fn(|role| {
            thread::Builder::new()
                .stack_size(drivers::stack_bytes(role) as usize)
                .spawn(move || relay_job(role))
                .expect("the thread is made")
        });
        for thread in threads {
            thread.join().expect("does not panic");
        }
        *cycle = start.elapsed().as_nanos() as u64;
        relay_check();
    }
}
