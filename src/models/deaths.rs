// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread ends at any moment of what others do with its set: its bytes, its set's slot and its
//! job come back, once, and no waiter is forgotten. `Stage::end` looks at all of it.

use super::explore::{explore, join, spawn};
use super::stage::{DIE, LONG, Script, Stage};
use crate::host::Budget;
use crate::port::Outcome;
use crate::sets::{CloseError, RunError};
use crate::table::Handle;

fn play(name: &str, act: impl Fn(Stage, Handle) + Send + Sync + 'static) {
    explore(name, move || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 1, |_| {});
            act(stage, pool);
        });
    });
}

#[test]
fn death_against_release() {
    play("death_against_release", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let parts = [spawn(move || stage.die(0)), spawn(move || stage.crew.sets().reap())];
        let _ = stage.crew.sets().release(lease); // of a set that has been taken back, perhaps
        join(parts);
        assert!(stage.crew.sets().release(lease).is_err(), "ended once");
        assert_eq!(stage.idle(pool), 0, "never idle again");
        assert_eq!(stage.port.said("the set is retired"), 1);
    });
}

#[test]
fn two_deaths_are_one_retirement() {
    explore("two_deaths_are_one_retirement", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(2, 1, |_| {});
            let parts = [0, 1].map(|n| spawn(move || stage.die(n)));
            stage.crew.sets().reap();
            join(parts);
            stage.crew.sets().reap();
            assert_eq!(stage.port.said("the set is retired"), 1);
            assert_eq!(stage.crew.host.account.held(), 0, "both have been reaped");
            assert_eq!(stage.crew.sets().usage(pool).unwrap().created, 0);
        });
    });
}

#[test]
fn death_against_dispatch() {
    play("death_against_dispatch", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let death = spawn(move || stage.die(0));
        match stage.run(lease, 0, 7) {
            // Given before the death: settled by it.
            Ok(job) => {
                assert_eq!(stage.join(job, LONG).unwrap().outcome, Outcome::NotRun);
            }
            Err(error) => assert_eq!(error, RunError::NotRun),
        }
        join([death]);
        let _ = stage.crew.sets().release(lease);
    });
}

#[test]
fn death_against_join() {
    play("death_against_join", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let job = stage.run(lease, 0, DIE).unwrap();
        let parts = [
            spawn(move || stage.serve(0, 1)),
            spawn(move || {
                let _ = stage.crew.sets().release(lease);
            }),
        ];
        assert_eq!(stage.join(job, LONG).unwrap().outcome, Outcome::Died);
        join(parts);
    });
}

#[test]
fn death_against_acquire() {
    play("death_against_acquire", |stage, pool| {
        let death = spawn(move || stage.die(0));
        // The dying set, a new one in its place, or none.
        if let Ok(lease) = stage.acquire(pool, 0) {
            if let Ok(job) = stage.run(lease, 0, 7) {
                let outcome = if stage.port.threads() == 2 {
                    stage.serve(1, 1);
                    Outcome::Returned
                } else {
                    Outcome::NotRun
                };
                assert_eq!(stage.join(job, LONG).unwrap().outcome, outcome);
            }
            let _ = stage.crew.sets().release(lease);
        }
        join([death]);
    });
}

#[test]
fn a_death_under_a_lease_serves_the_waiter() {
    play("a_death_under_a_lease_serves_the_waiter", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let waiter = spawn(move || {
            let next = stage.acquire(pool, LONG).expect("the dead set's slot, or the set");
            let _ = stage.crew.sets().release(next);
        });
        stage.die(0);
        join([waiter]);
        assert!(stage.crew.sets().release(lease).is_err(), "it was taken back");
    });
}

#[test]
fn a_revocation_does_not_end_the_next_lease() {
    play("a_revocation_does_not_end_the_next_lease", |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        stage.die(0);
        let reaper = spawn(move || stage.crew.sets().reap());
        let borrower = spawn(move || {
            let _ = stage.crew.sets().release(lease);
            if let Ok(next) = stage.acquire(pool, 0) {
                assert_eq!(stage.crew.sets().release(next), Ok(()), "its set has not died");
            }
        });
        join([reaper, borrower]);
    });
}

#[test]
fn death_against_close() {
    play("death_against_close", |stage, pool| {
        let death = spawn(move || stage.die(0));
        assert_eq!(stage.close(pool, LONG), Ok(()));
        join([death]);
        assert_eq!(stage.close(pool, 0), Err(CloseError::Stale));
    });
}

#[test]
fn nobody_looks_at_a_thread_that_was_reaped() {
    play("nobody_looks_at_a_thread_that_was_reaped", |stage, pool| {
        let parts = [spawn(move || stage.die(0)), spawn(move || stage.crew.sets().reap())];
        let _ = stage.crew.sets().usage(pool); // the port fails the model if it is asked too late
        join(parts);
    });
}
