// SPDX-License-Identifier: MIT OR Apache-2.0
//! Crew on *simulated* targets: each wall stands where it was measured, and Crew refuses before it.
//! The figures and their sources are in `crew::plan::figures`.

mod common;

use common::free_list::{Block, FreeList};
use common::target::{Arena, Misfortunes, Profile, SimulatedTarget, Wall, Zombies};
use common::{KIB, MIB, boot, held, open};
use crew::plan::figures::{rtems, vxworks};
use crew::plan::{Bound, Descriptors, Memory, PlannedPool, Site, Threads};
use crew::port::Target;
use crew::{
    AcquireError, Budget, Crew, Lease, Pool, PoolOptions, Refusal, RefusalKind, Role, Worker,
};
use proptest::prelude::*;

type Borrowed = (Lease, [Worker; 2]);

/// A pool of sets of two threads, as a CA client needs them.
fn open_pair(crew: &'static Crew, stacks: [usize; 2], capacity: usize) -> Pool<2> {
    let roles = [("client", stacks[0]), ("event", stacks[1])];
    let roles = roles.map(|(name, stack_bytes)| Role { name, stack_bytes, priority: 20 });
    let options = PoolOptions { name: "CAS", capacity: capacity as u32, ..PoolOptions::default() };
    Pool::open(crew, &roles, &options).expect("opens")
}

fn refusal_of(error: AcquireError) -> Refusal {
    match error {
        AcquireError::Refused(refusal) => refusal,
        other => panic!("not a refusal: {other}"),
    }
}

/// Leases until one is refused; what was lent, and the refusal.
fn fill(pool: Pool<2>) -> (Vec<Borrowed>, Refusal) {
    let mut lent = Vec::new();
    loop {
        match pool.acquire(0) {
            Ok(borrowed) => lent.push(borrowed),
            Err(error) => return (lent, refusal_of(error)),
        }
    }
}

/// Two thirds and one third, as big and medium are.
fn split(declared: usize) -> [usize; 2] {
    [declared - declared / 3, declared / 3]
}

// --- VxWorks
// --------------------------------------------------------------------------------------

/// A VxWorks guest, simulated, with threads made by std.
fn guest(room: usize, wall: Wall) -> Profile {
    Profile {
        charged_overhead: vxworks::STD_THREAD_OVERHEAD_BYTES,
        true_overhead: vxworks::STD_THREAD_OVERHEAD_BYTES,
        wall,
        ..Profile::new(Target::VxWorks, room)
    }
}

/// The guest that died at set 46, about 230 MiB: one byte is missing for that set. Its largest
/// piece is the mapping that was confirmed there.
fn guest_that_died(wall: Wall) -> Profile {
    let room = vxworks::DIED_AT_SET * vxworks::CA_SET_BYTES - 1;
    let one_mapping = vxworks::GUEST_ONE_MAPPING_BYTES;
    Profile { pieces: vec![one_mapping, room - one_mapping], ..guest(room, wall) }
}

const CA_DECLARED: usize = 3 * MIB;

// Source: vxworks::DIED_AT_SET.
#[test]
fn simulated_vxworks_of_958_mb_walls_at_set_46_where_320_mib_are_believed() {
    for wall in [Wall::Fails, Wall::Faults] {
        let target = SimulatedTarget::new(Profile { answers: false, ..guest_that_died(wall) });
        let pool = open_pair(boot(target, Budget::Mib(320)), split(CA_DECLARED), 141);
        for _ in 1..vxworks::DIED_AT_SET {
            std::mem::forget(pool.acquire(0).unwrap());
            assert_eq!(target.misfortunes(), Misfortunes::default());
        }
        let at_the_wall = pool.acquire(0);
        match wall {
            Wall::Fails => {
                let expected = Refusal::SpawnFailed { os_error: 11, role: 1 };
                assert_eq!(refusal_of(at_the_wall.unwrap_err()), expected);
                assert_eq!(target.misfortunes().failed_threads, 1);
            }
            Wall::Faults => {
                assert!(at_the_wall.is_ok(), "the creation succeeds, and the task faults");
                assert_eq!(target.misfortunes().faults, 1);
            }
        }
    }
}

