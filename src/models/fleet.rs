// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fleet's table: what two threads of two nodes do to one resource, one entry, one key.

use super::explore::{explore, join, spawn};
use crate::fleet::{
    Counted, Error, Figures, FleetPort, Geometry, Hold, Id, Key, Lease, Life, Node, Table,
};
use crate::sync::atomic::AtomicU32;
use core::mem::ManuallyDrop;
use std::boxed::Box;
use std::vec::Vec;

const KEY: Key = Key(1);
/// The smallest in which two can meet: every interleaving looks at all of it.
const GEOMETRY: Geometry = Geometry { kind: 1, nodes: 2, resources: 1, executions: 2, keys: 2 };

/// A target that cannot tell who lives, whose clock stands still, and on which nobody waits.
struct Still;

impl FleetPort for Still {
    fn hold(&self, _: u16) -> bool {
        true
    }

    fn let_go(&self, _: u16) {}

    fn look(&self, _: u16) -> Hold {
        Hold::Unknown
    }

    fn clock_ms(&self) -> u32 {
        0
    }

    fn can_wait(&self) -> bool {
        true
    }

    fn wait(&self, _: &AtomicU32, _: u32, _: u32) -> bool {
        unreachable!("no model waits")
    }

    fn wake(&self, _: &AtomicU32) {
        unreachable!("no model waits")
    }
}

type Member = &'static Node<'static>;

fn play(name: &str, act: impl Fn(Member, Member) + Send + Sync + 'static) {
    explore(name, move || {
        let words: Vec<_> = (0..GEOMETRY.words().unwrap()).map(|_| AtomicU32::new(0)).collect();
        let words = Box::into_raw(words.into_boxed_slice());
        // SAFETY: given back below, after every thread of the model has been joined and with nodes that
        // are not used again.
        let table = Table::open(unsafe { &*words }, GEOMETRY, &Still).unwrap();
        let nodes = [0, 1].map(|node| ManuallyDrop::new(table.join(Some(node)).unwrap()));
        let nodes = Box::into_raw(Box::new(nodes));
        // SAFETY: as above.
        let [one, two] = unsafe { &*nodes };
        act(one, two);
        // SAFETY: each came from its box, and `act` has joined its threads.
        unsafe {
            drop(Box::from_raw(nodes));
            drop(Box::from_raw(words));
        }
    });
}

/// What the table holds when nobody changes it any more; its two counts of everything agree.
fn figures(node: Member) -> Figures {
    node.audit().unwrap_or_else(|error| panic!("{error}"))
}

fn units(node: Member) -> (u32, u32, u32) {
    let Figures { reserved, active, executions, .. } = figures(node);
    (reserved, active, executions)
}

/// All the units of the resource can be leased.
fn is_whole(owner: Member, id: Id, capacity: usize) {
    let leases: Vec<_> =
        (0..capacity).map(|_| owner.reserve(id).expect("a unit is lost")).collect();
    assert_eq!(owner.reserve(id), Err(Error::Busy), "a unit too many");
    for lease in leases {
        owner.complete(owner.accept(&lease).unwrap()).unwrap();
    }
}

#[test]
fn one_unit_is_reserved_once() {
    play("one_unit_is_reserved_once", |owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        let other = spawn(move || {
            let _ = user.reserve(id);
        });
        let _ = owner.reserve(id);
        join([other]);
        assert_eq!(units(owner), (1, 0, 0));
    });
}

#[test]
fn a_reserve_against_the_end_of_the_resource_and_its_slots_next_tenant() {
    play("a_reserve_against_the_end_of_the_resource", |owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        let other = spawn(move || {
            let _ = user.reserve(id);
        });
        owner.unregister(id).unwrap();
        let next = owner.register(KEY, 1).unwrap();
        join([other]);
        assert_eq!(units(owner), (0, 0, 0), "nothing of the old tenancy is left");
        is_whole(owner, next, 1);
    });
}

#[test]
fn a_reserve_against_drain() {
    play("a_reserve_against_drain", |owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        let other = spawn(move || match user.reserve(id) {
            Ok(lease) => assert!(user.is_current(&lease)),
            Err(error) => assert_eq!(error, Error::Draining),
        });
        owner.drain(id).unwrap();
        let seen = owner.members(KEY).next().expect("it drains").reserved;
        join([other]);
        assert_eq!(owner.reserve(id), Err(Error::Draining));
        assert!(figures(owner).reserved <= seen, "one was granted after drain had returned");
    });
}

#[test]
fn a_reserve_against_accept_and_complete() {
    play("a_reserve_against_accept_and_complete", |owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        let lease = owner.reserve(id).unwrap();
        let other = spawn(move || {
            let _ = user.reserve(id);
        });
        owner.complete(owner.accept(&lease).unwrap()).unwrap();
        join([other]);
        let (reserved, active, _) = units(owner);
        assert!(reserved <= 1 && active == 0);
        if reserved == 0 {
            is_whole(owner, id, 1);
        }
    });
}

