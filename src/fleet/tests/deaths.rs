// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lives that end: by a report, found by others, swept up, followed by the next; and resets.

use super::*;
use crate::fleet::geometry::{BOOTS, EPOCH, KEY_CLAIMS, LIFE, RESETTER};
use crate::fleet::id::INCARNATION_MAX;
use crate::fleet::words::Cell;
use crate::fleet::{Counted, CreationBudget, Error, Life, Swept, TableFigures, Wait};

#[test]
fn a_death_report_closes_that_incarnation_only() {
    let world = World::new(SMALL);
    world.desk.blind.store(1, SeqCst);
    let (one, two) = (world.join(), world.join());
    let (theirs, ours) = (one.register(KEY, 1).unwrap(), two.register(KEY, 1).unwrap());
    let execution = at_work(&one, theirs);
    let _claim = one.claim_create(Key(5), 9).unwrap().into_claim();
    let before = two.version(KEY);
    let life = one.life();
    two.node_dead(Life { incarnation: life.incarnation + 9, ..life }).unwrap();
    assert!(two.active(theirs).is_ok(), "another life of the node is untouched");
    two.node_dead(life).unwrap();
    assert_eq!(two.reserve(theirs), Err(Error::Stale));
    assert_eq!(two.budget(Key(5)), Ok(CreationBudget { live: 0, creating: 0 }));
    assert_ne!(two.version(KEY), before, "the key's waiters are told");
    assert!(two.reserve(ours).is_ok());
    // The reported life goes on after all: each of its calls says that it was ended.
    assert_eq!(one.complete(execution), Err(Error::Ended));
    assert_eq!(one.register(KEY, 1), Err(Error::Ended));
    assert_eq!(one.reserve(ours), Err(Error::Ended));
    one.leave();
    let again = world.table().join(Some(life.node)).unwrap();
    assert!(again.life().incarnation > life.incarnation);
    let id = again.register(KEY, 1).unwrap();
    two.node_dead(life).unwrap();
    assert!(two.reserve(id).is_ok(), "a late report of the earlier life changes nothing");
    world.table().audit().unwrap();
}

#[test]
fn one_that_the_target_knows_to_live_is_not_declared_dead() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let id = one.register(KEY, 1).unwrap();
    assert_eq!(two.node_dead(one.life()), Err(Error::Alive));
    assert_eq!(two.node_dead(two.life()), Err(Error::Alive));
    assert_eq!(two.node_dead(Life { node: 99, incarnation: 1 }), Err(Error::BadHandle));
    assert!(two.reserve(id).is_ok());
}

#[test]
fn nobody_has_to_report_a_death() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let id = one.register(KEY, 1).unwrap();
    let _claim = one.claim_create(KEY, 9).unwrap().into_claim();
    world.kill(one);
    assert_eq!(two.candidates(KEY).count(), 0, "met by looking");
    assert_eq!(two.reserve(id), Err(Error::Stale));
    assert!(two.claim_create(KEY, 1).is_ok(), "met by claiming");
    let three = world.join();
    three.register(Key(6), 1).unwrap();
    world.kill(three);
    assert_eq!(two.sweep(), Ok(Swept { lives: 1, cells: 0 }), "found by the sweep alone");
    assert_eq!(two.sweep(), Ok(Swept { lives: 0, cells: 0 }));
    let expected = TableFigures { lives: 1, ..TableFigures::default() };
    assert_eq!(world.table().audit(), Ok(expected));
}

#[test]
fn a_new_life_of_a_lane_finds_it_clear() {
    let world = World::new(Geometry { nodes: 1, resources: 1, executions: 1, ..SMALL });
    let mut last = 0;
    for _ in 0..10 {
        let node = world.join();
        assert_eq!(world.table().join(None).unwrap_err(), Error::NoLane);
        assert!(node.life().incarnation > last, "each life has a number of its own");
        last = node.life().incarnation;
        let id = node.register(KEY, 2).unwrap();
        node.reserve(id).unwrap();
        at_work(&node, id);
        world.kill(node);
    }
    let node = world.join();
    assert_eq!(world.table().audit(), Ok(TableFigures { lives: 1, ..TableFigures::default() }));
    node.leave();
    assert_eq!(world.table().audit(), Ok(TableFigures::default()));
}

#[test]
fn leaving_closes_what_one_owned() {
    let world = World::new(SMALL);
    let (one, two) = (world.join(), world.join());
    let id = one.register(KEY, 1).unwrap();
    let lease = two.reserve(id).unwrap();
    one.leave();
    assert!(!two.is_current(&lease));
    assert_eq!(world.table().audit(), Ok(TableFigures { lives: 1, ..TableFigures::default() }));
}

#[test]
fn what_a_dead_reserver_left_is_taken_back_when_it_is_in_the_way() {
    use Reserved::{Claimed, Published, TenancyWritten, UnitTaken};
    for (steps, last) in [Claimed, TenancyWritten, UnitTaken, Published].into_iter().enumerate() {
        let world = World::new(SMALL);
        let (owner, user) = (world.join(), world.join());
        let id = owner.register(KEY, 1).unwrap();
        reserve_until(&user, user.slot_of(id).unwrap(), 0, last);
        world.kill(user);
        let next = world.table().join(Some(3)).unwrap();
        if last == Published {
            // The dead user had its lease. A holder may vanish at any time, and only the owner's
            // grace ends its reservation.
            assert_eq!(next.reserve(id), Err(Error::Busy));
            world.pass_ms(10);
            owner.reconcile(id, Counted { table: 0, really: 0 }, 5).unwrap();
        }
        assert!(next.reserve(id).is_ok(), "died after {steps} steps");
        owner.sweep().unwrap();
        assert_eq!(world.table().audit().unwrap().reserved, 1, "died after {steps} steps");
    }
}

