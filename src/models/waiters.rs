// SPDX-License-Identifier: MIT OR Apache-2.0
//! The waiters' seats: what is given to one is found by one, in order of arrival.

use super::explore::{Part, explore, join, spawn};
use super::stage::{LONG, SOME, Script, Stage};
use crate::host::Budget;
use crate::table::{Queue, Wake};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const QUEUE: Queue = Queue::new(0);

fn play(name: &str, act: impl Fn(Stage) + Send + Sync + 'static) {
    explore(name, move || Stage::play(Script::default(), Budget::Default, &act));
}

/// Gives `set` in a thread of its own, and counts if it was taken.
fn giver(stage: Stage, set: u16, given: &Arc<AtomicU32>) -> Part {
    let given = given.clone();
    spawn(move || {
        if stage.crew.sets.waiters.give(stage.port, QUEUE, set) {
            given.fetch_add(1, SeqCst);
        }
    })
}

fn is_granted(wake: &Wake) -> bool {
    matches!(wake, Wake::Granted(_))
}

#[test]
fn a_set_given_is_found() {
    play("a_set_given_is_found", |stage| {
        let seat = stage.crew.sets.waiters.enter().expect("a free seat");
        seat.arm(QUEUE);
        let given = Arc::default();
        let givers = [1, 2].map(|set| giver(stage, set, &given));
        let early = seat.disarm(); // at any moment
        join(givers);
        let found = [early, seat.disarm()].iter().filter(|wake| is_granted(wake)).count();
        assert_eq!(found as u32, given.load(SeqCst), "a set lost, or had twice");
    });
}

#[test]
fn who_gives_and_who_times_out_agree() {
    play("who_gives_and_who_times_out_agree", |stage| {
        let seat = stage.crew.sets.waiters.enter().expect("a free seat");
        seat.arm(QUEUE);
        let given = Arc::default();
        let parts = [giver(stage, 1, &given), spawn(move || stage.time_passes(SOME))];
        let wake = seat.wait(stage.port, SOME);
        join(parts);
        assert_eq!(is_granted(&wake), given.load(SeqCst) == 1, "a set lost, or had twice");
    });
}

#[test]
fn a_waiter_is_woken() {
    play("a_waiter_is_woken", |stage| {
        let waiters = &stage.crew.sets.waiters;
        let seat = waiters.enter().expect("a free seat");
        seat.arm(QUEUE);
        let parts = [
            spawn(move || waiters.nudge(stage.port, QUEUE)),
            spawn(move || assert!(waiters.give(stage.port, QUEUE, 1) || !waiters.can_give(QUEUE))),
        ];
        let wake = seat.wait(stage.port, LONG);
        assert_ne!(wake, Wake::TimedOut, "the time has not passed");
        join(parts);
    });
}

#[test]
fn the_oldest_is_served_first() {
    play("the_oldest_is_served_first", |stage| {
        let waiters = &stage.crew.sets.waiters;
        let first = waiters.enter().expect("a free seat");
        let second = waiters.enter().expect("a second one");
        first.arm(QUEUE);
        second.arm(QUEUE);
        let given = Arc::default();
        let givers = [1, 2].map(|set| giver(stage, set, &given));
        let nudger = spawn(move || stage.crew.sets.waiters.nudge_oldest(stage.port, QUEUE));
        let early = second.disarm();
        if is_granted(&early) {
            assert!(is_granted(&first.disarm()), "the older one was overtaken");
        }
        join(givers);
        join([nudger]);
    });
}
