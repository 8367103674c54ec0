// SPDX-License-Identifier: MIT OR Apache-2.0
//! P1: no operation on a fleet's table allocates. This program has an allocator of its own, which
//! counts, and therefore only this one test.

use crew::fleet::{
    Candidate, Counted, Geometry, Image, Key, Life, Limits, Plan, Table, WaitSlot, local_first,
};
use crew::shim;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::AtomicU32;

struct Counting;

thread_local! {
    /// This thread's calls: the test runner's threads have their own count.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const GEOMETRY: Geometry = Geometry { kind: 1, nodes: 2, resources: 4, executions: 8, keys: 4 };
const WORDS: usize = GEOMETRY.words().unwrap();
/// A table in static memory, as an image without an operating system has it.
static MEMORY: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];
static SEATS: [WaitSlot; 2] = [const { WaitSlot::new() }; 2];
const KEY: Key = Key(42);

// Known defect: snapshots allocated.
#[test]
fn operations_on_the_table_allocate_nothing() {
    let image = Image::new(&shim::PORT, &SEATS).unwrap();
    let table = Table::open(&MEMORY, GEOMETRY, &image).unwrap();
    let cycle = || {
        let node = table.join(None).unwrap();
        let limits = Limits { max_live: 1, attempts: 2 };
        let Ok(Plan::Create(permit)) = node.acquire(KEY, limits, local_first) else {
            panic!("an empty key");
        };
        let id = node.register(KEY, 2).unwrap();
        drop(permit);
        let Ok(Plan::LocalReuse(lease)) = node.acquire(KEY, limits, local_first) else {
            panic!("it is there");
        };
        let first = node.candidates(KEY).next().unwrap();
        let mut candidates: [Candidate; 2] = [first; 2];
        assert_eq!(node.candidates_into(KEY, &mut candidates), 1);
        let mut owners: [Life; 2] = [node.life(); 2];
        assert_eq!(node.owners(&mut owners), 1);
        let execution = node.accept(&lease).unwrap();
        node.reconcile(id, Counted { table: 1, really: 1 }, 1000).unwrap();
        let since = node.version(KEY);
        node.wait(KEY, since, 1).unwrap();
        node.complete(execution).unwrap();
        node.budget(KEY).unwrap();
        node.drain(id).unwrap();
        node.sweep().unwrap();
        node.audit().unwrap();
        node.unregister(id).unwrap();
        node.reset_all().unwrap();
    };
    let grown = vec![1, 2, 3];
    drop(grown);
    assert!(CALLS.get() > 0, "it counts");
    let before = CALLS.get();
    (0..100).for_each(|_| cycle());
    assert_eq!(CALLS.get(), before);
}
