// SPDX-License-Identifier: MIT OR Apache-2.0
//! Question 6: what do leases between processes cost, beside what processes share with today?

mod member;
mod partner;

use crate::drivers;
use crate::locked;
use crate::place::{self, Placement, allowed_cpus, pin};
use crate::runner::{Contestant, contest, scaled, together};
use core::hint::black_box;
use crew::fleet::{Error, Geometry, Image, Key, Table, WaitSlot};
use crew::shim;
use crew::shim::fleet::Shared;
use member::{GEOMETRY, Member, Place, Side};
use partner::{Bell, Desk, Order, Waiting, with_process, with_thread};
use std::sync::atomic::AtomicU32;

const ROUNDS: u32 = 31;
const LEASES: u32 = 10_000;
/// Long enough that more threads than CPUs take turns within it.
const CONTENDED_ROUNDS: u32 = 15;
const CONTENDED: u32 = 40_000;
const HAND_OVERS: u32 = 500;
const RINGS: u32 = 200;
const MEMBERS: [u32; 3] = [1, 16, 256];
const LOOKS: u32 = 8_000;
const CLAIMERS: usize = 8;

pub fn measure() {
    drivers::shared_open();
    let two_cpus = allowed_cpus().len() > 1;
    // Not in real time: they would keep the system's own threads from both CPUs.
    if two_cpus {
        handed_over(&Placement::two_cpus(), Waiting::Looking);
    }
    contended();
    claims();
    if !place::real_time() {
        eprintln!("bench: no permission for SCHED_FIFO: measured under the default policy");
    }
    let cpus = allowed_cpus();
    Placement::one_cpu().for_giving();
    one_process();
    candidates();
    pin(&cpus);
    handed_over(&Placement::one_cpu(), Waiting::Asleep);
    wake_ups(&Placement::one_cpu());
    if two_cpus {
        wake_ups(&Placement::two_cpus());
    }
}

/// A lease from its reserving to its completing.
fn lease(asker: &Member<'_>, owner: &Member<'_>) {
    owner.serve(&asker.node.reserve(owner.lent).expect("room"));
}

fn one_process() {
    let place = Place::new("one", GEOMETRY);
    let (ours, theirs) = (place.open(), place.open());
    let owner = Member::join(&ours.table().expect("opens"), Side::Leader);
    let asker = Member::join(&theirs.table().expect("opens"), Side::Partner);
    let bare = locked::Resource::default();
    let mut contestants = [
        Contestant::new("Crew", |n| (0..n).for_each(|_| lease(&owner, &owner))),
        Contestant::new("Crew, the asker is another node", |n| {
            (0..n).for_each(|_| lease(&asker, &owner));
        }),
        Contestant::new("floor: thirteen locked instructions", |n| bare.lease(n)),
        Contestant::new("robust mutex", |n| drivers::mutex_leases(n)),
        Contestant::new("named semaphore", |n| drivers::semaphore_leases(n)),
        Contestant::new("flock", |n| drivers::flock_leases(n)),
    ];
    contest("fleet", "a lease, one thread", ROUNDS, scaled(LEASES, 500), &mut contestants);
}

fn contended() {
    let place = Place::new("contended", GEOMETRY);
    let shared = place.open();
    let owner = Member::join(&shared.table().expect("opens"), Side::Leader);
    let bare = locked::Resource::default();
    for threads in [2, 4] {
        let mut contestants = [
            together("Crew", threads, |n| (0..n).for_each(|_| lease(&owner, &owner))),
            together("floor: thirteen locked instructions", threads, |n| bare.lease(n)),
            together("robust mutex", threads, |n| drivers::mutex_leases(n)),
            together("named semaphore", threads, |n| drivers::semaphore_leases(n)),
        ];
        let case = format!("a lease, {threads} threads of one process");
        let count = scaled(CONTENDED, 500);
        contest("fleet", &case, CONTENDED_ROUNDS, count, &mut contestants);
    }
}

fn claims() {
    let place = Place::new("claims", GEOMETRY);
    let shared = place.open();
    let member = Member::join(&shared.table().expect("opens"), Side::Leader);
    let claim = |n: u32| {
        for _ in 0..n {
            // All its permits may be ending at this moment.
            let permit = loop {
                match member.node.claim_create(Key(9), CLAIMERS as u32) {
                    Ok(permit) => break permit,
                    Err(error) => assert!(matches!(error, Error::Busy | Error::BudgetSpent(_))),
                }
            };
            drop(permit);
        }
    };
    let bare = locked::Key::default();
    for threads in [1, CLAIMERS] {
        let mut contestants = [
            together("Crew", threads, claim),
            together("floor: seven locked instructions", threads, |n| bare.claim(n)),
            together("robust mutex", threads, |n| drivers::mutex_claims(n)),
        ];
        let case = format!("a claim to create and its end, threads: {threads}");
        let count = scaled(CONTENDED, 500);
        contest("fleet", &case, CONTENDED_ROUNDS, count, &mut contestants);
    }
}

