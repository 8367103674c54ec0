// SPDX-License-Identifier: MIT OR Apache-2.0
//! Question 1: what does it cost to borrow an idle set and to give it back?

use crate::drivers;
use crate::locked;
use crate::peers::Peers;
use crate::place;
use crate::runner::{Contestant, contest, scaled, together};
use crate::{CREW, PRIORITY};
use crew::{Pool, PoolOptions, Role, limits};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROSTERS: [usize; 3] = [1, 2, 3];
const CAPACITIES: [usize; 3] = [8, 64, 1024];
const THREADS: [usize; 3] = [1, 2, 4];
const ROUNDS: u32 = 31;
const PAIRS: u32 = 20_000;
/// Long enough that more threads than CPUs take turns within it.
const CONTENDED_ROUNDS: u32 = 15;
const CONTENDED_PAIRS: u32 = 60_000;

const _: () = assert!(
    limits::MAX_SETS >= 1024 && limits::MAX_WORKERS >= 3072,
    "build with CREW_MAX_SETS=1024 CREW_MAX_WORKERS=3072"
);

pub fn measure() {
    place::many_futex_buckets();
    compare_capacities();
    for roles in ROSTERS {
        for capacity in CAPACITIES {
            match roles {
                1 => compare::<1>(capacity),
                2 => compare::<2>(capacity),
                _ => compare::<3>(capacity),
            }
        }
    }
}

/// Small and large pools within the same rounds: does the capacity matter, or where the idle set
/// is?
fn compare_capacities() {
    const LARGE: u32 = 1000;
    let small = drivers::crew_open(2, 8, true);
    let large = drivers::crew_open(2, LARGE, true);
    let lend_all_but_one =
        || -> Vec<u64> { (1..LARGE).map(|_| drivers::crew_take(large)).collect() };
    let mut contestants = [
        Contestant::new("Crew, from C, capacity 8", |n| drivers::crew_lease(small, n)),
        Contestant::new("Crew, from C, capacity 1000", |n| drivers::crew_lease(large, n)),
        Contestant::timing_itself("Crew, from C, capacity 1000, all but the last set lent", |n| {
            let lent = lend_all_but_one();
            let start = Instant::now();
            drivers::crew_lease(large, n);
            let took = start.elapsed();
            lent.into_iter().for_each(|lease| drivers::crew_give(lease));
            took
        }),
    ];
    let cpus = place::allowed_cpus();
    place::pin(&cpus[cpus.len() - 1..]);
    contest("lease", "capacities, side by side", ROUNDS, scaled(PAIRS, 500), &mut contestants);
    place::pin(&cpus);
    drivers::crew_close(small);
    drivers::crew_close(large);
}

fn compare<const N: usize>(capacity: usize) {
    let role = Role { name: "w", stack_bytes: 16 << 10, priority: PRIORITY };
    let options = PoolOptions {
        name: "rust",
        capacity: capacity as u32,
        prestart: capacity as u32,
        keep: capacity as u32,
        ..PoolOptions::default()
    };
    let peers = Peers::new(N, capacity);
    let bare = locked::Pool::default();
    for threads in THREADS {
        let case = format!("roster {N}, capacity {capacity}, threads {threads}");
        let mut contestants = Vec::new();
        let from_c = drivers::crew_open(N as u32, capacity as u32, true);
        let from_rust: Pool<N> = Pool::open(&CREW, &[role; N], &options).expect("the pool opens");
        contestants
            .push(together("Crew, from C", threads, move |n| drivers::crew_lease(from_c, n)));
        contestants.push(together("Crew, from Rust", threads, move |n| {
            for _ in 0..n {
                let (lease, workers) = from_rust.acquire(0).expect("a set is idle");
                black_box(&workers);
                drop(lease);
            }
        }));
        contestants.push(together("floor: five locked instructions", threads, |n| bare.lease(n)));
        contestants.push(together("mutex + deque", threads, |n| {
            for _ in 0..n {
                drop(black_box(peers.plain.lease().expect("a set is idle")));
            }
        }));
        contestants.push(together("mutex + deque, with waiting and ages", threads, |n| {
            for _ in 0..n {
                let lease = peers.waiting.lease(Duration::from_secs(1));
                drop(black_box(lease.expect("a set is idle")));
            }
        }));
        contestants.push(together("deadpool (unmanaged)", threads, |n| {
            for _ in 0..n {
                drop(black_box(peers.deadpool.try_get().expect("a set is idle")));
            }
        }));
        contestants.push(together("crossbeam ArrayQueue", threads, |n| {
            for _ in 0..n {
                let set = black_box(peers.queue.pop().expect("a set is idle"));
                assert!(peers.queue.push(set).is_ok(), "its place is free");
            }
        }));
        let (rounds, pairs) =
            if threads == 1 { (ROUNDS, PAIRS) } else { (CONTENDED_ROUNDS, CONTENDED_PAIRS) };
        contest("lease", &case, rounds, scaled(pairs, 500), &mut contestants);
        drop(contestants);
        drivers::crew_close(from_c);
        from_rust.close(60_000).expect("the pool closes");
    }
}
