// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pool is closed while others use it: it ends once, with nothing left, and a caller that is late
//! or waits is told.

use super::explore::{explore, join, spawn};
use super::stage::{LONG, Script, Stage};
use crate::host::Budget;
use crate::sets::{AcquireError, CloseError, Refusal};
use crate::table::Handle;

fn play(name: &str, prestart: u32, act: impl Fn(Stage, Handle) + Send + Sync + 'static) {
    explore(name, move || {
        let script = Script { threads: true, ..Script::default() };
        Stage::play(script, Budget::Default, |stage| {
            let pool = stage.open(1, 1, |options| options.prestart = prestart);
            act(stage, pool);
        });
    });
}

fn is_closed(error: AcquireError) -> bool {
    matches!(error, AcquireError::Stale | AcquireError::Refused(Refusal::ShuttingDown))
}

/// Acquires and releases, or is told that the pool is closed.
fn use_it(stage: Stage, pool: Handle, timeout_ms: u32) {
    match stage.acquire(pool, timeout_ms) {
        Ok(lease) => {
            let closed = stage.crew.sets().find_pool(pool).is_err();
            let released = stage.crew.sets().release(lease).is_ok();
            assert!(!closed || !released, "a pool is closed when its last lease has ended");
        }
        Err(error) => assert!(is_closed(error), "{error}"),
    }
}

#[test]
fn close_against_acquire() {
    play("close_against_acquire", 1, |stage, pool| {
        let user = spawn(move || use_it(stage, pool, 0));
        assert_eq!(stage.close(pool, LONG), Ok(()));
        join([user]);
    });
}

#[test]
fn close_against_growth() {
    play("close_against_growth", 0, |stage, pool| {
        let user = spawn(move || use_it(stage, pool, 0));
        assert_eq!(stage.close(pool, LONG), Ok(()));
        join([user]);
    });
}

#[test]
fn close_against_a_waiter() {
    play("close_against_a_waiter", 1, |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let waiter = spawn(move || {
            let error = stage.acquire(pool, LONG).expect_err("lent, and then closed");
            assert!(is_closed(error), "{error}");
        });
        let _ = stage.close(pool, 0);
        join([waiter]);
        let _ = stage.crew.sets().release(lease);
    });
}

#[test]
fn close_against_release_and_completion() {
    play("close_against_release_and_completion", 1, |stage, pool| {
        let lease = stage.acquire(pool, 0).unwrap();
        let job = stage.run(lease, 0, 7).unwrap(); // its worker has been there since open
        let user = spawn(move || {
            let _ = stage.crew.sets().release(lease);
        });
        assert_eq!(stage.close(pool, LONG), Ok(()));
        join([user]);
        assert!(stage.join(job, 0).is_ok(), "it was accepted");
    });
}

#[test]
fn two_closes_end_one_pool() {
    play("two_closes_end_one_pool", 1, |stage, pool| {
        let other = spawn(move || {
            let result = stage.close(pool, LONG);
            assert!(matches!(result, Ok(()) | Err(CloseError::Stale)));
        });
        let result = stage.close(pool, LONG);
        assert!(matches!(result, Ok(()) | Err(CloseError::Stale)));
        join([other]);
        assert_eq!(stage.close(pool, 0), Err(CloseError::Stale));
    });
}

#[test]
fn a_late_acquire_does_not_get_the_next_pool() {
    play("a_late_acquire_does_not_get_the_next_pool", 1, |stage, pool| {
        let user = spawn(move || use_it(stage, pool, 0));
        assert_eq!(stage.close(pool, LONG), Ok(()));
        let next = stage.open(0, 1, |options| {
            options.extra_bytes = 1;
            options.prestart = 0;
        });
        // Makes an idle set if nothing is in the way; the late caller may find it.
        let slot = stage.crew.sets().find_pool(next).expect("open");
        let _ = stage.crew.sets().grow_idle(slot);
        join([user]);
        let lease = stage.acquire(next, 0).expect("the late one gives back what it took");
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
    });
}