fn candidates() {
    for count in MEMBERS {
        let resources = count.next_power_of_two();
        let geometry = Geometry { resources, executions: 1, ..GEOMETRY };
        let place = Place::new("candidates", geometry);
        let (ours, theirs) = (place.open(), place.open());
        let owner = ours.table().expect("opens").join(None).expect("a lane");
        let other = theirs.table().expect("opens").join(None).expect("a lane");
        for _ in 0..count {
            let _ = owner.register(Key(1), 1).expect("room");
        }
        let first = owner.candidates(Key(1)).next().expect("it is there");
        let look = |node: &crew::fleet::Node<'_>, n| {
            let mut buffer = vec![first; count as usize];
            for _ in 0..n {
                let found = node.candidates_into(Key(1), black_box(&mut buffer));
                assert_eq!(found, count as usize);
            }
        };
        let mut contestants = [
            Contestant::new("its own", |n| look(&owner, n)),
            Contestant::new("of another process", |n| look(&other, n)),
        ];
        let case = format!("candidates: {count}");
        contest("fleet", &case, ROUNDS, scaled(LOOKS / count, 20), &mut contestants);
    }
}

/// A lease whose owner is another process: reserved here, handed over, accepted and completed
/// there.
fn handed_over(placement: &Placement, waiting: Waiting) {
    let place = Place::new("two", GEOMETRY);
    let join = |serve: &mut dyn FnMut(&[Member<'_>])| {
        let shared = place.open();
        serve(&[Member::join(&shared.table().expect("opens"), Side::Partner)]);
    };
    with_process(waiting, placement, join, |desk| {
        let shared = place.open();
        let asker = Member::join(&shared.table().expect("opens"), Side::Leader);
        let lent = asker.of(Side::Partner);
        let each = |n, hand_over: &dyn Fn()| (0..n).for_each(|_| hand_over());
        let mut contestants = [
            Contestant::new("Crew", |n| {
                each(n, &|| desk.ask(Order::Lease, Some(asker.node.reserve(lent).expect("room"))));
            }),
            Contestant::new("floor: the hand-over and thirteen locked instructions", |n| {
                each(n, &|| {
                    desk.bare().reserve();
                    desk.ask(Order::Bare, None);
                });
            }),
            Contestant::new("the hand-over alone", |n| {
                each(n, &|| desk.ask(Order::HandOver, None));
            }),
            Contestant::new("robust mutex", |n| {
                each(n, &|| {
                    drivers::mutex_reserve();
                    desk.ask(Order::Mutex, None);
                });
            }),
            Contestant::new("named semaphore", |n| {
                each(n, &|| {
                    drivers::semaphore_take();
                    desk.ask(Order::Semaphore, None);
                });
            }),
            Contestant::new("flock", |n| {
                each(n, &|| {
                    drivers::flock_take();
                    desk.ask(Order::HandOver, None);
                    drivers::flock_give();
                });
            }),
        ];
        let by = match waiting {
            Waiting::Looking => "by a word that is looked at",
            Waiting::Asleep => "by a futex",
        };
        let case = format!("a lease, two processes, handed over {by}, {}", placement.name());
        contest("fleet", &case, ROUNDS, scaled(HAND_OVERS, 50), &mut contestants);
    });
}

/// Two sides wake each other in turn; half of a round trip.
fn wake_ups(placement: &Placement) {
    wake_ups_in_one_process(placement);
    let place = Place::new("wake", GEOMETRY);
    let join = |serve: &mut dyn FnMut(&[Member<'_>])| {
        let shared = place.open();
        serve(&[Member::join(&shared.table().expect("opens"), Side::Partner)]);
    };
    with_process(Waiting::Asleep, placement, join, |desk| {
        let shared = place.open();
        let leader = Member::join(&shared.table().expect("opens"), Side::Leader);
        let tables = [("Crew", &leader)];
        ring(desk, &format!("a wake-up, two processes, {}", placement.name()), &tables);
    });
}

fn wake_ups_in_one_process(placement: &Placement) {
    static SEATS: [WaitSlot; 2] = [const { WaitSlot::new() }; 2];
    let words = GEOMETRY.words().expect("a geometry");
    let words: Vec<_> = (0..words).map(|_| AtomicU32::new(0)).collect();
    let image = Image::new(&shim::PORT, &SEATS).expect("events");
    let image = Table::open(&words, GEOMETRY, &image).expect("opens");
    let place = Place::new("threads", GEOMETRY);
    let shared: Shared = place.open();
    let shared = shared.table().expect("opens");
    let sides = |side| [&shared, &image].map(|table| Member::join(table, side));
    let (leader, partner) = (sides(Side::Leader), sides(Side::Partner));
    with_thread(Waiting::Asleep, placement, &partner, |desk| {
        let tables = [
            ("Crew, a table in shared memory", &leader[0]),
            ("Crew, a table in the image's memory", &leader[1]),
        ];
        ring(desk, &format!("a wake-up, two threads, {}", placement.name()), &tables);
    });
}

fn ring(desk: &Desk, case: &str, tables: &[(&str, &Member<'_>)]) {
    let of_crew = tables.iter().enumerate().map(|(table, (who, leader))| {
        Contestant::timing_itself(*who, move |n| {
            desk.ring(Bell::Complete(table), n, Some(leader)) / 2
        })
    });
    let mut contestants: Vec<_> = of_crew.collect();
    for (who, bell) in
        [("bare futex", Bell::Futex), ("bare futex, bounded waits", Bell::BoundedFutex)]
    {
        contestants.push(Contestant::timing_itself(who, move |n| desk.ring(bell, n, None) / 2));
    }
    contest("fleet", case, ROUNDS, scaled(RINGS, 30), &mut contestants);
}