// Source: vxworks::REFUSED_AFTER_SETS.
#[test]
fn simulated_vxworks_of_958_mb_refuses_at_32_with_160_mib_and_serves_on() {
    for budget in [Budget::Mib(160), Budget::Default, Budget::Mib(320)] {
        let target = SimulatedTarget::new(guest_that_died(Wall::Faults));
        let crew = boot(target, budget);
        let pool = open_pair(crew, split(CA_DECLARED), 141);
        let (mut lent, refusal) = fill(pool);
        assert_eq!(lent.len(), vxworks::REFUSED_AFTER_SETS, "{budget:?}");
        let Refusal::OutOfReservation(numbers) = refusal else { panic!("{refusal}") };
        let expected = (vxworks::CA_SET_BYTES, 160 * MIB, 160 * MIB);
        assert_eq!((numbers.requested, numbers.held, numbers.budget), expected);
        // It goes on: clients leave and come, and no thread is made for them.
        let threads = target.sim.threads();
        for _ in 0..100 {
            drop(lent.remove(0));
            lent.push(pool.acquire(0).expect("the returned set"));
            assert_eq!(refusal_of(pool.acquire(0).unwrap_err()), refusal);
        }
        assert_eq!((target.sim.threads(), target.sim.script().spawned as usize), (threads, 64));
        assert_eq!(target.misfortunes(), Misfortunes::default());
        assert_eq!(held(crew), 160 * MIB);
    }
}

/// One simulated guest whose walls stand where the three images met them. Any overhead per thread
/// between 0.883 and 1.0 MiB has an address space that does this (47 (3 + 2 x) <= room < 48 (3 + 2
/// x), and so on); the flat 1 MiB which the account charges is at the safe end.
fn guest_of_three_walls(wall: Wall) -> Profile {
    Profile { true_overhead: 96 * MIB / 100, ..guest(234 * MIB, wall) }
}

// Source: vxworks::WALLS.
#[test]
fn simulated_vxworks_walls_at_47_59_80_for_three_stack_sizes_and_admission_refuses_before_each() {
    for (declared, clients) in vxworks::WALLS {
        for wall in [Wall::Fails, Wall::Faults] {
            let profile = guest_of_three_walls(wall);
            let unguarded = SimulatedTarget::new(Profile { answers: false, ..profile.clone() });
            let pool = open_pair(boot(unguarded, Budget::Mib(1024)), split(declared), 141);
            for _ in 0..clients {
                std::mem::forget(pool.acquire(0).expect("before the wall"));
            }
            assert_eq!(unguarded.misfortunes(), Misfortunes::default());
            assert_eq!(pool.acquire(0).is_ok(), wall == Wall::Faults, "one too many");
            assert_ne!(unguarded.misfortunes(), Misfortunes::default());

            let guarded = SimulatedTarget::new(profile);
            let (lent, refusal) =
                fill(open_pair(boot(guarded, Budget::Mib(320)), split(declared), 141));
            assert_eq!(refusal.kind(), RefusalKind::OutOfReservation);
            assert_eq!(lent.len(), 160 * MIB / (declared + 2 * MIB));
            assert!(lent.len() < clients, "{} of {clients}", lent.len());
            assert_eq!(guarded.misfortunes(), Misfortunes::default());
        }
    }
}

// Source: vxworks::OTHER_WALLS.
#[test]
fn simulated_vxworks_admission_refuses_before_the_walls_of_the_other_series() {
    for (declared, clients) in vxworks::OTHER_WALLS {
        // A guest of its own for each: it has room for exactly as many clients as were seen.
        let set = declared + 2 * vxworks::STD_THREAD_OVERHEAD_BYTES;
        let target = SimulatedTarget::new(guest((clients + 1) * set - 1, Wall::Faults));
        let (lent, refusal) = fill(open_pair(boot(target, Budget::Default), split(declared), 141));
        assert_eq!(refusal.kind(), RefusalKind::OutOfReservation);
        assert!(lent.len() < clients, "{} of {clients}", lent.len());
        assert_eq!(target.misfortunes(), Misfortunes::default());
    }
}