fn accepts_of(owner: Member, lease: Lease) -> bool {
    match owner.accept(&lease) {
        Ok(_) => true,
        Err(Error::NotReserved | Error::Stale) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_lease_is_accepted_once() {
    play("a_lease_is_accepted_once", |owner, user| {
        let id = owner.register(KEY, 2).unwrap();
        let lease = user.reserve(id).unwrap();
        let other = spawn(move || {
            accepts_of(owner, lease);
        });
        accepts_of(owner, lease);
        join([other]);
        assert_eq!(units(owner), (0, 1, 1));
    });
}

#[test]
fn an_accept_against_the_end_of_the_resource() {
    play("an_accept_against_the_end_of_the_resource", |owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        let lease = user.reserve(id).unwrap();
        let other = spawn(move || {
            accepts_of(owner, lease);
        });
        owner.unregister(id).unwrap();
        let next = owner.register(KEY, 1).unwrap();
        join([other]);
        assert_eq!(units(owner), (0, 0, 0), "nothing of the old tenancy is left");
        is_whole(owner, next, 1);
    });
}

#[test]
fn an_execution_completes_once() {
    play("an_execution_completes_once", |owner, _| {
        let id = owner.register(KEY, 2).unwrap();
        let [one, _two] = [0; 2].map(|_| owner.accept(&owner.reserve(id).unwrap()).unwrap());
        let other = spawn(move || {
            let _ = owner.complete(one);
        });
        let _ = owner.complete(one);
        join([other]);
        assert_eq!(units(owner), (0, 1, 1));
    });
}

#[test]
fn a_correction_against_accept_and_complete() {
    play("a_correction_against_accept_and_complete", |owner, _| {
        let id = owner.register(KEY, 2).unwrap();
        let [one, _lost] = [0; 2].map(|_| owner.accept(&owner.reserve(id).unwrap()).unwrap());
        let counted = Counted { table: owner.active(id).unwrap(), really: 1 };
        let other = spawn(move || owner.complete(one).unwrap());
        owner.reconcile(id, counted, 1).unwrap();
        join([other]);
        assert_eq!(owner.active(id), Ok(0), "the correction or the complete is lost");
        is_whole(owner, id, 2);
    });
}

#[test]
fn what_a_dead_reserver_left_is_taken_back_once() {
    play("what_a_dead_reserver_left_is_taken_back_once", |owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        // Life 9 of the user's lane has ended with an entry claimed and its unit taken.
        owner.leave_claimed(id, Life { incarnation: 9, ..user.life() });
        let other = spawn(move || {
            let _ = user.reserve(id);
        });
        let _ = owner.reserve(id);
        join([other]);
        owner.sweep().unwrap();
        assert!(units(owner).0 <= 1);
        if units(owner).0 == 0 {
            is_whole(owner, id, 1);
        }
    });
}

#[test]
fn two_report_a_death() {
    play("two_report_a_death", |one, two| {
        let dead = Life { node: 1, incarnation: 9 };
        let id = one.register(KEY, 1).unwrap();
        one.leave_claimed(id, dead);
        let other = spawn(move || two.node_dead(dead).unwrap());
        one.node_dead(dead).unwrap();
        join([other]);
        is_whole(one, id, 1);
    });
}

#[test]
fn one_claim_is_granted_under_a_budget_of_one() {
    play("one_claim_is_granted_under_a_budget_of_one", |one, two| {
        let claim = |node: Member| match node.claim_create(KEY, 1) {
            Ok(permit) => {
                permit.into_claim();
            }
            Err(error) => assert!(matches!(error, Error::BudgetSpent(_))),
        };
        let other = spawn(move || claim(two));
        claim(one);
        join([other]);
        assert_eq!(figures(one).permits, 1);
    });
}

#[test]
fn a_claim_against_a_creation_that_ends() {
    play("a_claim_against_a_creation_that_ends", |one, two| {
        let permit = one.claim_create(KEY, 1).unwrap().into_claim();
        let other = spawn(move || {
            assert!(matches!(two.claim_create(KEY, 1), Err(Error::BudgetSpent(_))), "one is live");
        });
        one.register(KEY, 1).unwrap();
        one.finish(permit).unwrap();
        join([other]);
        assert_eq!(figures(one).permits, 0);
    });
}

#[test]
fn a_permit_ends_once() {
    play("a_permit_ends_once", |one, two| {
        let claim = one.claim_create(KEY, 2).unwrap().into_claim();
        let other = spawn(move || {
            let _ = one.finish(claim);
        });
        let next = two.claim_create(KEY, 2).unwrap().into_claim();
        let _ = one.finish(claim);
        join([other]);
        assert_eq!(figures(one).permits, 1, "the other's stays");
        two.finish(next).unwrap();
    });
}

#[test]
fn a_register_against_a_reset() {
    play("a_register_against_a_reset", |one, two| {
        let other = spawn(move || match two.register(KEY, 1) {
            Ok(_) | Err(Error::Reset | Error::Resetting) => {}
            Err(error) => panic!("{error}"),
        });
        one.reset_all().unwrap();
        join([other]);
        figures(one);
        let live = one.budget(KEY).unwrap().live;
        assert_eq!(live, figures(one).resources, "one of the old epoch stays");
    });
}

#[test]
fn a_claim_against_a_reset() {
    play("a_claim_against_a_reset", |one, two| {
        let other = spawn(move || match two.claim_create(KEY, 1) {
            Ok(permit) => {
                permit.into_claim();
            }
            Err(Error::Reset | Error::Resetting) => {}
            Err(error) => panic!("{error}"),
        });
        one.reset_all().unwrap();
        join([other]);
        let creating = one.budget(KEY).unwrap().creating;
        assert_eq!(creating, figures(one).permits, "one of the old epoch stays");
    });
}
