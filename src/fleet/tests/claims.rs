// SPDX-License-Identifier: MIT OR Apache-2.0
//! Claims to create, keys, acquire.

use super::*;
use crate::fleet::{
    Choice, CreationBudget, Error, FleetLease, Id, Life, Limits, PERMITS, Plan, View, Wait,
    local_first, local_only,
};

const LIMITS: Limits = Limits { max_live: 2, attempts: 3 };

#[test]
fn live_and_being_created_stay_under_the_budget() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let spent = |live, creating| Error::BudgetSpent(CreationBudget { live, creating });
    let first = one.claim_create(KEY, 2).unwrap();
    let second = two.claim_create(KEY, 2).unwrap();
    assert_eq!(one.claim_create(KEY, 2).unwrap_err(), spent(0, 2));
    let id = one.register(KEY, 1).unwrap();
    drop(first);
    assert_eq!(two.budget(KEY), Ok(CreationBudget { live: 1, creating: 1 }));
    assert_eq!(one.claim_create(KEY, 2).unwrap_err(), spent(1, 1));
    drop(second);
    let third = one.claim_create(KEY, 2).unwrap();
    assert_eq!(one.claim_create(KEY, 0).unwrap_err(), spent(1, 1));
    drop(third);
    one.unregister(id).unwrap();
    assert_eq!(two.budget(KEY), Ok(CreationBudget { live: 0, creating: 0 }));
}

#[test]
fn a_claim_is_finished_once() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let claim = one.claim_create(KEY, 2).unwrap().into_claim();
    assert_eq!(two.finish(claim), Err(Error::NotOwner));
    one.finish(claim).unwrap();
    assert_eq!(one.finish(claim), Err(Error::Stale));
    // The next one has the same cell.
    let next = one.claim_create(KEY, 1).unwrap();
    assert_eq!(one.finish(claim), Err(Error::Stale));
    assert_eq!(one.budget(KEY), Ok(CreationBudget { live: 0, creating: 1 }));
    drop(next);
    assert_eq!(world.table().audit().unwrap().permits, 0);
}

// Known defects: claims carried no incarnation; dropped guards raced a slot that was used again.
#[test]
fn a_permit_that_is_dropped_after_its_lifes_death_takes_nothing() {
    let world = World::new(SMALL);
    world.desk.blind.store(1, SeqCst);
    let (one, two) = (world.join(), world.join());
    let permit = one.claim_create(KEY, 1).unwrap();
    two.node_dead(one.life()).unwrap();
    assert_eq!(two.budget(KEY), Ok(CreationBudget { live: 0, creating: 0 }));
    let next = two.claim_create(KEY, 1).unwrap();
    drop(permit);
    assert_eq!(
        two.budget(KEY),
        Ok(CreationBudget { live: 0, creating: 1 }),
        "not below, not the next one's"
    );
    drop(next);
    assert_eq!(two.budget(KEY), Ok(CreationBudget { live: 0, creating: 0 }));
}

#[test]
fn as_many_creations_as_a_key_has_places() {
    let world = World::new(SMALL);
    let node = world.join();
    let permits = [0; PERMITS].map(|_| node.claim_create(KEY, 100).unwrap());
    assert_eq!(node.claim_create(KEY, 100).unwrap_err(), Error::Busy);
    drop(permits);
    assert!(node.claim_create(KEY, 1).is_ok());
}

// Known defect: reading (candidates, budget, version) installed the key.
#[test]
fn looking_installs_nothing() {
    let world = World::new(Geometry { keys: 1, ..SMALL });
    let node = world.join();
    let stranger = Key(77);
    assert_eq!(node.candidates(stranger).count(), 0);
    assert_eq!(node.budget(stranger), Ok(CreationBudget { live: 0, creating: 0 }));
    assert_eq!(node.version(stranger), 0);
    assert_eq!(node.wait(stranger, 0, 0), Ok(Wait::TimedOut));
    let plan = node.acquire(stranger, Limits { max_live: 0, attempts: 1 }, local_first);
    assert!(matches!(plan, Ok(Plan::Wait(0))));
    node.register(KEY, 1).unwrap();
    assert_eq!(node.register(stranger, 1), Err(Error::KeyTableFull));
    assert_eq!(node.claim_create(stranger, 1).unwrap_err(), Error::KeyTableFull);
    assert!(node.register(KEY, 1).is_ok(), "its key is there");
}

#[test]
fn a_key_whose_writer_died_is_finished_by_one_that_fits_and_passed_by_others() {
    let world = World::new(Geometry { keys: 4, ..SMALL });
    let node = world.join();
    // Both begin at the same entry, with the same first part.
    let (one, two) = (Key(1 << 64), Key(1 << 64 | 1 << 100));
    assert_eq!(one.parts()[0], two.parts()[0]);
    let entry = node.install(one).unwrap();
    for written in 1..5 {
        node.reset_all().unwrap();
        for part in 0..written {
            node.region.key(entry, part).store(one.parts()[part], SeqCst);
        }
        assert_eq!(node.find(one), None, "not whole yet");
        let fits = two.parts()[..written] == one.parts()[..written];
        let other = node.install(two).unwrap();
        assert_eq!(other == entry, fits, "after {written}");
        assert_eq!(node.install(one).unwrap() == entry, !fits, "after {written}");
        assert_eq!((node.find(two), node.install(two)), (Some(other), Ok(other)), "one entry each");
        assert_ne!(node.find(one), node.find(two));
    }
}

