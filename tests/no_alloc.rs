// SPDX-License-Identifier: MIT OR Apache-2.0
//! P1: acquiring an idle set, running, joining and releasing allocate nothing, on any thread. This
//! program has its own allocator, which counts, and so only this one test.

mod common;

use crew::{Budget, shim};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, SeqCst);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.fetch_add(1, SeqCst);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// Known defect: every dispatch allocated (a box, blocks of a channel).
#[test]
fn borrowing_and_running_allocate_nothing() {
    let crew = common::boot(&shim::PORT, Budget::Default);
    let pool = common::open::<3>(crew, 2);
    let cycle = |n: i32| {
        let (lease, [a, b, c]) = pool.acquire(0).unwrap();
        let jobs = [a.run("a", move || n), b.run("b", move || n + 1), c.run("c", || 0)];
        let values = jobs.map(|job| job.unwrap().join(20_000).unwrap().value);
        assert_eq!(values, [n, n + 1, 0]);
        drop(lease);
    };
    (0..10).for_each(cycle); // the set is made, and std's thread-locals are
    let before = CALLS.load(SeqCst);
    (0..10_000).for_each(cycle);
    assert_eq!(CALLS.load(SeqCst), before);
}
