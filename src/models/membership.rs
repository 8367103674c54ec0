// SPDX-License-Identifier: MIT OR Apache-2.0
//! A membership: its content stays until the calls that use it have ended, and one leave ends it.

use super::explore::{explore, join, spawn};
use crate::fleet::membership::{Memberships, No};
use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;

/// Calls use it and a leave drops it: the explorer fails if it sees both at once.
struct Content {
    used: UnsafeCell<u32>,
    ended: Arc<AtomicU32>,
}

// SAFETY: calls look at `used`, and only the drop changes it, which is what the models check.
unsafe impl Sync for Content {}

impl Content {
    fn new(ended: &Arc<AtomicU32>) -> Self {
        Self { used: UnsafeCell::new(0), ended: ended.clone() }
    }

    fn use_it(&self) {
        // SAFETY: no thread changes it before the drop.
        assert_eq!(self.used.with(|used| unsafe { *used }), 0, "it has ended");
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        // SAFETY: the drop is the only user; the explorer fails if it is not.
        self.used.with_mut(|used| unsafe { *used = 1 });
        self.ended.fetch_add(1, Relaxed);
    }
}

type Slots = Memberships<Content, 1>;

fn open() -> (Arc<Slots>, Arc<AtomicU32>, u32) {
    let (slots, ended) = (Arc::new(Slots::new()), Arc::new(AtomicU32::new(0)));
    let (_, generation) = slots.claim().expect("it is free").open(Content::new(&ended));
    assert!(slots.claim().is_none(), "it is taken, and stays so");
    (slots, ended, generation)
}

/// A call. True: it was let in.
fn call(slots: &Slots, generation: u32) -> bool {
    match slots.enter(0, generation) {
        Ok(content) => {
            content.use_it();
            true
        }
        Err(no) => {
            assert_eq!(no, No::Stale, "one call more is never too many here");
            false
        }
    }
}

fn leave(slots: &Slots, generation: u32) -> Result<(), No> {
    slots.leave(0, generation, Content::use_it).map(drop)
}

#[test]
fn a_call_against_a_leave() {
    explore("a_call_against_a_leave", || {
        let (slots, ended, generation) = open();
        let caller = slots.clone();
        let other = spawn(move || {
            call(&caller, generation);
        });
        let left = leave(&slots, generation);
        join([other]);
        if left.is_err() {
            assert_eq!(left, Err(No::Busy));
            assert!(!call(&slots, generation), "no call enters after a leave");
            assert_eq!(leave(&slots, generation), Ok(()));
        }
        assert_eq!(ended.load(Relaxed), 1);
        assert_eq!(leave(&slots, generation), Err(No::Stale));
    });
}

#[test]
fn two_leave() {
    explore("two_leave", || {
        let (slots, ended, generation) = open();
        let second = slots.clone();
        let other = spawn(move || {
            let _ = leave(&second, generation);
        });
        let _ = leave(&slots, generation);
        join([other]);
        // Each may have found the other one inside.
        let _ = leave(&slots, generation);
        assert_eq!(ended.load(Relaxed), 1, "one of them ends it");
        assert_eq!(leave(&slots, generation), Err(No::Stale));
    });
}

#[test]
fn a_late_call_against_the_slots_next_membership() {
    explore("a_late_call_against_the_slots_next_membership", || {
        let (slots, ended, generation) = open();
        let caller = slots.clone();
        let other = spawn(move || {
            call(&caller, generation);
        });
        if leave(&slots, generation).is_ok() {
            let claimed = slots.claim().expect("it is free again");
            let (_, next) = claimed.open(Content::new(&ended));
            assert_ne!(next, generation);
            assert!(call(&slots, next));
            assert_eq!(leave(&slots, next), Ok(()), "the late call is not inside");
            assert_eq!(ended.load(Relaxed), 2);
        }
        join([other]);
    });
}

#[test]
fn a_slot_that_was_given_up_is_free() {
    explore("a_slot_that_was_given_up_is_free", || {
        let slots = Arc::new(Slots::new());
        let ended = Arc::new(AtomicU32::new(0));
        let part = || {
            let (slots, ended) = (slots.clone(), ended.clone());
            spawn(move || {
                if let Some(claimed) = slots.claim() {
                    let (_, generation) = claimed.open(Content::new(&ended));
                    assert_eq!(leave(&slots, generation), Ok(()));
                }
            })
        };
        let parts = [part(), part()];
        drop(slots.claim());
        join(parts);
        assert!(slots.claim().is_some(), "no thread holds it any more");
    });
}
