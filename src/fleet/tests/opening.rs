// SPDX-License-Identifier: MIT OR Apache-2.0
//! Geometry, and the contents that a region may have.

use super::*;
use crate::fleet::TableError;
use proptest::prelude::*;

fn try_open(world: &World, geometry: Geometry) -> Result<(), TableError> {
    Table::open(&world.words, geometry, &world.desk).map(|_| ())
}

#[test]
fn a_peer_of_another_geometry_is_refused() {
    let world = World::new(SMALL);
    let made = world.join();
    let id = made.register(KEY, 1).unwrap();
    for (geometry, what) in [
        (Geometry { kind: 8, ..SMALL }, "kind"),
        (Geometry { nodes: 5, ..SMALL }, "nodes"),
        (Geometry { resources: 8, ..SMALL }, "resources"),
        (Geometry { executions: 8, ..SMALL }, "executions"),
        (Geometry { keys: 2, ..SMALL }, "keys"),
    ] {
        assert_eq!(try_open(&world, geometry), Err(TableError::OtherGeometry(what)));
    }
    assert_eq!(try_open(&world, SMALL), Ok(()));
    assert!(made.reserve(id).is_ok(), "the table is as it was");
}

#[test]
fn what_is_no_table_of_ours_is_told_apart() {
    let world = World::new(SMALL);
    world.table();
    let magic = world.words[0].swap(77, SeqCst);
    assert_eq!(try_open(&world, SMALL), Err(TableError::NotATable));
    world.words[0].store(magic.swap_bytes(), SeqCst);
    assert_eq!(try_open(&world, SMALL), Err(TableError::OtherByteOrder));
    world.words[0].store(magic, SeqCst);
    world.words[1].fetch_add(1, SeqCst);
    assert_eq!(try_open(&world, SMALL), Err(TableError::OtherVersion));
    let short = &world.words[..world.words.len() - 1];
    world.words[1].fetch_sub(1, SeqCst);
    let bytes = SMALL.bytes().unwrap();
    let opened = Table::open(short, SMALL, &world.desk).map(|_| ());
    assert_eq!(opened, Err(TableError::TooSmall { bytes }));
    assert_eq!(
        Table::open(&[], SMALL, &world.desk).map(|_| ()),
        Err(TableError::TooSmall { bytes })
    );
}

#[test]
fn a_refused_peer_learns_what_the_table_was_made_with() {
    let world = World::new(SMALL);
    assert_eq!(Geometry::of_table(&world.words), Err(TableError::NotATable), "no peer made one");
    world.table();
    assert_eq!(Geometry::of_table(&world.words), Ok(SMALL));
    for words in 0..7 {
        let short = Geometry::of_table(&world.words[..words]);
        assert_eq!(short, Err(TableError::NotATable), "{words} words of it");
    }
    let magic = world.words[0].swap(77, SeqCst);
    assert_eq!(Geometry::of_table(&world.words), Err(TableError::NotATable));
    world.words[0].store(magic.swap_bytes(), SeqCst);
    assert_eq!(Geometry::of_table(&world.words), Err(TableError::OtherByteOrder));
    world.words[0].store(magic, SeqCst);
    world.words[1].fetch_add(1, SeqCst);
    assert_eq!(Geometry::of_table(&world.words), Err(TableError::OtherVersion));
    world.words[1].fetch_sub(1, SeqCst);
    world.words[5].store(3, SeqCst);
    assert_eq!(Geometry::of_table(&world.words), Err(TableError::NotATable), "no power of two");
}

#[test]
fn a_target_that_cannot_wait_is_refused() {
    let image = crate::fleet::Image::new(&crate::shim::PORT, &[]).unwrap();
    let world = World::new(SMALL);
    let opened = Table::open(&world.words, SMALL, &image).map(|_| ());
    assert_eq!(opened, Err(TableError::CannotWait));
    assert!(world.words.iter().all(|word| word.load(SeqCst) == 0), "and nothing was written");
}