// Source: vxworks::GUEST_USABLE_BYTES, GUEST_ONE_MAPPING_BYTES. No budget that an operator can ask
// for gets past the wall, because the target has to confirm it; also beside the charges of fixed
// threads.
#[test]
fn simulated_vxworks_never_creates_at_the_wall_whatever_budget_is_asked() {
    for asked in [1, 8, 100, 160, 191, 192, 193, 254, 255, 320, 384, 1024, u32::MAX] {
        let target = SimulatedTarget::new(Profile {
            pieces: vec![
                vxworks::GUEST_ONE_MAPPING_BYTES,
                vxworks::GUEST_USABLE_BYTES
                    - vxworks::GUEST_ONE_MAPPING_BYTES
                    - vxworks::FIXED_THREADS_BYTES,
            ],
            ..guest(0, Wall::Faults)
        });
        let crew = boot(target, Budget::Mib(asked));
        let _fixed = crew.charge(vxworks::FIXED_THREADS_BYTES).unwrap();
        let adopted = crew.account_usage().unwrap().budget;
        assert!(adopted <= vxworks::GUEST_ONE_MAPPING_BYTES, "{asked}: {adopted}");
        let (lent, refusal) = fill(open_pair(crew, split(CA_DECLARED), 141));
        assert_eq!(refusal.kind(), RefusalKind::OutOfReservation);
        let left = adopted.saturating_sub(vxworks::FIXED_THREADS_BYTES);
        assert_eq!(lent.len(), left / vxworks::CA_SET_BYTES, "{asked}");
        assert_eq!(target.misfortunes(), Misfortunes::default(), "{asked}");
    }
}

// Source: vxworks::OBJECTS_AT_REFUSAL, OBJECTS_SEEN_LATER.
#[test]
fn simulated_vxworks_object_arena_says_no_at_588_and_yes_later() {
    const REFUSALS: usize = 7;
    let arena = Arena { refuse_at: vxworks::OBJECTS_AT_REFUSAL, refusals: REFUSALS };
    let target = SimulatedTarget::new(Profile {
        arena: Some(arena),
        ..Profile::new(Target::VxWorks, 160 * MIB)
    });
    let crew = boot(target, Budget::Default);
    let at_boot = target.objects();
    // Three threads, as a PVA connection needs them: a set whose objects are half made is refused.
    let pool = open::<3>(crew, 200);
    let mut lent = Vec::new();
    let mut refusals = Vec::new();
    while target.objects() <= vxworks::OBJECTS_SEEN_LATER {
        let before = (held(crew), target.sim.threads(), target.free(), lent.len());
        match pool.acquire(0) {
            Ok(borrowed) => lent.push(borrowed),
            Err(error) => {
                // The client's retry is the pacing: it simply comes again.
                assert_eq!(target.objects(), vxworks::OBJECTS_AT_REFUSAL);
                refusals.push(refusal_of(error));
                let created = pool.usage().unwrap().created as usize;
                assert_eq!((held(crew), target.sim.threads(), target.free(), created), before);
            }
        }
    }
    // A worker has an event of its own and one for each of its two job cells.
    let per_set = 3 * 3;
    let missing = per_set - (vxworks::OBJECTS_AT_REFUSAL - at_boot) % per_set;
    let expected = Refusal::ObjectsExhausted { objects: per_set as u32 };
    assert_eq!(refusals[0], expected);
    let expected = Refusal::ObjectsExhausted { objects: missing as u32 };
    assert_eq!(refusals[1..], [expected; REFUSALS - 1], "what was made is kept");
    assert_eq!(target.objects(), at_boot + lent.len() * per_set);
    assert_eq!(target.sim.threads(), lent.len() * 3);
    assert_eq!(target.misfortunes().refused_objects, REFUSALS);
}

// --- RTEMS
// ----------------------------------------------------------------------------------------

