// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge 7: the last of release and done puts the set back, once, whichever it is.

use super::explore::{explore, join, spawn};
use super::stage::{LONG, Script, Stage};
use crate::host::Budget;
use crate::port::Outcome;
use crate::sets::JobResult;

fn play(name: &str, act: impl Fn(Stage) + Send + Sync + 'static) {
    explore(name, move || Stage::play(Script::default(), Budget::Default, &act));
}

fn returned(value: i32) -> JobResult {
    JobResult { outcome: Outcome::Returned, value }
}

#[test]
fn release_against_the_last_completion() {
    play("release_against_the_last_completion", |stage| {
        let pool = stage.open(2, 1, |_| {});
        let lease = stage.acquire(pool, 0).unwrap();
        let jobs = [0, 1].map(|role| stage.run(lease, role, role as i32).unwrap());
        let members = [0, 1].map(|n| spawn(move || stage.serve(n, 1)));
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        join(members);
        for (value, job) in jobs.into_iter().enumerate() {
            assert_eq!(stage.join(job, 0), Ok(returned(value as i32)));
        }
        assert_eq!(stage.idle(pool), 1, "put back, once");
        let again = stage.acquire(pool, 0).expect("the set is idle");
        assert!(stage.acquire(pool, 0).is_err(), "there is only one");
        assert_eq!(stage.crew.sets().release(again), Ok(()));
    });
}

#[test]
fn a_lease_is_released_once() {
    play("a_lease_is_released_once", |stage| {
        let pool = stage.open(1, 1, |_| {});
        let lease = stage.acquire(pool, 0).unwrap();
        // The set is put back by one of the two, lent to a third, and not ended under it.
        let others = [0, 1].map(|_| {
            spawn(move || {
                let _ = stage.crew.sets().release(lease);
            })
        });
        if let Ok(next) = stage.acquire(pool, 0) {
            assert_eq!(stage.crew.sets().release(next), Ok(()), "another's lease was released");
        }
        join(others);
        assert!(stage.crew.sets().release(lease).is_err());
        assert_eq!(stage.idle(pool), 1);
    });
}

#[test]
fn an_idle_set_has_one_borrower() {
    play("an_idle_set_has_one_borrower", |stage| {
        let pool = stage.open(1, 1, |_| {});
        let other = spawn(move || {
            if let Ok(lease) = stage.acquire(pool, 0) {
                assert_eq!(stage.crew.sets().release(lease), Ok(()));
            }
        });
        if let Ok(lease) = stage.acquire(pool, 0) {
            let job = stage.run(lease, 0, 7).expect("nobody else has the worker");
            stage.serve(0, 1);
            assert_eq!(stage.join(job, 0), Ok(returned(7)));
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
        }
        join([other]);
        assert_eq!(stage.idle(pool), 1);
    });
}

#[test]
fn join_implies_idle() {
    play("join_implies_idle", |stage| {
        let pool = stage.open(1, 1, |_| {});
        let lease = stage.acquire(pool, 0).unwrap();
        let job = stage.run(lease, 0, 7).unwrap();
        let member = spawn(move || stage.serve(0, 1));
        assert_eq!(stage.join(job, LONG), Ok(returned(7)));
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        let next = stage.acquire(pool, 0).expect("joined and released: idle");
        assert_eq!(stage.crew.sets().release(next), Ok(()));
        join([member]);
    });
}

#[test]
fn a_stale_lease_runs_nothing() {
    play("a_stale_lease_runs_nothing", |stage| {
        let pool = stage.open(1, 1, |_| {});
        let lease = stage.acquire(pool, 0).unwrap();
        let late = spawn(move || {
            // Either it is first and its job is run, or it is told.
            if let Ok(job) = stage.run(lease, 0, 1) {
                stage.serve(0, 1);
                assert_eq!(stage.join(job, 0), Ok(returned(1)));
            }
        });
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        if let Ok(next) = stage.acquire(pool, 0) {
            assert_eq!(stage.run_detached(next, 0, 2), Ok(()), "the worker is this lease's alone");
            assert_eq!(stage.crew.sets().release(next), Ok(()));
        }
        join([late]);
    });
}
