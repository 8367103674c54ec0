// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limit per peer: never passed, and never in the way of a peer that is within it.

use super::explore::{explore, join, spawn};
use super::stage::{LONG, STACK, Script, Stage};
use crate::host::Budget;
use crate::sets::{AcquireError, Refusal};
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

fn borrow(stage: Stage, pool: Handle, peer: Option<NonZeroU64>, timeout_ms: u32) {
    if let Ok(lease) = stage.crew.sets().acquire(pool, peer, timeout_ms) {
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
    }
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

#[test]
fn an_asker_that_is_refused_is_in_no_waiters_way() {
    play("an_asker_that_is_refused_is_in_no_waiters_way", |stage, pool| {
        let lease = stage.crew.sets().acquire(pool, PEER, 0).unwrap();
        let asker = spawn(move || borrow(stage, pool, PEER, 0));
        let waiter = spawn(move || {
            let lease = stage.crew.sets().acquire(pool, PEER, LONG);
            let lease = lease.expect("no thread keeps its peer's set");
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
        });
        assert_eq!(stage.crew.sets().release(lease), Ok(()));
        join([asker, waiter]);
    });
}

#[test]
fn a_peer_at_its_limit_takes_no_set_from_others() {
    explore("a_peer_at_its_limit_takes_no_set_from_others", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let pool = stage.open(1, 2, |options| options.per_peer = 1);
            let held = stage.crew.sets().acquire(pool, PEER, 0).unwrap();
            let asker = spawn(move || {
                let refused = stage.crew.sets().acquire(pool, PEER, 0);
                let limit = Refusal::PeerLimit { limit: 1 };
                assert_eq!(refused, Err(AcquireError::Refused(limit)));
            });
            let lease = stage.crew.sets().acquire(pool, OTHER, 0).expect("a set is idle");
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
            join([asker]);
            assert_eq!(stage.crew.sets().release(held), Ok(()));
        });
    });
}

#[test]
fn a_peers_refusal_is_true() {
    play("a_peers_refusal_is_true", |stage, pool| {
        // One set at a time: whatever the askers see, each is within the limit when it asks.
        let owner = spawn(move || {
            let other = stage.crew.sets().acquire(pool, OTHER, 0).expect("its first");
            assert_eq!(stage.crew.sets().release(other), Ok(()));
        });
        for _ in 0..2 {
            let lease = stage.crew.sets().acquire(pool, PEER, 0).expect("its only one");
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
        }
        join([owner]);
    });
}

#[test]
fn a_close_reaches_a_peer_behind_others() {
    play("a_close_reaches_a_peer_behind_others", |stage, pool| {
        let held = stage.crew.sets().acquire(pool, PEER, 0).unwrap();
        let is_told = move |peer| {
            let refused = stage.crew.sets().acquire(pool, peer, LONG);
            let closing = AcquireError::Refused(Refusal::ShuttingDown);
            assert_eq!(refused, Err(closing), "no set comes back before both know");
        };
        let rest = Arc::new(Mutex::new(None));
        let taken = rest.clone();
        let parts = [
            spawn(move || is_told(PEER)),
            spawn(move || {
                // With this no set is left, and the next asker stands in the other line.
                let lease = stage.crew.sets().acquire(pool, OTHER, 0).ok();
                *taken.lock().unwrap() = lease;
                is_told(NonZeroU64::new(7));
            }),
        ];
        let _ = stage.close(pool, 0);
        join(parts);
        let rest = *rest.lock().unwrap();
        for lease in rest.into_iter().chain([held]) {
            assert_eq!(stage.crew.sets().release(lease), Ok(()));
        }
    });
}