/// The measured server on a 256 MB Zynq, simulated: one heap, a header of 8 bytes for each block.
fn zynq(free: usize, zombies: Zombies) -> Profile {
    Profile { header: 8, zombies, ..Profile::new(Target::Rtems, free) }
}

/// Bytes that a CA client takes beyond its two stacks.
const fn beyond(client_bytes: usize) -> usize {
    client_bytes - rtems::CA_STACKS[0] - rtems::CA_STACKS[1]
}

const CA_SET: usize = rtems::CA_STACKS[0] + rtems::CA_STACKS[1];

// Source: rtems::SERVER_FREE_BYTES, SERVER_CLIENT_BYTES, SERVER_CLIENTS.
#[test]
fn simulated_zynq_of_256_mb_refuses_by_count_or_by_account_and_no_thread_ever_fails() {
    let mut by = [0; RefusalKind::COUNT];
    for asked in [1, 8, 15, 100, 160, 200, 211, 212, 220, 221, 222, 320, 1000, u32::MAX] {
        let target =
            SimulatedTarget::new(zynq(rtems::SERVER_FREE_BYTES, Zombies::GoneBeforeTheQuestion));
        let crew = boot(target, Budget::Mib(asked));
        let budget = crew.account_usage().unwrap().budget;
        let pool = open_pair(crew, rtems::CA_STACKS, rtems::SERVER_CLIENTS);
        let mut clients = Vec::new();
        let refusal = loop {
            match pool.acquire(0) {
                Ok(borrowed) => {
                    let own = target.take(beyond(rtems::SERVER_CLIENT_BYTES));
                    clients.push((borrowed, own.expect("a client's own memory")));
                }
                Err(error) => break refusal_of(error),
            }
        };
        assert_eq!(clients.len(), rtems::SERVER_CLIENTS.min(budget / CA_SET), "{asked}");
        let expected = if clients.len() == rtems::SERVER_CLIENTS {
            RefusalKind::AtCapacity
        } else {
            RefusalKind::OutOfReservation
        };
        assert_eq!(refusal.kind(), expected, "{asked}");
        by[refusal.kind() as usize] += 1;
        assert_eq!(target.misfortunes(), Misfortunes::default(), "{asked}");
    }
    let count = by[RefusalKind::AtCapacity as usize];
    let account = by[RefusalKind::OutOfReservation as usize];
    assert_eq!((count, account), (3, 11), "212, 220 and 221 MiB hold all 141 clients");
}

// Source: rtems::SERVER_DESCRIPTORS, IOC_DESCRIPTORS.
#[test]
fn simulated_descriptors_leave_one_to_tell_the_refusal_on() {
    let server =
        Descriptors { total: rtems::SERVER_DESCRIPTORS, idle: rtems::SERVER_DESCRIPTORS_IDLE };
    assert_eq!(server.connections(), rtems::SERVER_CLIENTS);
    let [total, idle, served] = rtems::IOC_DESCRIPTORS;
    let ioc = Descriptors { total, idle };
    assert_eq!(ioc.connections(), served - 1, "the stock IOC kept none, and then stalled");

    // A client: false, it could not even be accepted; else whether it was served. A pool of
    // `connections` sets tells every client; with one more set, the next client is told nothing.
    for (table, sets) in [(server, 141), (ioc, 53)] {
        for (capacity, told) in [(sets, true), (sets + 1, false)] {
            let target = SimulatedTarget::new(Profile {
                descriptors: table.total - table.idle,
                ..Profile::new(Target::Rtems, rtems::IOC_FREE_BYTES)
            });
            let crew = boot(target, Budget::Mib(214));
            let pool = open_pair(crew, [64 * KIB; 2], capacity);
            let mut served = Vec::new();
            let accepted = loop {
                if !target.open_descriptor() {
                    break false;
                }
                match pool.acquire(0) {
                    Ok(borrowed) => served.push(borrowed),
                    Err(error) => {
                        assert_eq!(refusal_of(error).kind(), RefusalKind::AtCapacity);
                        target.close_descriptor();
                        break true;
                    }
                }
            };
            assert_eq!((served.len(), accepted), (capacity, told));
        }
    }
}

