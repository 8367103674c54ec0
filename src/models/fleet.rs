// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fleet's table: two threads of two nodes, and one resource, one entry or one key.

use super::explore::{explore, join, park, spawn, thread};
use super::stage::{Script, Stage};
use crate::fleet::{
    Choice, Counted, Error, Execution, FleetLease, FleetPort, Geometry, Hold, Id, Image, Key, Life,
    Limits, Node, PERMITS, Plan, Table, TableFigures, View, Wait, WaitSlot,
};
use crate::host::Budget;
use crate::sync::{
    MODELLED,
    atomic::{AtomicU32, Ordering::SeqCst},
};
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicBool, AtomicU32 as PlainU32};
use std::boxed::Box;
use std::sync::{Arc, Mutex};
use std::vec::Vec;

const KEY: Key = Key(1);
/// The smallest table in which two threads can meet: every interleaving looks at all of it.
const GEOMETRY: Geometry = Geometry { kind: 1, nodes: 2, resources: 1, executions: 2, keys: 2 };
/// Longer than any model takes: only a waiter whose wake-up was lost waits so long.
const LONG_MS: u32 = 1 << 30;

/// The target. Its fields change between two steps of the explorer.
#[derive(Default)]
struct Desk {
    /// A clock that stands still unless a model moves it.
    clock_ms: PlainU32,
    held: [AtomicBool; 2],
    /// Whether it can tell which lanes are held.
    sees: AtomicBool,
    /// The threads that sleep on a word, with the word's address.
    asleep: Mutex<Vec<(usize, thread::Thread)>>,
}

impl Desk {
    fn asleep_on(&self, word: &AtomicU32) -> Vec<thread::Thread> {
        let address = core::ptr::from_ref(word).addr();
        let mut asleep = self.asleep.lock().unwrap();
        asleep.extract_if(.., |(on, _)| *on == address).map(|(_, thread)| thread).collect()
    }
}

impl FleetPort for Desk {
    fn hold(&self, node: u16) -> bool {
        !self.held[usize::from(node)].swap(true, SeqCst)
    }

    fn let_go(&self, node: u16) {
        self.held[usize::from(node)].store(false, SeqCst);
    }

    fn look(&self, node: u16) -> Hold {
        if !self.sees.load(SeqCst) {
            Hold::Unknown
        } else if self.held[usize::from(node)].load(SeqCst) {
            Hold::Held
        } else {
            Hold::Free
        }
    }

    fn clock_ms(&self) -> u32 {
        self.clock_ms.load(SeqCst)
    }

    fn can_wait(&self) -> bool {
        true
    }

    /// As a futex: looking at the word and getting in line is one step, and so is waking. The
    /// word's newest value counts. An explorer runs the code between two accesses in one step; real
    /// threads look once more.
    fn wait(&self, word: &AtomicU32, value: u32, _: u32) -> bool {
        let is_same = || word.fetch_add(0, SeqCst) == value;
        if is_same() {
            let me = thread::current();
            let address = core::ptr::from_ref(word).addr();
            self.asleep.lock().unwrap().push((address, me.clone()));
            if MODELLED || is_same() {
                park();
            }
            self.asleep.lock().unwrap().retain(|(_, thread)| thread.id() != me.id());
        }
        true
    }

    fn wake(&self, word: &AtomicU32) {
        word.fetch_add(0, SeqCst);
        self.asleep_on(word).iter().for_each(thread::Thread::unpark);
    }
}

type Member = &'static Node<'static>;

fn play(name: &str, act: impl Fn(Member, Member) + Send + Sync + 'static) {
    play_on_desk(name, move |_, one, two| act(one, two));
}

/// As [`play`], with a resource of the first node.
fn play_with_resource(
    name: &str,
    capacity: u32,
    act: impl Fn(Member, Member, Id) + Send + Sync + 'static,
) {
    play(name, move |owner, user| act(owner, user, owner.register(KEY, capacity).unwrap()));
}

