// SPDX-License-Identifier: MIT OR Apache-2.0
//! The life of a job cell: every job is settled once, and a thread that asks for its end is told.

use super::explore::{explore, join, spawn};
use super::stage::{DIE, LONG, SOME, Script, Stage};
use crate::host::Budget;
use crate::port::Outcome;
use crate::sets::{JobError, JobResult};
use crate::table::Handle;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// A process with one leased set of one worker that has been given a job.
fn play(name: &str, value: i32, act: impl Fn(Stage, Handle, Handle) + Send + Sync + 'static) {
    explore(name, move || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 1, |_| {});
            let lease = stage.acquire(pool, 0).unwrap();
            let job = stage.run(lease, 0, value).unwrap();
            act(stage, lease, job);
            let _ = stage.crew.sets().release(lease);
        });
    });
}

const SEVEN: JobResult = JobResult { outcome: Outcome::Returned, value: 7 };

#[test]
fn join_against_completion() {
    play("join_against_completion", 7, |stage, _, job| {
        let member = spawn(move || stage.serve(0, 1));
        assert_eq!(stage.join(job, LONG), Ok(SEVEN));
        assert_eq!(stage.join(job, 0), Err(JobError::Stale), "a result is taken once");
        join([member]);
    });
}

#[test]
fn a_join_that_times_out_loses_nothing() {
    play("a_join_that_times_out_loses_nothing", 7, |stage, _, job| {
        let parts = [spawn(move || stage.serve(0, 1)), spawn(move || stage.time_passes(SOME))];
        let first = stage.join(job, SOME);
        join(parts);
        match first {
            Ok(result) => assert_eq!(result, SEVEN),
            Err(error) => {
                assert_eq!(error, JobError::TimedOut);
                assert_eq!(stage.join(job, 0), Ok(SEVEN), "the result waits for its joiner");
            }
        }
    });
}

#[test]
fn one_of_two_joiners_gets_the_result() {
    play("one_of_two_joiners_gets_the_result", 7, |stage, _, job| {
        let taken = Arc::new(AtomicU32::new(0));
        let joiner = |taken: Arc<AtomicU32>| {
            spawn(move || match stage.join(job, LONG) {
                Ok(result) => {
                    assert_eq!(result, SEVEN);
                    taken.fetch_add(1, SeqCst);
                }
                Err(error) => assert!(matches!(error, JobError::Busy | JobError::Stale)),
            })
        };
        let parts = [joiner(taken.clone()), joiner(taken.clone())];
        stage.serve(0, 1);
        join(parts);
        assert_eq!(taken.load(SeqCst), 1);
    });
}

#[test]
fn a_failure_is_told_once() {
    play("a_failure_is_told_once", DIE, |stage, _, job| {
        let member = spawn(move || stage.serve(0, 1));
        stage.crew.sets().detach(job).expect("nobody joins it");
        join([member]);
        assert_eq!(stage.port.said("died: its thread ended inside it"), 1);
    });
}

#[test]
fn a_late_post_does_not_end_the_next_join() {
    play("a_late_post_does_not_end_the_next_join", 7, |stage, lease, job| {
        // The time wakes the joiner, which finds the result before the completion posts.
        let parts = [spawn(move || stage.serve(0, 2)), spawn(move || stage.time_passes(SOME))];
        if stage.join(job, SOME).is_err() {
            assert_eq!(stage.join(job, LONG), Ok(SEVEN));
        }
        let next = stage.run(lease, 0, 9).expect("joined: the worker is free");
        let nine = JobResult { value: 9, ..SEVEN };
        assert_eq!(stage.join(next, LONG), Ok(nine));
        join(parts);
    });
}
