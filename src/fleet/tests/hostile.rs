// SPDX-License-Identifier: MIT OR Apache-2.0
//! A region that another process scribbles over gives errors, never a panic or an endless loop.

use super::*;
use crate::fleet::{Claim, Counted, Execution, FleetLease, Id, Life, Limits, local_first};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// Every operation once, with handles that are good, and with forged ones.
fn everything(node: &Node<'_>, forged: u64) {
    let key = Key(u128::from(forged) << 64 | u128::from(forged));
    for key in [KEY, key] {
        let id = node.register(key, 3);
        let _ = node.candidates(key).count();
        let _ = node.budget(key);
        let _ = node.version(key);
        let _ = node.wait(key, 0, 0);
        drop(node.claim_create(key, 2));
        drop(node.acquire(key, Limits { max_live: 2, attempts: 2 }, local_first));
        for id in [id.unwrap_or(Id::from_bits(forged)), Id::from_bits(forged)] {
            let lease = node.reserve(id);
            let forged = FleetLease { id, fence: forged, holder: node.life() };
            for lease in [lease.unwrap_or(forged), forged] {
                let _ = node.is_current(&lease);
                let execution = node.accept(&lease);
                let _ = execution.map(|execution| node.complete(execution));
            }
            let _ = node.reserve(id);
            let _ = node.active(id);
            let _ = node.reconcile(id, Counted { table: 1, really: 2 }, 0);
            let _ = node.drain(id);
            let _ = node.unregister(id);
        }
    }
    let _ = node.complete(Execution::from_bits(forged));
    let _ = node.finish(Claim::from_bits(forged));
    let _ = node.owners(&mut [node.life(); 2]);
    let _ = node.node_dead(Life { node: forged as u16, incarnation: (forged >> 16) as u32 });
    let _ = node.watch();
    let _ = node.audit();
    let _ = node.sweep();
}

/// A handle of this table's kind more often than not.
fn handles() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0..3u64, 0..5u64, 0..5u64, 0..4u64).prop_map(|(what, node, index, n)| what << 62
            | 7 << 56
            | node << 46
            | index << 30
            | n),
    ]
}

/// Words as they could be in a table, and any others.
fn scribbles() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        Just(u32::MAX),
        0..16u32,
        any::<u32>(),
        any::<u32>().prop_map(|w| 1 << 30 | w & 0xff_ffff)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(often(48)))]

    #[test]
    fn a_region_of_random_words_gives_errors(
        random in prop::collection::vec(scribbles(), SMALL.words().unwrap()), forged in handles(),
    ) {
        let world = World::new(SMALL);
        let node = world.join();
        // The header too: an opened table reads its geometry no more.
        for (word, value) in world.words.iter().zip(&random) {
            word.store(*value, SeqCst);
        }
        everything(&node, forged);
        let _ = node.reset_all();
        everything(&node, forged);
        // The same with a life that the table knows.
        let life = node.region.lane(node.life().node.into(), crate::fleet::geometry::LIFE);
        life.store(node.life().incarnation, SeqCst);
        node.region.header(crate::fleet::geometry::EPOCH).store(2, SeqCst);
        everything(&node, forged);
        let _ = node.reset_all();
        drop(node);
        let _ = Table::open(&world.words, SMALL, &world.desk).map(|table| table.join(None).is_ok());
    }

    #[test]
    fn a_table_with_a_few_words_scribbled_over_goes_on(
        scribbled in prop::collection::vec((9..SMALL.words().unwrap(), scribbles()), 1..40),
        forged in handles(),
    ) {
        let world = World::new(SMALL);
        let (one, two) = (world.join(), world.join());
        let id = one.register(KEY, 3).unwrap();
        let _ = one.accept(&two.reserve(id).unwrap());
        let _ = two.reserve(id);
        let permit = two.claim_create(KEY, 9).unwrap();
        for (word, value) in scribbled {
            world.words[word].store(value, SeqCst);
        }
        everything(&one, forged);
        everything(&two, id.bits());
        drop(permit);
        let _ = one.reset_all();
        everything(&two, forged);
    }
}

#[test]
fn a_peer_that_scribbles_all_the_time_keeps_nobody() {
    let world = World::new(SMALL);
    let node = world.join();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = 1_u32;
            while !stop.load(SeqCst) {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let word = 9 + (random >> 8) as usize % (world.words.len() - 9);
                world.words[word].store(random.rotate_left(7), SeqCst);
            }
        });
        for n in 0..u64::from(often(50)) {
            everything(&node, n << 30 | 7 << 56);
        }
        stop.store(true, SeqCst);
    });
}
