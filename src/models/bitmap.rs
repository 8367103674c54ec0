// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bitmap: a bit has one owner, and is never lost.

use super::explore::{explore, join, spawn};
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use crate::table::Bitmap;
use std::sync::Arc;

/// Slots in two leaves.
const LOW: usize = 3;
const HIGH: usize = 40;

#[test]
fn a_slot_is_claimed_by_one() {
    explore("a_slot_is_claimed_by_one", || {
        let bitmap = Arc::new(Bitmap::new());
        bitmap.put(LOW);
        bitmap.put(HIGH);
        // The explorer's own, so that others may come while a slot is owned.
        let owners = Arc::new([const { AtomicU32::new(0) }; Bitmap::BITS]);
        let part = |claim: fn(&Bitmap) -> Option<usize>| {
            let (bitmap, owners) = (bitmap.clone(), owners.clone());
            spawn(move || {
                if let Some(slot) = claim(&bitmap) {
                    assert_eq!(owners[slot].swap(1, Relaxed), 0, "two owners");
                    owners[slot].store(0, Relaxed);
                    bitmap.put(slot);
                }
            })
        };
        let lowest: fn(&Bitmap) -> Option<usize> = |bitmap| bitmap.claim_lowest(Bitmap::BITS);
        join([part(lowest), part(lowest), part(|bitmap| bitmap.claim(LOW).then_some(LOW))]);
        assert_eq!(bitmap.count(), 2, "nothing lost");
        assert_eq!(bitmap.unhinted(), 0, "the summary leads to every free slot");
    });
}

#[test]
fn a_slot_that_stays_free_is_found() {
    explore("a_slot_that_stays_free_is_found", || {
        let bitmap = Arc::new(Bitmap::new());
        bitmap.put(LOW);
        let other = bitmap.clone();
        // Takes the only slot of the leaf, finds the leaf empty, and clears its hint; meanwhile the
        // leaf gets another one.
        let claimer = spawn(move || {
            assert!(other.claim_lowest(Bitmap::BITS).is_some());
            other.claim_lowest(Bitmap::BITS);
            other.put(LOW);
        });
        bitmap.put(LOW + 1);
        join([claimer]);
        assert_eq!(bitmap.unhinted(), 0, "the summary leads to every free slot");
        assert!(bitmap.claim_lowest(Bitmap::BITS).is_some());
    });
}
