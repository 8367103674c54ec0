// SPDX-License-Identifier: MIT OR Apache-2.0
//! The test steps a process, instruction by instruction, into the middle of an operation and kills
//! it there. Survivors then have to go on with what it left.
//!
//! The process stops itself before and after the operation. The test first counts the instructions
//! between the two, once for each operation; the seed then decides where it kills each of the
//! processes.

use super::{GEOMETRY, KEY, Peer, Place};
use crew::fleet::{Counted, Key, Limits, Node, Plan, Table, TableFigures, local_first};
use std::time::{SystemTime, UNIX_EPOCH};

const OTHER: Key = Key(0xbeef);

/// The operations in whose middle a process is killed. Each is run by a process that has just
/// prepared what it needs.
const OPERATIONS: [&str; 13] = [
    "join",
    "leave",
    "register",
    "unregister",
    "drain",
    "reserve",
    "accept",
    "complete",
    "reconcile",
    "claim",
    "finish",
    "sweep",
    "reset",
];

fn stop() {
    // SAFETY: a plain call; the parent, which traces this process, lets it go on.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// The process to be killed: prepares, stops, does the operation, stops.
pub fn die_in(table: &Table<'_>, operation: &str) {
    // SAFETY: a plain call; from here on the parent steps this process.
    unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
    if operation == "join" {
        stop();
        let node = table.join(None);
        stop();
        drop(node);
        return;
    }
    let node = table.join(None).expect("a lane");
    let theirs = node.candidates(KEY).next().expect("the survivor's").id;
    let mine = node.register(OTHER, 2).expect("room");
    let lease = node.reserve(mine).expect("room");
    let execution = node.accept(&node.reserve(mine).expect("room")).expect("reserved");
    let claim = node.claim_create(OTHER, 9).expect("room").into_claim();
    let counted = Counted { table: 1, really: 0 };
    stop();
    let _ = match operation {
        "leave" => {
            node.leave();
            stop();
            return;
        }
        "register" => node.register(OTHER, 3).map(|_| ()),
        "unregister" => node.unregister(mine),
        "drain" => node.drain(mine),
        "reserve" => node.reserve(theirs).map(|_| ()),
        "accept" => node.accept(&lease).map(|_| ()),
        "complete" => node.complete(execution),
        "reconcile" => node.reconcile(mine, counted, 0).map(|_| ()),
        "claim" => node.claim_create(KEY, 9).map(core::mem::forget),
        "finish" => node.finish(claim),
        "sweep" => node.sweep().map(|_| ()),
        "reset" => node.reset_all(),
        other => panic!("no such operation: {other}"),
    };
    stop();
}

/// Waits until the traced process stops or ends. Answers the signal that it stopped with.
fn wait(pid: libc::pid_t) -> Option<i32> {
    let mut status = 0;
    // SAFETY: the status is ours, and the process a child of ours.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    libc::WIFSTOPPED(status).then(|| libc::WSTOPSIG(status))
}

fn trace(request: libc::c_uint, pid: libc::pid_t) {
    // SAFETY: the process is stopped and traced by this thread.
    assert_eq!(unsafe { libc::ptrace(request, pid, 0, 0) }, 0, "ptrace");
}

/// Steps the process from its first stop to its second, but at most `limit` instructions. Answers
/// how many those were.
fn step(pid: libc::pid_t, limit: u64) -> u64 {
    let mut steps = 0;
    while steps < limit {
        trace(libc::PTRACE_SINGLESTEP, pid);
        match wait(pid) {
            Some(libc::SIGTRAP) => steps += 1,
            Some(libc::SIGSTOP) => break,
            other => panic!("the process stopped with {other:?} after {steps} instructions"),
        }
    }
    steps
}

/// A process that has stopped before its operation.
fn prepared(place: &Place, operation: &str) -> (Peer, libc::pid_t) {
    let peer = place.start(&format!("die in {operation}"));
    let pid = peer.child.id() as libc::pid_t;
    assert_eq!(wait(pid), Some(libc::SIGSTOP), "{operation}: it prepares");
    (peer, pid)
}

/// Checks what the survivors find after so many deaths: everything sums up, and all goes on.
fn survive(table: &Table<'_>, node: &Node<'_>, deaths: u32, what: &str) {
    // First the calls that find the remains by themselves, then a sweep.
    assert_eq!(node.candidates(OTHER).count(), 0, "{what}: what it owned has ended");
    let budget = node.budget(OTHER).expect(what);
    assert_eq!((budget.live, budget.creating), (0, 0), "{what}");
    let mine = match node.candidates(KEY).next() {
        Some(member) => member.id,
        // The process died in a reset, or after it.
        None => node.register(KEY, 4).expect(what),
    };
    node.sweep().expect(what);
    let figures = table.audit().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(figures.reserved <= deaths, "{what}: a reservation of each, at most");
    let expected = TableFigures { lives: 1, resources: 1, ..TableFigures::default() };
    assert_eq!(TableFigures { reserved: 0, ..figures }, expected, "{what}");
    // The dead process' reservation of this node's resource ends with the grace, and then all the
    // room is free again.
    let free = node.candidates(KEY).next().expect(what).free;
    let leases: Vec<_> = (0..free).map(|_| node.reserve(mine).expect(what)).collect();
    for lease in leases {
        let execution = node.accept(&lease).expect(what);
        node.complete(execution).expect(what);
    }
    let begun = std::time::Instant::now();
    while node.candidates(KEY).next().expect(what).free < 4 {
        node.reconcile(mine, Counted { table: 0, really: 0 }, 0).expect(what);
        assert!(begun.elapsed().as_secs() < 60, "{what}: the clock stands still");
        std::thread::yield_now();
    }
    let limits = Limits { max_live: 1, attempts: 1 };
    match node.acquire(OTHER, limits, local_first).expect(what) {
        Plan::Create(permit) => drop(permit),
        other => panic!("{what}: {other:?}"),
    }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

pub fn a_process_killed_in_the_middle_of_each_operation_loses_nothing() {
    let kills = setting("CREW_FLEET_KILLS").unwrap_or(50);
    let clock =
        || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    let seed = setting("CREW_FLEET_SEED").unwrap_or_else(clock);
    println!("kills: {kills}, CREW_FLEET_SEED={seed}");
    let mut state = seed;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let place = Place::new("kills");
    let table = place.shared.table().expect("opens");
    let node = table.join(None).expect("a lane");
    node.register(KEY, 4).expect("room");
    let lengths = OPERATIONS.map(|operation| {
        let (peer, pid) = prepared(&place, operation);
        let length = step(pid, u64::MAX);
        peer.kill();
        survive(&table, &node, 1, operation);
        length
    });
    let mut deaths = 0;
    for n in 0..kills {
        let which = n as usize % OPERATIONS.len();
        let (peer, pid) = prepared(&place, OPERATIONS[which]);
        let at = random(lengths[which]);
        let steps = step(pid, at);
        peer.kill();
        deaths += 1;
        // Every other time, by chance, the survivors do not look yet: then the next process finds
        // what this one left, and may be killed while it takes that back. After a reset they always
        // look, because the next process could not prepare itself.
        if OPERATIONS[which] == "reset" || n + 1 == kills || random(2) == 0 {
            let (name, length) = (OPERATIONS[which], lengths[which]);
            let what = format!("{deaths} killed, the last in {name} after {steps} of {length}");
            survive(&table, &node, deaths, &what);
            deaths = 0;
        }
    }
    let lengths = OPERATIONS.iter().zip(lengths).map(|(name, length)| format!("{name} {length}"));
    println!("instructions: {}", lengths.collect::<Vec<_>>().join(", "));
    assert_eq!(table.geometry(), GEOMETRY);
}
