// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for a set: what comes free reaches a waiter, and what no waiter took is not lost.

use super::explore::{explore, join, spawn};
use super::stage::{LONG, SOME, STACK, Script, Stage};
use crate::host::Budget;
use crate::table::Handle;

fn play(name: &str, act: impl Fn(Stage, Handle) + Send + Sync + 'static) {
    explore(name, move || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 1, |_| {});
            act(stage, pool);
        });
    });
}

fn borrow(stage: Stage, pool: Handle, timeout_ms: u32) -> bool {
    let lease = stage.acquire(pool, timeout_ms);
    lease.is_ok_and(|lease| stage.crew.sets().release(lease).is_ok())
}

#[test]
fn a_release_reaches_the_waiter() {
    play("a_release_reaches_the_waiter", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let waiter = spawn(move || assert!(borrow(stage, pool, LONG)));
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        join([waiter]);
        assert_eq!(stage.idle(pool), 1);
    });
}

#[test]
fn a_completion_reaches_the_waiter() {
    play("a_completion_reaches_the_waiter", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let job = stage.run(lease, 0, 7).unwrap();
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        let waiter = spawn(move || assert!(borrow(stage, pool, LONG)));
        stage.serve(0, 1);
        join([waiter]);
        assert!(stage.join(job, 0).is_ok());
        assert_eq!(stage.idle(pool), 1);
    });
}

#[test]
fn hand_off_against_time_out() {
    play("hand_off_against_time_out", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let parts = [
            spawn(move || {
                borrow(stage, pool, SOME);
            }),
            spawn(move || stage.time_passes(SOME)),
        ];
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        join(parts);
        assert_eq!(stage.idle(pool), 1, "whoever had it gave it back");
    });
}

#[test]
fn two_waiters_share_one_set() {
    play("two_waiters_share_one_set", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let waiters = [0, 1].map(|_| spawn(move || assert!(borrow(stage, pool, LONG))));
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        join(waiters);
        assert_eq!(stage.idle(pool), 1);
    });
}

#[test]
fn a_waiter_that_gets_two_sets_gives_one_back() {
    explore("a_waiter_that_gets_two_sets_gives_one_back", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 2, |_| {});
            let leases = [0, 1].map(|_| stage.acquire(pool, 0).unwrap());
            // One comes back before the waiter is armed, and is found; one after, and is handed
            // over.
            let owners = leases
                .map(|lease| spawn(move || assert_eq!(stage.crew.sets().release(lease), Ok(()))));
            assert!(borrow(stage, pool, LONG));
            join(owners);
            assert_eq!(stage.idle(pool), 2);
        });
    });
}

#[test]
fn bytes_that_come_free_reach_the_waiter() {
    explore("bytes_that_come_free_reach_the_waiter", || {
        // Bare sets of 5 MiB in 8: bytes, and no threads. What one pool lends the other lacks.
        let act = |stage: Stage| {
            let size = 5 << 20;
            let pools = [0, 1].map(|_| {
                stage.open(0, 1, |options| {
                    options.extra_bytes = size;
                    options.prestart = 0;
                })
            });
            let lease = stage.acquire(pools[0], 0).unwrap();
            let waiter = spawn(move || assert!(borrow(stage, pools[1], LONG)));
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
            join([waiter]);
        };
        Stage::play(Script::default(), Budget::Mib(8), act);
    });
}

#[test]
fn the_last_look_of_who_times_out_passes_on() {
    explore("the_last_look_of_who_times_out_passes_on", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 1, |options| options.extra_bytes = STACK);
            let lease = stage.acquire(pool, 0).unwrap();
            // The first in line gives up while the set comes back; the second must not sleep on.
            let parts = [
                spawn(move || {
                    borrow(stage, pool, SOME);
                }),
                spawn(move || assert!(borrow(stage, pool, LONG))),
                spawn(move || stage.time_passes(SOME)),
            ];
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
            join(parts);
            assert_eq!(stage.idle(pool), 1);
        });
    });
}
