// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limit per peer: never passed, and never in the way of a peer that is within it.

use super::explore::{explore, join, spawn};
use super::stage::{LONG, STACK, Script, Stage};
use crate::host::Budget;
use crate::table::Handle;
use core::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

const PEER: Option<NonZeroU64> = NonZeroU64::new(5);
const OTHER: Option<NonZeroU64> = NonZeroU64::new(6);

/// Sets without threads: two, one of them for each peer.
fn play(name: &str, act: impl Fn(Stage, Handle) + Send + Sync + 'static) {
    explore(name, move || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(0, 2, |options| {
                options.extra_bytes = STACK;
                options.per_peer = 1;
            });
            act(stage, pool);
        });
    });
}

#[test]
fn a_peer_gets_no_more_than_its_limit() {
    play("a_peer_gets_no_more_than_its_limit", |stage, pool| {
        let leases = Arc::new(Mutex::new(Vec::new()));
        let part = |leases: Arc<Mutex<Vec<Handle>>>| {
            move || {
                let lease = stage.crew.sets().acquire(pool, PEER, 0);
                leases.lock().unwrap().extend(lease);
            }
        };
        let other = spawn(part(leases.clone()));
        part(leases.clone())();
        join([other]);
        let leases = leases.lock().unwrap();
        assert_eq!(leases.len(), 1, "one of the two, and not none");
        assert_eq!(stage.crew.sets().release(leases[0]), Ok(()));
    });
}

#[test]
fn another_peer_is_not_refused() {
    play("another_peer_is_not_refused", |stage, pool| {
        let parts = [PEER, OTHER].map(|peer| {
            spawn(move || {
                let lease =
                    stage.crew.sets().acquire(pool, peer, 0).expect("each is within its limit");
                assert_eq!(stage.crew.sets().release(lease), Ok(()));
            })
        });
        join(parts);
    });
}

#[test]
fn a_release_reaches_the_peer_that_waits() {
    play("a_release_reaches_the_peer_that_waits", |stage, pool| {
        let lease = stage.crew.sets().acquire(pool, PEER, 0).unwrap();
        let waiter = spawn(move || {
            let lease =
                stage.crew.sets().acquire(pool, PEER, LONG).expect("it waits for its peer's set");
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
        });
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        join([waiter]);
    });
}