// Source: RTEMS 7, see rtems: 252 joined threads still held 264 MB until the next creation.
#[test]
fn simulated_zombies_do_not_keep_a_trimmed_pool_from_growing_again() {
    let port_that_buries = Zombies::GoneBeforeTheQuestion;
    for zombies in [port_that_buries, Zombies::Stay] {
        // Room for 20 sets, and a budget that refuses none of them.
        let target = SimulatedTarget::new(zynq(20 * (CA_SET + 16), zombies));
        let crew = boot(target, Budget::Mib(30));
        let pool = open_pair(crew, rtems::CA_STACKS, 20);
        let (lent, refusal) = fill(pool);
        assert_eq!((lent.len(), refusal.kind()), (20, RefusalKind::AtCapacity));
        drop(lent);
        pool.trim(0).unwrap();
        assert_eq!((target.sim.threads(), held(crew)), (0, 0));
        assert_eq!(target.free(), 0, "joined, and their stacks still taken");
        let again = pool.acquire(0);
        if zombies == port_that_buries {
            assert!(again.is_ok());
            let (lent, _) = fill(pool);
            assert_eq!(lent.len(), 19);
        } else {
            // Why a port on RTEMS has to bury them before it answers.
            let refusal = refusal_of(again.unwrap_err());
            assert_eq!(refusal, Refusal::TargetMemory { requested: rtems::CA_STACKS[0] });
        }
        assert_eq!(target.misfortunes(), Misfortunes::default());
    }
}

/// A client as stock rsrv serves it, with threads of its own.
struct OwnThreads {
    stacks: Vec<Block>,
    own: Vec<Block>,
}

impl OwnThreads {
    /// `None`: a thread could not be made. In rsrv's order; what is left behind is taken in
    /// between.
    fn connect(target: &SimulatedTarget) -> Option<Self> {
        let mut client = Self { stacks: Vec::new(), own: Vec::new() };
        let result = client.take_all(target);
        if result.is_none() {
            client.disconnect(target);
            return None;
        }
        Some(client)
    }

    fn take_all(&mut self, target: &SimulatedTarget) -> Option<()> {
        let [left, by_threads] = rtems::IOC_BLOCKS_LEFT;
        let own = beyond(rtems::IOC_CLIENT_BYTES) / 4;
        for stack in [rtems::CA_STACKS[1], rtems::CA_STACKS[0]] {
            self.own.push(target.take(own)?);
            leave_behind(target, by_threads / 2)?;
            self.stacks.push(target.take_stack(stack)?);
            self.own.push(target.take(own)?);
        }
        leave_behind(target, left - by_threads)
    }

    fn disconnect(self, target: &SimulatedTarget) {
        self.own.into_iter().for_each(|block| target.give_back(block));
        self.stacks.into_iter().for_each(|stack| target.give_back_stack(stack));
    }
}

fn leave_behind(target: &SimulatedTarget, blocks: usize) -> Option<()> {
    (0..blocks).try_for_each(|_| target.take(rtems::IOC_BLOCK_LEFT_BYTES - 8).map(drop))
}

/// Takes the elements out in an order that is the same in every run.
fn shuffled<T>(mut all: Vec<T>) -> Vec<T> {
    let mut seed = 1u32;
    for i in (1..all.len()).rev() {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        all.swap(i, (seed >> 8) as usize % (i + 1));
    }
    all
}

