// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many threads of several nodes at once.

use super::*;
use crate::fleet::{Counted, Error, FleetLease, Id, Limits, Plan, local_first};
use std::sync::Barrier;
use std::sync::mpsc;
use std::thread;

#[test]
fn claims_hold_the_fleet_under_max_live() {
    for round in 0..often(200) {
        let world = World::new(SMALL);
        let nodes = [0; 4].map(|_| world.join());
        let barrier = Barrier::new(8);
        let granted = thread::scope(|scope| {
            let claimers: Vec<_> = (0..8)
                .map(|n| {
                    let (node, barrier) = (&nodes[n % 4], &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        node.claim_create(KEY, 3).map(|permit| permit.into_claim())
                    })
                })
                .collect();
            let results = claimers.into_iter().map(|claimer| claimer.join().unwrap());
            let is_granted = |result: &Result<_, Error>| match result {
                Ok(_) => true,
                Err(Error::BudgetSpent(_)) => false,
                Err(error) => panic!("{error}"),
            };
            results.filter(is_granted).count()
        });
        assert_eq!(granted, 3, "round {round}: exactly as many as may");
    }
}

// Creations under claims never pass the bound, while creations, endings and claims race.
#[test]
fn what_is_created_stays_under_max_live() {
    let world = World::new(Geometry { resources: 8, ..SMALL });
    let nodes = [0; 4].map(|_| world.join());
    let live = AtomicU32::new(0);
    thread::scope(|scope| {
        for n in 0..8 {
            let (node, live) = (&nodes[n % 4], &live);
            scope.spawn(move || {
                for _ in 0..often(400) {
                    let Ok(permit) = node.claim_create(KEY, 3) else { continue };
                    let id = node.register(KEY, 1).unwrap();
                    assert!(live.fetch_add(1, SeqCst) < 3, "more live than may");
                    drop(permit);
                    thread::yield_now();
                    live.fetch_sub(1, SeqCst);
                    node.unregister(id).unwrap();
                }
            });
        }
    });
    let budget = nodes[0].budget(KEY).unwrap();
    assert_eq!((budget.live, budget.creating), (0, 0));
    world.table().audit().unwrap();
}

// Known defect: candidates read the units twice.
#[test]
fn a_candidates_units_are_of_one_moment() {
    let world = World::new(SMALL);
    let (owner, user) = (world.join(), world.join());
    let id = owner.register(KEY, 1).unwrap();
    let done = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..often(20_000) {
                let execution = at_work(&owner, id);
                owner.complete(execution).unwrap();
            }
            done.store(1, SeqCst);
        });
        while done.load(SeqCst) == 0 {
            for seen in user.candidates(KEY) {
                assert!(seen.reserved + seen.active <= 1, "{seen:?}");
            }
        }
    });
}

#[test]
fn many_writers_of_few_keys_make_one_entry_each() {
    for round in 0..often(100) {
        let world = World::new(Geometry { keys: 8, ..SMALL });
        let node = world.join();
        // All begin at one entry, and share parts.
        let keys: Vec<_> =
            (0..4).map(|n| Key(u128::from(round) << 3 | n << (25 * n + 27))).collect();
        let barrier = Barrier::new(8);
        let found: Vec<_> = thread::scope(|scope| {
            let writers: Vec<_> = (0..8)
                .map(|n| {
                    let (node, keys, barrier) = (&node, &keys, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        let mut order: Vec<_> = (0..4).map(|i| (i + n) % 4).collect();
                        order.sort_by_key(|i| (i ^ n) % 3);
                        order
                            .into_iter()
                            .map(|i| (i, node.install(keys[i]).unwrap()))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        for (key, entry) in found {
            assert_eq!(node.find(keys[key]), Some(entry), "round {round} key {key}");
        }
    }
}

// Users reserve and send their leases to the owner, which accepts, completes, ages, and ends and
// begins resources meanwhile. A resource never has more units at work than its capacity, and all
// sums up afterwards.
#[test]
fn users_and_owners_race_and_all_sums_up() {
    const CAPACITY: u32 = 3;
    let world = World::new(SMALL);
    let nodes = [0; 4].map(|_| world.join());
    let at_work = AtomicU32::new(0);
    let users_left = AtomicU32::new(6);
    let (sender, receiver) = mpsc::channel::<FleetLease>();
    let receiver = Mutex::new(receiver);
    let owner = &nodes[0];
    owner.register(KEY, CAPACITY).unwrap();
    thread::scope(|scope| {
        for n in 0..6 {
            let (node, sender, users_left) = (&nodes[n % 4], sender.clone(), &users_left);
            scope.spawn(move || {
                for i in 0..often(1_000) {
                    let since = node.version(KEY);
                    let limits = Limits { max_live: 1, attempts: 2 };
                    match node.acquire(KEY, limits, local_first).unwrap() {
                        Plan::LocalReuse(lease) | Plan::RemoteReuse(lease) => {
                            if i % 16 != 0 {
                                sender.send(lease).unwrap();
                            } // else the user vanishes with its lease
                        }
                        _ => {
                            node.wait(KEY, since, 5).unwrap();
                        }
                    }
                }
                users_left.fetch_sub(1, SeqCst);
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = receiver.lock().unwrap().try_recv();
                    let Ok(lease) = next else {
                        if users_left.load(SeqCst) == 0 {
                            return;
                        }
                        thread::yield_now();
                        continue;
                    };
                    match owner.accept(&lease) {
                        Ok(execution) => {
                            assert!(
                                at_work.fetch_add(1, SeqCst) < CAPACITY + 2,
                                "more than one tenancy"
                            );
                            at_work.fetch_sub(1, SeqCst);
                            match owner.complete(execution) {
                                Ok(()) | Err(Error::Stale) => {}
                                Err(error) => panic!("{error}"),
                            }
                        }
                        Err(Error::NotReserved | Error::Stale) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        scope.spawn(|| {
            let current = || -> Option<Id> { owner.candidates(KEY).next().map(|member| member.id) };
            let mut n = 0;
            while users_left.load(SeqCst) > 0 {
                n += 1;
                world.pass_ms(1);
                match current() {
                    Some(id) if n % 50 == 0 => owner.unregister(id).unwrap(),
                    Some(id) => {
                        owner.reconcile(id, Counted { table: 0, really: 0 }, 20).unwrap();
                    }
                    None => {
                        owner.register(KEY, CAPACITY).unwrap();
                    }
                }
                thread::yield_now();
            }
        });
    });
    drop(sender);
    let left = world.table().audit().unwrap();
    assert_eq!((left.active, left.executions), (0, 0));
    if let Some(member) = owner.candidates(KEY).next() {
        world.pass_ms(1_000);
        owner.reconcile(member.id, Counted { table: 0, really: 0 }, 20).unwrap();
    }
    assert_eq!(world.table().audit().unwrap().reserved, 0, "nothing is lost");
}