#[test]
fn a_life_that_ends_in_the_middle_of_taking_something_back_leaves_it_to_be_taken_back() {
    let world = World::new(SMALL);
    let (owner, one, two) = (world.join(), world.join(), world.join());
    let id = owner.register(KEY, 1).unwrap();
    let (slot, generation) = owner.slot_of(id).unwrap();
    reserve_until(&one, (slot, generation), 0, Reserved::UnitTaken);
    let seen = owner.region.entry(slot, 0).load(SeqCst);
    world.kill(one);
    assert!(Cell::take_over(owner.region.entry(slot, 0), seen, two.life()));
    world.kill(two);
    assert!(owner.reserve(id).is_ok());
    owner.sweep().unwrap();
    assert_eq!(world.table().audit().unwrap().reserved, 1);
}

#[test]
fn what_a_dead_claimer_left_is_taken_back() {
    for steps in 0..3 {
        let world = World::new(SMALL);
        let (one, two) = (world.join(), world.join());
        let entry = two.install(KEY).unwrap();
        assert!(Cell::claim(two.region.permit(entry, 0), two.life()));
        if steps > 0 {
            two.region.key(entry, KEY_CLAIMS).fetch_or(1, SeqCst);
            two.region.beside_permit(entry, 0, 1).store(two.life().tag(), SeqCst);
        }
        if steps > 1 {
            assert!(Cell::publish(two.region.permit(entry, 0), two.life(), 1));
        }
        world.kill(two);
        assert!(one.claim_create(KEY, 1).is_ok(), "died after {steps} steps");
        one.sweep().unwrap();
        assert_eq!(world.table().audit().unwrap().permits, 0);
    }
}

#[test]
fn reset_starts_a_new_epoch() {
    let world = World::new(Geometry { keys: 2, ..SMALL });
    let (one, two) = (world.join(), world.join());
    let id = one.register(KEY, 2).unwrap();
    two.register(Key(5), 2).unwrap();
    let lease = two.reserve(id).unwrap();
    let execution = one.accept(&two.reserve(id).unwrap()).unwrap();
    let permit = two.claim_create(KEY, 9).unwrap();
    let (epoch, since) = (one.epoch(), one.version(KEY));
    assert_eq!(one.register(Key(6), 1), Err(Error::KeyTableFull));
    two.reset_all().unwrap();
    assert_eq!(one.epoch(), epoch + 2);
    assert!(matches!(one.wait(KEY, since, 0), Ok(Wait::Changed(_))));
    assert_eq!(one.reserve(id), Err(Error::Stale));
    assert_eq!(one.accept(&lease), Err(Error::Stale));
    assert_eq!(one.complete(execution), Err(Error::Stale));
    assert_eq!(two.finish(permit.claim()), Err(Error::Stale));
    let claim = two.claim_create(KEY, 1).unwrap();
    drop(permit);
    assert_eq!(one.budget(KEY), Ok(CreationBudget { live: 0, creating: 1 }));
    drop(claim);
    assert_eq!(world.table().audit(), Ok(TableFigures { lives: 2, ..TableFigures::default() }));
    let new = one.register(Key(6), 1).unwrap();
    assert!(two.reserve(new).is_ok(), "keys and slots can be used again");
}

#[test]
fn a_reset_whose_process_died_is_finished_by_the_next_operation() {
    for has_claimed in [false, true] {
        let world = World::new(SMALL);
        let (one, two) = (world.join(), world.join());
        let id = one.register(KEY, 1).unwrap();
        if has_claimed {
            assert!(Cell::claim(two.region.header(RESETTER), two.life()));
        }
        two.region.header(EPOCH).fetch_add(1, SeqCst);
        if has_claimed {
            assert_eq!(one.reserve(id), Err(Error::Resetting), "while it lives it is at it");
        }
        world.kill(two);
        assert_eq!(one.reserve(id), Err(Error::Stale));
        assert_eq!(one.epoch(), 2);
        one.register(KEY, 1).unwrap();
        one.reset_all().unwrap();
        let three = world.join();
        assert_eq!(world.table().audit(), Ok(TableFigures { lives: 2, ..TableFigures::default() }));
        three.register(KEY, 1).unwrap();
    }
}

#[test]
fn lives_run_out_until_the_table_is_reset() {
    let world = World::new(SMALL);
    let one = world.join();
    one.region.header(BOOTS).store(INCARNATION_MAX - 1, SeqCst);
    let two = world.join();
    assert_eq!(two.life().incarnation, INCARNATION_MAX);
    assert_eq!(world.table().join(None).unwrap_err(), Error::NoMoreLives);
    one.reset_all().unwrap();
    let node = one.life().node;
    world.kill(one);
    // Its lane held life 1, and that number does not come again straight away.
    assert_eq!(two.region.lane(node.into(), LIFE).load(SeqCst), 1);
    let three = world.table().join(Some(node)).unwrap();
    assert_eq!(three.life(), Life { node, incarnation: 2 });
}

#[test]
fn a_lane_is_joined_by_its_number() {
    let world = World::new(SMALL);
    let two = world.table().join(Some(2)).unwrap();
    assert_eq!(two.life().node, 2);
    assert_eq!(world.table().join(Some(2)).unwrap_err(), Error::NoLane);
    assert_eq!(world.table().join(Some(4)).unwrap_err(), Error::NoLane);
    let others = [0; 3].map(|_| world.join());
    assert_eq!(others.each_ref().map(|node| node.life().node), [0, 1, 3]);
    assert_eq!(world.table().join(None).unwrap_err(), Error::NoLane);
}