// Source: rtems::IOC_FULL_HOUSES, IOC_LARGEST_AFTER_BYTES, IOC_BLOCKS_LEFT. Only the direction is
// claimed: a thread per connection serves fewer at each full house, persistent sets serve the same.
#[test]
fn simulated_full_houses_fragment_the_heap_with_threads_per_connection_and_not_with_sets() {
    let houses = rtems::IOC_FULL_HOUSES.len();
    let target = SimulatedTarget::new(zynq(rtems::IOC_FREE_BYTES, Zombies::Stay));
    let mut peaks = Vec::new();
    for _ in 0..houses {
        let clients: Vec<_> = std::iter::from_fn(|| OwnThreads::connect(target)).collect();
        peaks.push(clients.len());
        shuffled(clients).into_iter().for_each(|client| client.disconnect(target));
    }
    target.bury_zombies();
    let (largest, free) = (target.largest(), target.free());
    assert!(rtems::IOC_FULL_HOUSES.is_sorted_by(|a, b| a > b), "as it was seen");
    assert!(peaks[houses - 1] < peaks[0], "{peaks:?}");
    assert!(largest < free / 10, "{largest} of {free}");

    let target = SimulatedTarget::new(zynq(rtems::IOC_FREE_BYTES, Zombies::GoneBeforeTheQuestion));
    let crew = boot(target, Budget::Mib(205));
    let pool = open_pair(crew, rtems::CA_STACKS, 141);
    let [left, by_threads] = rtems::IOC_BLOCKS_LEFT;
    let mut peaks = Vec::new();
    let mut largest = Vec::new();
    for _ in 0..houses {
        let mut clients = Vec::new();
        while let Ok(borrowed) = pool.acquire(0) {
            let own: Vec<_> =
                (0..4).map(|_| target.take(beyond(rtems::IOC_CLIENT_BYTES) / 4).unwrap()).collect();
            leave_behind(target, left - by_threads).unwrap();
            clients.push((borrowed, own));
        }
        peaks.push(clients.len());
        for (borrowed, own) in shuffled(clients) {
            own.into_iter().for_each(|block| target.give_back(block));
            drop(borrowed);
        }
        largest.push(target.largest());
    }
    assert_eq!(peaks, [205 * MIB / CA_SET; 3]);
    assert_eq!(target.misfortunes(), Misfortunes::default());
    assert_eq!(target.sim.script().spawned as usize, 2 * peaks[0], "no stack ever moved");
    let lost = largest[0] - largest[houses - 1];
    // Per connection, three blocks of base's own leak.
    let bound = peaks[0] * (houses - 1) * (left - by_threads) * rtems::IOC_BLOCK_LEFT_BYTES;
    assert!(lost <= bound, "{largest:?}");
}

// Known defect: the target was asked about memory once, at boot; what others took later was unseen.
#[test]
fn simulated_memory_that_others_take_after_boot_is_seen_by_the_next_growth() {
    let target =
        SimulatedTarget::new(zynq(rtems::SERVER_FREE_BYTES, Zombies::GoneBeforeTheQuestion));
    let crew = boot(target, Budget::Mib(221));
    let pool = open_pair(crew, rtems::CA_STACKS, rtems::SERVER_CLIENTS);
    let first = pool.acquire(0).unwrap();
    let others = target.take(target.largest() - rtems::CA_STACKS[0]).unwrap();
    let before = (held(crew), target.sim.threads(), target.free());
    let refusal = refusal_of(pool.acquire(0).unwrap_err());
    assert_eq!(refusal, Refusal::TargetMemory { requested: rtems::CA_STACKS[0] });
    assert_eq!((held(crew), target.sim.threads(), target.free()), before);
    drop(first);
    let _again = pool.acquire(0).expect("an idle set asks nobody");
    target.give_back(others);
    let _second = pool.acquire(0).expect("the target has it again");
    assert_eq!(target.misfortunes(), Misfortunes::default());
}

