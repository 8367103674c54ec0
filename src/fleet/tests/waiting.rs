// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for a key and for the table.

use super::*;
use crate::fleet::{Counted, Error, Image, PENDING, Wait, WaitSlot};
use std::thread;

fn until(condition: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never happens");
        thread::yield_now();
    }
}

#[test]
fn what_frees_or_changes_something_moves_the_keys_count() {
    let world = World::new(SMALL);
    let node = world.join();
    let mut last = node.version(KEY);
    let mut moved = |what: &str, expected: bool| {
        let now = node.version(KEY);
        assert_eq!(now != last, expected, "{what}");
        last = now;
    };
    let permit = node.claim_create(KEY, 1).unwrap();
    moved("a claim frees nothing", false);
    let id = node.register(KEY, 2).unwrap();
    moved("register", true);
    drop(permit);
    moved("finish", true);
    let execution = at_work(&node, id);
    moved("reserve and accept free nothing", false);
    node.complete(execution).unwrap();
    moved("complete", true);
    node.reserve(id).unwrap();
    let count = Counted { table: 0, really: 0 };
    node.reconcile(id, count, 10).unwrap();
    moved("a reconciliation that changes nothing", false);
    world.pass_ms(11);
    node.reconcile(id, count, 10).unwrap();
    moved("aging", true);
    node.drain(id).unwrap();
    moved("drain", true);
    node.unregister(id).unwrap();
    moved("unregister", true);
    node.register(Key(3), 1).unwrap();
    moved("another key's change", false);
}

// Busy for want of an entry and not of a unit: the next accept ends that.
#[test]
fn an_owner_that_was_far_behind_moves_the_count_when_it_accepts() {
    let world = World::new(SMALL);
    let (owner, user) = (world.join(), world.join());
    let id = owner.register(KEY, 100).unwrap();
    let leases = [0; PENDING].map(|_| user.reserve(id).unwrap());
    assert_eq!(user.reserve(id), Err(Error::Busy));
    let since = user.version(KEY);
    owner.accept(&leases[0]).unwrap();
    assert!(matches!(user.wait(KEY, since, 0), Ok(Wait::Changed(_))));
    let since = user.version(KEY);
    owner.accept(&leases[1]).unwrap();
    assert_eq!(user.version(KEY), since, "there was room already");
    user.reserve(id).unwrap();
}

#[test]
fn a_waiter_is_woken_by_complete() {
    let world = World::new(SMALL);
    let owner = world.join();
    let id = owner.register(KEY, 1).unwrap();
    let execution = at_work(&owner, id);
    let since = owner.version(KEY);
    thread::scope(|scope| {
        let waiters = [0; 3].map(|_| scope.spawn(|| owner.wait(KEY, since, LONG_MS)));
        until(|| world.desk.sleepers.load(SeqCst) == 3);
        owner.complete(execution).unwrap();
        for waiter in waiters {
            assert!(matches!(waiter.join().unwrap(), Ok(Wait::Changed(now)) if now != since));
        }
    });
}

#[test]
fn a_change_before_the_wait_and_one_as_the_time_runs_out_count() {
    let world = World::new(SMALL);
    let owner = world.join();
    let id = owner.register(KEY, 1).unwrap();
    let since = owner.version(KEY);
    assert_eq!(owner.wait(KEY, since, 10), Ok(Wait::TimedOut));
    owner.drain(id).unwrap();
    let now = owner.version(KEY);
    assert_eq!(owner.wait(KEY, since, 0), Ok(Wait::Changed(now)));
    assert_eq!(owner.wait(KEY, since, LONG_MS), Ok(Wait::Changed(now)), "any number wake once");
    assert_eq!(owner.wait(KEY, now, 0), Ok(Wait::TimedOut));
}

#[test]
fn a_wait_for_a_key_that_is_not_there_ends_when_it_comes() {
    let world = World::new(SMALL);
    let owner = world.join();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| owner.wait(KEY, 0, LONG_MS));
        until(|| world.desk.sleepers.load(SeqCst) == 1);
        owner.register(Key(2), 1).unwrap(); // wakes the waiter, but is not its key
        owner.register(KEY, 1).unwrap();
        assert!(matches!(waiter.join().unwrap(), Ok(Wait::Changed(1..))));
    });
    assert_eq!(owner.wait(Key(3), 1, LONG_MS), Ok(Wait::Changed(0)), "it never had that count");
}

#[test]
fn watching_the_table_misses_nothing_between_the_try_and_the_wait() {
    let world = World::new(SMALL);
    let owner = world.join();
    let id = owner.register(KEY, 1).unwrap();
    let since = owner.watch();
    owner.drain(id).unwrap();
    assert!(matches!(owner.wait_any(since, LONG_MS), Ok(Wait::Changed(_))));
    let since = owner.watch();
    assert_eq!(owner.wait_any(since, 5), Ok(Wait::TimedOut));
    thread::scope(|scope| {
        let waiters = [0; 2].map(|_| scope.spawn(|| owner.wait_any(since, LONG_MS)));
        until(|| world.desk.sleepers.load(SeqCst) == 2);
        owner.unregister(id).unwrap();
        for waiter in waiters {
            assert!(matches!(waiter.join().unwrap(), Ok(Wait::Changed(_))));
        }
    });
}

// Two threads hand one unit to each other, each waiting for the other's complete: a lost wake-up is
// a wait that times out.
#[test]
fn no_wake_up_is_lost() {
    static SEATS: [WaitSlot; 2] = [const { WaitSlot::new() }; 2];
    let image = Image::new(&crate::shim::PORT, &SEATS).unwrap();
    let words: Vec<_> = (0..SMALL.words().unwrap()).map(|_| AtomicU32::new(0)).collect();
    let table = Table::open(&words, SMALL, &image).unwrap();
    let owner = table.join(None).unwrap();
    let id = owner.register(KEY, 1).unwrap();
    let take = || loop {
        let since = owner.version(KEY);
        match owner.reserve(id) {
            Ok(lease) => return owner.accept(&lease).unwrap(),
            Err(Error::Busy) => {
                assert_ne!(owner.wait(KEY, since, LONG_MS), Ok(Wait::TimedOut), "a lost wake-up");
            }
            Err(error) => panic!("{error}"),
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..often(2_000) {
                    let execution = take();
                    thread::yield_now();
                    owner.complete(execution).unwrap();
                }
            });
        }
    });
    table.audit().unwrap();
}

#[test]
fn one_waiter_too_many_is_refused_at_once() {
    static SEATS: [WaitSlot; 1] = [const { WaitSlot::new() }; 1];
    let image = Image::new(&crate::shim::PORT, &SEATS).unwrap();
    let words: Vec<_> = (0..SMALL.words().unwrap()).map(|_| AtomicU32::new(0)).collect();
    let table = Table::open(&words, SMALL, &image).unwrap();
    let owner = table.join(None).unwrap();
    owner.register(KEY, 1).unwrap();
    let since = owner.version(KEY);
    thread::scope(|scope| {
        let waiters = [0; 2].map(|_| scope.spawn(|| owner.wait(KEY, since, LONG_MS)));
        until(|| waiters.iter().any(|waiter| waiter.is_finished()));
        owner.register(KEY, 1).unwrap();
        let mut ends = waiters.map(|waiter| waiter.join().unwrap());
        ends.sort_by_key(|end| end.is_ok());
        assert_eq!(ends[0], Err(Error::TooManyWaiters));
        assert!(matches!(ends[1], Ok(Wait::Changed(_))));
    });
}