fn play_on_desk(name: &str, act: impl Fn(&'static Desk, Member, Member) + Send + Sync + 'static) {
    explore(name, move || {
        let desk = Box::into_raw(Box::new(Desk::default()));
        // SAFETY: given back below, after every thread of the model has been joined.
        let port = unsafe { &*desk };
        set_up(port, |one, two| act(port, one, two));
        // SAFETY: it came from its box, and the threads that used it have been joined.
        drop(unsafe { Box::from_raw(desk) });
    });
}

/// A table on that target, for two nodes.
fn set_up(port: &'static dyn FleetPort, act: impl FnOnce(Member, Member)) {
    let words: Vec<_> = (0..GEOMETRY.words().unwrap()).map(|_| AtomicU32::new(0)).collect();
    let words = Box::into_raw(words.into_boxed_slice());
    // SAFETY: given back below, after every thread of the model has been joined and with nodes that
    // are not used again.
    let table = Table::open(unsafe { &*words }, GEOMETRY, port).unwrap();
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
}

/// A unit of the resource, reserved and accepted by its owner.
fn at_work(owner: Member, id: Id) -> Execution {
    owner.accept(&owner.reserve(id).unwrap()).unwrap()
}

/// The contents of a table that no thread changes any more; its two counts of everything agree.
fn figures(node: Member) -> TableFigures {
    node.audit().unwrap_or_else(|error| panic!("{error}"))
}

fn units(node: Member) -> (u32, u32, u32) {
    let TableFigures { reserved, active, executions, .. } = figures(node);
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
    play_with_resource("one_unit_is_reserved_once", 1, |owner, user, id| {
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
    play_with_resource("a_reserve_against_the_end_of_the_resource", 1, |owner, user, id| {
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
    play_with_resource("a_reserve_against_drain", 1, |owner, user, id| {
        let other = spawn(move || match user.reserve(id) {
            Ok(lease) => assert!(user.is_current(&lease)),
            Err(error) => assert_eq!(error, Error::Draining),
        });
        owner.drain(id).unwrap();
        let seen = owner.candidates(KEY).next().expect("it drains").reserved;
        join([other]);
        assert_eq!(owner.reserve(id), Err(Error::Draining));
        assert!(figures(owner).reserved <= seen, "one was granted after drain had returned");
    });
}

#[test]
fn a_reserve_against_accept_and_complete() {
    play_with_resource("a_reserve_against_accept_and_complete", 1, |owner, user, id| {
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

fn accepts_of(owner: Member, lease: FleetLease) -> bool {
    match owner.accept(&lease) {
        Ok(_) => true,
        Err(Error::NotReserved | Error::Stale) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_lease_is_accepted_once() {
    play_with_resource("a_lease_is_accepted_once", 2, |owner, user, id| {
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
    play_with_resource("an_accept_against_the_end_of_the_resource", 1, |owner, user, id| {
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
    play_with_resource("an_execution_completes_once", 2, |owner, _, id| {
        let [one, _two] = [0; 2].map(|_| at_work(owner, id));
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
    play_with_resource("a_correction_against_accept_and_complete", 2, |owner, _, id| {
        let [one, _lost] = [0; 2].map(|_| at_work(owner, id));
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
    play_with_resource("what_a_dead_reserver_left_is_taken_back_once", 1, |owner, user, id| {
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

#[test]
fn a_reserve_against_a_reset() {
    play_with_resource("a_reserve_against_a_reset", 1, |one, two, id| {
        let other = spawn(move || match two.reserve(id) {
            Ok(_) | Err(Error::Stale | Error::Resetting) => {}
            Err(error) => panic!("{error}"),
        });
        one.reset_all().unwrap();
        join([other]);
        assert_eq!(units(one), (0, 0, 0), "nothing of the old epoch is left");
        let next = one.register(KEY, 1).unwrap();
        is_whole(one, next, 1);
    });
}

#[test]
fn a_reset_that_is_met_is_not_done_again() {
    play("a_reset_that_is_met_is_not_done_again", |one, two| {
        let other = spawn(move || match two.budget(KEY) {
            Ok(_) | Err(Error::Resetting) => {}
            Err(error) => panic!("{error}"),
        });
        one.reset_all().unwrap();
        let id = one.register(KEY, 1).expect("the reset is over");
        join([other]);
        assert_eq!(one.candidates(KEY).next().map(|member| member.id), Some(id));
        is_whole(one, id, 1);
    });
}

#[test]
fn an_accept_against_a_reset() {
    play("an_accept_against_a_reset", |one, two| {
        let id = two.register(KEY, 1).unwrap();
        let lease = one.reserve(id).unwrap();
        let other = spawn(move || match two.accept(&lease) {
            Ok(execution) => match two.complete(execution) {
                Ok(()) | Err(Error::Stale | Error::Resetting) => {}
                Err(error) => panic!("{error}"),
            },
            Err(Error::NotReserved | Error::Stale | Error::Resetting) => {}
            Err(error) => panic!("{error}"),
        });
        one.reset_all().unwrap();
        join([other]);
        assert_eq!(units(one), (0, 0, 0), "nothing of the old epoch is left");
        let next = two.register(KEY, 1).unwrap();
        is_whole(two, next, 1);
    });
}

/// A sum over the parts of a model.
fn counter() -> Arc<PlainU32> {
    Arc::default()
}

#[test]
fn two_reconcilers_age_a_reservation_once() {
    play_on_desk("two_reconcilers_age_a_reservation_once", |desk, owner, user| {
        let id = owner.register(KEY, 2).unwrap();
        user.reserve(id).unwrap();
        desk.clock_ms.store(100, SeqCst);
        let aged = counter();
        let reconcile = move |aged: Arc<PlainU32>| {
            let done = owner.reconcile(id, Counted { table: 0, really: 0 }, 50).unwrap();
            aged.fetch_add(done.aged, SeqCst);
        };
        let theirs = aged.clone();
        let other = spawn(move || reconcile(theirs));
        reconcile(aged.clone());
        join([other]);
        assert_eq!(aged.load(SeqCst), 1);
        is_whole(owner, id, 2);
    });
}

#[test]
fn a_reservation_is_aged_or_accepted() {
    play_on_desk("a_reservation_is_aged_or_accepted", |desk, owner, user| {
        let id = owner.register(KEY, 1).unwrap();
        let lease = user.reserve(id).unwrap();
        desk.clock_ms.store(100, SeqCst);
        let accepted = counter();
        let theirs = accepted.clone();
        let other = spawn(move || {
            theirs.store(accepts_of(owner, lease).into(), SeqCst);
        });
        let aged = owner.reconcile(id, Counted { table: 0, really: 0 }, 50).unwrap().aged;
        join([other]);
        let accepted = accepted.load(SeqCst);
        assert_eq!(aged + accepted, 1);
        assert_eq!(units(owner), (0, accepted, accepted));
    });
}

#[test]
fn a_correction_beside_a_second_reconciler() {
    play_with_resource("a_correction_beside_a_second_reconciler", 2, |owner, _, id| {
        let _lost = [0; 2].map(|_| at_work(owner, id));
        let other = spawn(move || {
            owner.reconcile(id, Counted { table: 2, really: 2 }, 1).unwrap();
        });
        owner.reconcile(id, Counted { table: 2, really: 0 }, 1).unwrap();
        join([other]);
        assert_eq!(owner.active(id), Ok(0), "the correction is lost");
        is_whole(owner, id, 2);
    });
}

/// The second node's process ends in the middle of whatever it does.
fn dies(desk: &Desk, two: Member) -> Life {
    desk.sees.store(true, SeqCst);
    desk.let_go(two.life().node);
    two.life()
}

/// A new life of the lane must find all its room free; it keeps a resource.
fn next_life(node: Member, dead: Life) {
    let next = ManuallyDrop::new(node.table().join(Some(dead.node)).unwrap());
    assert_ne!(next.life(), dead);
    let id = next.register(KEY, 1).expect("what the dead had is free");
    let lease = next.reserve(id).expect("it lives");
    next.complete(next.accept(&lease).unwrap()).unwrap();
}

fn only_the_next_life_is_left(node: Member, dead: Life) {
    let mut owners = [dead; 2];
    assert_eq!(node.owners(&mut owners), 1, "the dead own nothing");
    assert_eq!(owners[0].node, dead.node);
    assert_ne!(owners[0], dead);
    let TableFigures { lives, resources, permits, .. } = figures(node);
    assert_eq!((lives, resources, permits), (2, 1, 0));
}

#[test]
fn a_join_against_a_report_of_the_lanes_last_life() {
    play_on_desk("a_join_against_a_report_of_the_lanes_last_life", |desk, one, two| {
        two.register(KEY, 1).unwrap();
        two.claim_create(KEY, 2).unwrap().into_claim();
        let dead = dies(desk, two);
        let other = spawn(move || match one.node_dead(dead) {
            // The next life may hold the lane before it has written itself there.
            Ok(()) | Err(Error::Alive) => {}
            Err(error) => panic!("{error}"),
        });
        next_life(one, dead);
        join([other]);
        one.node_dead(dead).unwrap();
        only_the_next_life_is_left(one, dead);
    });
}

#[test]
fn a_join_against_a_sweep() {
    play_on_desk("a_join_against_a_sweep", |desk, one, two| {
        two.register(KEY, 1).unwrap();
        two.claim_create(KEY, 2).unwrap().into_claim();
        let dead = dies(desk, two);
        let other = spawn(move || {
            one.sweep().unwrap();
        });
        next_life(one, dead);
        join([other]);
        one.sweep().unwrap();
        only_the_next_life_is_left(one, dead);
    });
}

#[test]
fn a_sweep_against_a_register() {
    play_on_desk("a_sweep_against_a_register", |desk, one, two| {
        desk.sees.store(true, SeqCst);
        let old = two.register(KEY, 1).unwrap();
        let other = spawn(move || {
            one.sweep().unwrap();
        });
        two.unregister(old).unwrap();
        let id = two.register(KEY, 1).unwrap();
        join([other]);
        is_whole(two, id, 1);
        assert_eq!(figures(one).resources, 1);
    });
}

#[test]
fn a_sweep_against_a_lease() {
    play_on_desk("a_sweep_against_a_lease", |desk, one, two| {
        desk.sees.store(true, SeqCst);
        let id = two.register(KEY, 1).unwrap();
        let other = spawn(move || {
            one.sweep().unwrap();
        });
        let lease = two.reserve(id).expect("the only asker");
        let execution = two.accept(&lease).expect("no other thread takes it");
        join([other]);
        assert_eq!(units(one), (0, 1, 1));
        two.complete(execution).unwrap();
        is_whole(two, id, 1);
    });
}

// The target cannot tell, and the report is wrong: the life ends all the same, and its threads,
// wherever they are, do not harm the other nodes.
#[test]
fn a_finish_against_a_report_of_its_life() {
    play("a_finish_against_a_report_of_its_life", |one, two| {
        let claim = two.claim_create(KEY, 1).unwrap().into_claim();
        let other = spawn(move || {
            let _ = two.finish(claim);
        });
        one.node_dead(two.life()).unwrap();
        let next = one.claim_create(KEY, 1);
        join([other]);
        let next = next.expect("what the ended life had claimed is free");
        assert_eq!(figures(one).permits, 1, "the other's stays");
        drop(next);
        assert_eq!(figures(one).permits, 0);
    });
}

#[test]
fn a_reserve_against_a_report_of_its_life() {
    play_with_resource("a_reserve_against_a_report_of_its_life", 1, |owner, user, id| {
        let other = spawn(move || match user.reserve(id) {
            Ok(_) | Err(Error::Ended | Error::Busy) => {}
            Err(error) => panic!("{error}"),
        });
        owner.node_dead(user.life()).unwrap();
        join([other]);
        owner.sweep().unwrap();
        // The owner ages one that was published before, as any that is not brought to it.
        if units(owner).0 == 0 {
            is_whole(owner, id, 1);
        }
    });
}

/// Waits for the key until `done`.
fn wait_until(node: Member, done: impl Fn() -> bool) {
    loop {
        let since = node.version(KEY);
        if done() {
            return;
        }
        assert!(matches!(node.wait(KEY, since, LONG_MS), Ok(Wait::Changed(now)) if now != since));
    }
}

#[test]
fn each_change_reaches_who_waits() {
    play_with_resource("each_change_reaches_who_waits", 2, |owner, user, id| {
        let both = [0; 2].map(|_| at_work(owner, id));
        // Three changes at once: one may clear the mark that was set before another, and the third
        // find none.
        let owners = both.map(|execution| spawn(move || owner.complete(execution).unwrap()));
        let drainer = spawn(move || owner.drain(id).unwrap());
        wait_until(user, || {
            user.candidates(KEY).next().is_some_and(|seen| seen.draining && seen.active == 0)
        });
        join(owners.into_iter().chain([drainer]));
    });
}

#[test]
fn a_change_reaches_all_who_wait() {
    play_with_resource("a_change_reaches_all_who_wait", 1, |owner, user, id| {
        let execution = at_work(owner, id);
        let waiters =
            [owner, user].map(|node| spawn(move || wait_until(node, || node.active(id) == Ok(0))));
        owner.complete(execution).unwrap();
        join(waiters);
    });
}

#[test]
fn a_key_that_comes_reaches_who_waits_for_it() {
    play("a_key_that_comes_reaches_who_waits_for_it", |owner, user| {
        let waiter = spawn(move || {
            assert!(matches!(user.wait(KEY, 0, LONG_MS), Ok(Wait::Changed(1..))));
        });
        owner.register(KEY, 1).unwrap();
        join([waiter]);
    });
}

#[test]
fn each_change_reaches_who_watches_the_table() {
    play_with_resource("each_change_reaches_who_watches_the_table", 2, |owner, user, id| {
        let both = [0; 2].map(|_| at_work(owner, id));
        let owners = both.map(|execution| spawn(move || owner.complete(execution).unwrap()));
        loop {
            let since = user.watch();
            if user.active(id) == Ok(0) {
                break;
            }
            assert!(matches!(user.wait_any(since, LONG_MS), Ok(Wait::Changed(_))));
        }
        join(owners);
    });
}

#[test]
fn a_permit_that_ends_reaches_who_watches_the_table() {
    play("a_permit_that_ends_reaches_who_watches_the_table", |one, two| {
        // As many as a key can have.
        let claims = [0; PERMITS].map(|_| one.claim_create(KEY, 99).unwrap().into_claim());
        let watcher = spawn(move || {
            loop {
                let since = two.watch();
                match two.claim_create(KEY, 99) {
                    Ok(_) => return,
                    Err(error) => assert_eq!(error, Error::Busy),
                }
                assert!(matches!(two.wait_any(since, LONG_MS), Ok(Wait::Changed(_))));
            }
        });
        one.finish(claims[0]).unwrap();
        join([watcher]);
    });
}

#[test]
fn an_acquire_that_lost_waits_for_what_came_since_its_look() {
    play_with_resource(
        "an_acquire_that_lost_waits_for_what_came_since_its_look",
        1,
        |owner, user, id| {
            let execution = at_work(owner, id);
            let other = spawn(move || {
                let stubborn = |_: &View<'_, '_>| Choice::Reuse(id);
                loop {
                    match user.acquire(KEY, Limits { max_live: 1, attempts: 1 }, stubborn).unwrap()
                    {
                        Plan::RemoteReuse(_) => return,
                        Plan::Wait(since) => {
                            let end = user.wait(KEY, since, LONG_MS);
                            assert!(matches!(end, Ok(Wait::Changed(_))));
                        }
                        plan => panic!("{plan:?}"),
                    }
                }
            });
            owner.complete(execution).unwrap();
            join([other]);
        },
    );
}

#[test]
fn a_nudge_reaches_who_watches_the_table() {
    play("a_nudge_reaches_who_watches_the_table", |owner, user| {
        let since = user.watch();
        let watcher = spawn(move || {
            assert!(matches!(user.wait_any(since, LONG_MS), Ok(Wait::Changed(_))));
        });
        owner.nudge();
        join([watcher]);
    });
}

#[test]
fn each_change_reaches_who_sits_in_an_image() {
    explore("each_change_reaches_who_sits_in_an_image", || {
        Stage::play(Script::default(), Budget::Default, |stage| {
            let slots = Box::into_raw(Box::new([const { WaitSlot::new() }; 2]));
            // SAFETY: given back below, when all threads have been joined.
            let image =
                Box::into_raw(Box::new(Image::new(stage.port, unsafe { &*slots }).unwrap()));
            // SAFETY: as above.
            set_up(unsafe { &*image }, |owner, user| {
                let id = owner.register(KEY, 2).unwrap();
                let both = [0; 2].map(|_| at_work(owner, id));
                let owners =
                    both.map(|execution| spawn(move || owner.complete(execution).unwrap()));
                wait_until(user, || user.active(id) == Ok(0));
                join(owners);
            });
            // SAFETY: each came from its box, and no thread has them any more.
            unsafe {
                drop(Box::from_raw(image));
                drop(Box::from_raw(slots));
            }
        });
    });
}