// Known defect: as above. However little others have left, a creation is never tried where it would
// fail or fault.
#[test]
fn simulated_memory_is_asked_about_before_each_thread() {
    let vxworks = guest(vxworks::GUEST_USABLE_BYTES, Wall::Faults);
    let zynq = zynq(rtems::SERVER_FREE_BYTES, Zombies::None);
    // A heap's header counts as the port's overhead here, so that question and creation agree.
    let zynq = Profile { header: 0, charged_overhead: 8, true_overhead: 8, ..zynq };
    for (profile, stacks) in [(vxworks, split(CA_DECLARED)), (zynq, rtems::CA_STACKS)] {
        let overhead = profile.charged_overhead;
        let set = stacks[0] + stacks[1] + 2 * overhead;
        for left in (0..2 * set).step_by(64 * KIB) {
            let target = SimulatedTarget::new(profile.clone());
            let crew = boot(target, Budget::Mib(160));
            let pool = open_pair(crew, stacks, 20);
            let _others = target.take(target.free() - left).unwrap();
            let before = target.free();
            match pool.acquire(0).map_err(refusal_of) {
                Ok(_) => assert!(before >= set),
                Err(refusal) => {
                    assert!(before < set);
                    let role = usize::from(before >= stacks[0] + overhead);
                    let requested = stacks[role] + overhead;
                    assert_eq!(refusal, Refusal::TargetMemory { requested });
                    assert_eq!((held(crew), target.sim.threads()), (0, 0));
                    assert_eq!(target.free(), before);
                }
            }
            assert_eq!(target.misfortunes(), Misfortunes::default(), "{left} left");
        }
    }
}

// --- the plan
// -------------------------------------------------------------------------------------

fn planned(stacks: [usize; 2], capacity: usize) -> PlannedPool {
    let roles = stacks.map(|stack| ("role".to_owned(), stack)).to_vec();
    PlannedPool { name: "CAS".to_owned(), roles, capacity, beyond_threads: 0 }
}

// Source: vxworks::WALLS, GUEST_USABLE_BYTES, FIXED_THREADS_BYTES. The flat 1 MiB for a thread
// places the walls that were met within 2.1 % of each other, so the plan may be off by that.
#[test]
fn the_plan_places_the_measured_walls() {
    let fixed = vxworks::FIXED_THREADS_BYTES;
    let memory = Memory {
        free: vxworks::GUEST_USABLE_BYTES - fixed,
        one_piece: vxworks::GUEST_ONE_MAPPING_BYTES,
        for_one_more: 0,
    };
    let computed = Memory::vxworks(vxworks::GUEST_BYTES, fixed);
    assert!(computed.free.abs_diff(memory.free) <= MIB && computed.one_piece <= memory.one_piece);
    for (declared, clients) in vxworks::WALLS {
        let site = Site {
            target: Target::VxWorks,
            threads: Threads::Std,
            memory: Some(memory),
            budget_mib: Some(320),
            fixed,
            descriptors: Some(Descriptors { total: 150, idle: 8 }),
        };
        let bounds = site.bounds(&planned(split(declared), 141));
        let at = |bound| bounds.iter().find(|(_, b)| *b == bound).unwrap().0;
        assert!(at(Bound::Memory).abs_diff(clients) * 1000 <= clients * 21, "{bounds:?}");
        assert_eq!(bounds[0].1, Bound::Account, "{bounds:?}");
        assert_eq!((at(Bound::Capacity), at(Bound::Descriptors)), (141, 141));
    }
}

// Source: rtems::IOC_FULL_HOUSES, IOC_CLIENT_BYTES.
#[test]
fn the_plan_stops_short_of_the_measured_full_house() {
    let site = Site {
        target: Target::Rtems,
        threads: Threads::C,
        memory: Some(Memory::rtems(rtems::BOARD_BYTES)),
        budget_mib: Some(1000),
        fixed: 0,
        descriptors: None,
    };
    let beyond_threads = beyond(rtems::IOC_CLIENT_BYTES);
    let pool = PlannedPool { beyond_threads, ..planned(rtems::CA_STACKS, 300) };
    let bounds = site.bounds(&pool);
    let (sets, _) = *bounds.iter().find(|(_, bound)| *bound == Bound::Memory).unwrap();
    let seen = rtems::IOC_FULL_HOUSES[0];
    assert!(sets < seen && sets + 2 >= seen, "{sets} of {seen}");
}