#[test]
fn a_maker_that_died_midway_is_completed_by_the_next() {
    let whole = World::new(SMALL);
    whole.table();
    for written in 0..8 {
        let world = World::new(SMALL);
        for (to, from) in world.words.iter().zip(&whole.words).take(written) {
            to.store(from.load(SeqCst), SeqCst);
        }
        assert_eq!(try_open(&world, SMALL), Ok(()), "after {written} words");
        // A peer of another geometry cannot make its own table any more once that word was written.
        let other = try_open(&world, Geometry { keys: 8, ..SMALL });
        assert!(matches!(other, Err(TableError::OtherGeometry("keys"))), "{other:?}");
    }
}

#[test]
fn many_makers_at_once_make_one_table() {
    for _ in 0..often(50) {
        let world = World::new(SMALL);
        let other = Geometry { executions: 8, ..SMALL };
        let opened = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8)
                .map(|n| if n % 2 == 0 { SMALL } else { other })
                .map(|geometry| {
                    scope.spawn({
                        let world = &world;
                        move || (geometry, try_open(world, geometry))
                    })
                })
                .collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect::<Vec<_>>()
        });
        let won: Vec<_> = opened.iter().filter(|(_, result)| result.is_ok()).collect();
        assert!(!won.is_empty(), "one of them makes it");
        assert!(won.iter().all(|(geometry, _)| *geometry == won[0].0), "{opened:?}");
    }
}

#[test]
fn numbers_outside_their_bounds_are_refused() {
    for geometry in [
        Geometry { kind: 0, ..SMALL },
        Geometry { kind: 64, ..SMALL },
        Geometry { nodes: 0, ..SMALL },
        Geometry { nodes: 1025, ..SMALL },
        Geometry { resources: 3, ..SMALL },
        Geometry { resources: 1 << 17, ..SMALL },
        Geometry { executions: 0, ..SMALL },
        Geometry { keys: 6, ..SMALL },
    ] {
        assert_eq!(geometry.words(), None, "{geometry:?}");
        let world = World::new(SMALL);
        assert!(matches!(try_open(&world, geometry), Err(TableError::BadGeometry(_))));
    }
}

proptest! {
    // Every word of the table has one use: no two accessors give the same word.
    #[test]
    fn no_two_places_are_one_word(kind in 1..64u8, nodes in 1..4u32, resources in 0..4u32,
                                  executions in 0..5u32, keys in 0..4u32) {
        use crate::fleet::geometry::{Region, Slot};
        let geometry = Geometry {
            kind, nodes, resources: 1 << resources, executions: 1 << executions, keys: 1 << keys,
        };
        let world = World::new(geometry);
        let region = Region::open(&world.words, geometry).unwrap();
        let mut places = std::collections::BTreeSet::new();
        let mut place = |word: &AtomicU32| places.insert(core::ptr::from_ref(word).addr());
        for lane in 0..nodes as usize {
            for word in 0..4 { prop_assert!(place(region.lane(lane, word))); }
            for index in 0..geometry.resources as usize {
                let slot = Slot { lane, index };
                for word in [region.tenancy(slot), region.usage(slot), region.slot_key(slot)] {
                    prop_assert!(place(word));
                }
                for word in 0..5 { prop_assert!(place(region.slot(slot, word))); }
                for entry in 0..8 {
                    prop_assert!(place(region.entry(slot, entry)));
                    for word in 0..4 {
                        prop_assert!(place(region.beside_entry(slot, entry, word)));
                    }
                }
            }
            for cell in 0..geometry.executions as usize {
                for word in 0..4 { prop_assert!(place(region.execution(lane, cell, word))); }
            }
        }
        for key in 0..geometry.keys as usize {
            for word in 0..8 { prop_assert!(place(region.key(key, word))); }
            for cell in 0..8 {
                prop_assert!(place(region.permit(key, cell)));
                for word in 0..2 { prop_assert!(place(region.beside_permit(key, cell, word))); }
            }
        }
        for word in 0..17 { prop_assert!(place(region.header(word))); }
    }
}