#[test]
fn acquire_walks_create_reuse_wait() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let limits = Limits { max_live: 1, attempts: 3 };
    let Ok(Plan::Create(permit)) = one.acquire(KEY, limits, local_first) else {
        panic!("an empty key: create");
    };
    let Ok(Plan::Wait(version)) = two.acquire(KEY, limits, local_first) else {
        panic!("being created: wait");
    };
    let id = one.register(KEY, 2).unwrap();
    drop(permit);
    assert!(matches!(two.wait(KEY, version, 0), Ok(Wait::Changed(_))), "created meanwhile");
    let Ok(Plan::RemoteReuse(remote)) = two.acquire(KEY, limits, local_first) else {
        panic!("there it is");
    };
    let Ok(Plan::LocalReuse(local)) = one.acquire(KEY, limits, local_first) else {
        panic!("room for one more");
    };
    assert_eq!((remote.id, local.id, local.holder), (id, id, one.life()));
    let Ok(Plan::Wait(version)) = one.acquire(KEY, limits, local_first) else {
        panic!("full, and no more may be created");
    };
    one.complete(one.accept(&remote).unwrap()).unwrap();
    assert!(matches!(one.wait(KEY, version, 0), Ok(Wait::Changed(_))));
}

#[test]
fn what_comes_after_the_last_look_ends_the_wait() {
    let world = World::new(SMALL);
    let node = world.join();
    let gone = node.register(KEY, 1).unwrap();
    node.unregister(gone).unwrap();
    let mut looks = 0;
    let plan = node.acquire(KEY, Limits { max_live: 9, attempts: 2 }, |_: &View<'_, '_>| {
        looks += 1;
        if looks == 2 {
            // Another one registers after this look, before its choice is carried out.
            node.register(KEY, 1).unwrap();
        }
        Choice::Reuse(gone)
    });
    let Ok(Plan::Wait(version)) = plan else { panic!("both races are lost: {plan:?}") };
    assert!(matches!(node.wait(KEY, version, 0), Ok(Wait::Changed(_))));
}

#[test]
fn policies_prefer_what_they_say() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let theirs = one.register(KEY, 9).unwrap();
    let ours = two.register(KEY, 1).unwrap();
    let reuse = |plan: Result<Plan<'_, '_>, Error>| match plan {
        Ok(Plan::LocalReuse(FleetLease { id, .. }) | Plan::RemoteReuse(FleetLease { id, .. })) => {
            Some(id)
        }
        _ => None,
    };
    let one_live = Limits { max_live: 2, attempts: 1 };
    assert_eq!(
        reuse(two.acquire(KEY, one_live, local_first)),
        Some(ours),
        "though theirs is first"
    );
    assert_eq!(reuse(two.acquire(KEY, one_live, local_first)), Some(theirs), "ours is taken");
    assert!(matches!(two.acquire(KEY, one_live, local_only), Ok(Plan::Wait(_))));
    let more = Limits { max_live: 3, attempts: 1 };
    assert!(matches!(two.acquire(KEY, more, local_only), Ok(Plan::Create(_))));
    let own = |view: &View<'_, '_>| match view.candidates().max_by_key(|candidate| candidate.free) {
        Some(candidate) if candidate.free > 7 => Choice::Reuse(candidate.id),
        _ => Choice::Reject(41),
    };
    assert_eq!(reuse(two.acquire(KEY, more, own)), Some(theirs));
    assert!(matches!(two.acquire(KEY, more, own), Ok(Plan::Reject(41))));
}

#[test]
fn a_lost_race_is_tried_again_as_often_as_the_limits_say_and_then_waits() {
    let world = World::new(SMALL);
    let node = world.join();
    let full = node.register(KEY, 1).unwrap();
    node.reserve(full).unwrap();
    let mut looks = 0;
    let stubborn = |_: &View<'_, '_>| {
        looks += 1;
        Choice::Reuse(full)
    };
    assert!(matches!(node.acquire(KEY, LIMITS, stubborn), Ok(Plan::Wait(_))));
    assert_eq!(looks, 3);
    let mut looks = 0;
    let learns = |_: &View<'_, '_>| {
        looks += 1;
        if looks < 3 { Choice::Reuse(full) } else { Choice::Create }
    };
    assert!(matches!(node.acquire(KEY, LIMITS, learns), Ok(Plan::Create(_))));
    let forged = |_: &View<'_, '_>| Choice::Reuse(Id::from_bits(0));
    assert_eq!(node.acquire(KEY, LIMITS, forged).unwrap_err(), Error::BadHandle);
}

#[test]
fn owners_are_who_is_in_the_table_sorted() {
    let world = World::new(SMALL);
    world.desk.blind.store(1, SeqCst);
    let (one, two, three) = (world.join(), world.join(), world.join());
    let none = Life { node: 0, incarnation: 0 };
    let mut owners = [none; 4];
    assert_eq!(one.owners(&mut owners), 0, "members own nothing yet");
    three.register(KEY, 1).unwrap();
    three.register(Key(5), 1).unwrap();
    let permit = one.claim_create(KEY, 9).unwrap();
    two.unregister(two.register(KEY, 1).unwrap()).unwrap();
    assert_eq!(one.owners(&mut owners), 2);
    assert_eq!(owners[..2], [one.life(), three.life()]);
    assert_eq!(one.owners(&mut []), 2, "how many there are");
    drop(permit);
    // The table does not say whether an owner is alive.
    let dead = three.life();
    world.kill(three);
    assert_eq!(one.owners(&mut owners), 1);
    assert_eq!(owners[0], dead);
}