#[test]
fn each_maker_of_threads_has_its_own_figure_on_each_target() {
    for target in [Target::Host, Target::Rtems, Target::VxWorks] {
        let std = crew::shim::thread_overhead_bytes(target);
        assert_eq!(Threads::Std.overhead_bytes(target), std);
        assert_eq!(Threads::C.overhead_bytes(target), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Pools that grow in turn do as the plan says: the same numbers of sets, the same refusals,
    /// the same budget adopted.
    #[test]
    fn the_plan_says_what_the_pools_do(
        budget_mib in prop::option::of(1u32..400),
        free_mib in 8usize..300,
        fixed in 0usize..(20 * MIB),
        vxworks in any::<bool>(),
        pools in prop::collection::vec(
            ((16 * KIB)..(4 * MIB), (16 * KIB)..(4 * MIB), 1usize..60), 1..4),
    ) {
        let site = Site {
            target: if vxworks { Target::VxWorks } else { Target::Rtems },
            threads: Threads::Std,
            memory: Some(Memory {
                free: free_mib * MIB,
                one_piece: free_mib * MIB,
                for_one_more: 0,
            }),
            budget_mib,
            fixed,
            descriptors: None,
        };
        let plans: Vec<_> = pools.iter().map(|&(a, b, n)| planned([a, b], n)).collect();
        let filled = site.fill(&plans);

        let overhead = site.overhead_bytes();
        let target = SimulatedTarget::new(Profile {
            charged_overhead: overhead,
            true_overhead: overhead,
            ..Profile::new(site.target, free_mib * MIB)
        });
        let crew = boot(target, budget_mib.map_or(Budget::Default, Budget::Mib));
        let usage = crew.account_usage().unwrap();
        prop_assert_eq!((usage.budget, usage.verdict), site.budget());
        let _charge = crew.charge(fixed).unwrap();
        let open: Vec<_> = pools.iter().map(|&(a, b, n)| open_pair(crew, [a, b], n)).collect();
        let mut lent = Vec::new();
        let mut refusals = vec![None; open.len()];
        while refusals.contains(&None) {
            for (pool, refused) in open.iter().zip(&mut refusals).filter(|(_, r)| r.is_none()) {
                match pool.acquire(0) {
                    Ok(borrowed) => lent.push(borrowed),
                    Err(error) => *refused = Some(refusal_of(error).kind()),
                }
            }
        }
        let sets: Vec<_> = open.iter().map(|p| p.usage().unwrap().created as usize).collect();
        prop_assert_eq!(&sets, &filled.iter().map(|f| f.sets).collect::<Vec<_>>());
        for (refused, filled) in refusals.into_iter().flatten().zip(&filled) {
            let expected: &[RefusalKind] = match filled.ended_by {
                Bound::Capacity => &[RefusalKind::AtCapacity],
                Bound::Account => &[RefusalKind::OutOfReservation],
                Bound::Memory => &[RefusalKind::TargetMemory, RefusalKind::SpawnFailed],
                Bound::Descriptors => &[],
            };
            prop_assert!(expected.contains(&refused), "{refused:?}, {filled:?}");
        }
        if let [plan] = &plans[..] {
            prop_assert_eq!(site.bounds(plan)[0], (filled[0].sets, filled[0].ended_by));
        }
    }

    /// The simulated memory loses nothing, hands out nothing twice, and is one piece again at the
    /// end.
    #[test]
    fn simulated_memory_is_exact(
        sizes in prop::collection::vec(1usize..5_000, 1..200),
        order in any::<u64>(),
    ) {
        let whole = 100_000;
        let mut memory = FreeList::new(&[whole], 8);
        let mut taken: Vec<(Block, usize)> = Vec::new();
        let mut used = 0;
        for (n, &bytes) in sizes.iter().enumerate() {
            if order >> (n % 64) & 1 == 1 && !taken.is_empty() {
                let (block, cost) = taken.swap_remove(n * 7 % taken.len());
                memory.give_back(block);
                used -= cost;
            }
            let cost = bytes.next_multiple_of(8) + 8;
            let had = memory.largest() >= cost;
            match memory.take(bytes) {
                Some(block) => {
                    prop_assert!(had);
                    taken.push((block, cost));
                    used += cost;
                }
                None => prop_assert!(!had),
            }
            prop_assert_eq!(memory.total(), whole - used);
        }
        taken.into_iter().for_each(|(block, _)| memory.give_back(block));
        prop_assert_eq!((memory.total(), memory.largest()), (whole, whole));
    }
}
