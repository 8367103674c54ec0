// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests, and the other processes that they start.

#[path = "child.rs"]
mod child;
#[path = "kill.rs"]
mod kill;

use crew::fleet::{Counted, Error, FleetPort, Geometry, Hold, Key, TableError, TableFigures, Wait};
use crew::shim::fleet::{Shared, SharedError};
use crew::shim::readiness::Readiness;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::panic::catch_unwind;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

pub const KEY: Key = Key(0xfee1_600d);
pub const LONG_MS: u32 = 300_000;
pub const GEOMETRY: Geometry =
    Geometry { kind: 3, nodes: 4, resources: 4, executions: 64, keys: 4 };

/// A table of its own for one test.
pub struct Place {
    pub name: String,
    pub shared: Shared,
}

impl Place {
    pub fn new(test: &str) -> Self {
        let name = format!("crew-test-{}-{test}", std::process::id());
        let _ = Shared::unlink(&name);
        let shared = Shared::open(&name, GEOMETRY, 0o600).expect("shared memory");
        Self { name, shared }
    }

    /// Starts another process in this role; it says "ready" first.
    pub fn start(&self, role: &str) -> Peer {
        let mut child = Command::new("/proc/self/exe")
            .env(child::ROLE, role)
            .env(child::NAME, &self.name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Peer { child, input, output }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = Shared::unlink(&self.name);
    }
}

pub struct Peer {
    pub child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    pub fn read(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    pub fn write(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("it reads");
    }

    pub fn expect(&mut self, line: &str) {
        assert_eq!(self.read(), line);
    }

    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn two_processes_share_capacity_exactly() {
    const CAPACITY: u32 = 5;
    let place = Place::new("capacity");
    let table = place.shared.table().unwrap();
    let node = table.join(None).unwrap();
    for _ in 0..20 {
        let id = node.register(KEY, CAPACITY).unwrap();
        let mut peers = [place.start("reserve"), place.start("reserve")];
        for peer in &mut peers {
            peer.expect("ready");
        }
        for peer in &mut peers {
            peer.write(&id.to_string());
        }
        let granted = peers.iter_mut().map(|peer| peer.read().parse::<u32>().unwrap());
        assert_eq!(granted.sum::<u32>(), CAPACITY);
        assert_eq!(node.candidates(KEY).next().unwrap().reserved, CAPACITY);
        node.unregister(id).unwrap();
    }
}

fn a_peer_of_another_geometry_is_refused() {
    let place = Place::new("geometry");
    let mut peer = place.start("other geometry");
    peer.expect("other keys");
    let before: Vec<u32> = place
        .shared
        .words()
        .iter()
        .map(|word| word.load(std::sync::atomic::Ordering::SeqCst))
        .collect();
    for geometry in [Geometry { nodes: 9, ..GEOMETRY }, Geometry { resources: 1, ..GEOMETRY }] {
        let opened = Shared::open(&place.name, geometry, 0o600);
        assert!(
            matches!(opened, Err(SharedError::Table(TableError::OtherGeometry(_)))),
            "{opened:?}"
        );
    }
    let after =
        place.shared.words().iter().map(|word| word.load(std::sync::atomic::Ordering::SeqCst));
    assert!(after.eq(before), "and nothing was written");
}

fn a_lease_travels_to_the_process_that_owns_the_resource() {
    let place = Place::new("travel");
    let table = place.shared.table().unwrap();
    let node = table.join(None).unwrap();
    let mut owner = place.start("owner");
    owner.expect("ready");
    let member = node.candidates(KEY).next().expect("it has registered");
    assert!(!member.local);
    for _ in 0..100 {
        let lease = node.reserve(member.id).unwrap();
        assert_eq!(node.reserve(member.id), Err(Error::Busy));
        assert_eq!(node.accept(&lease), Err(Error::NotOwner));
        let since = node.version(KEY);
        owner.write(&format!("{} {}", lease.id, lease.fence));
        owner.expect("accepted");
        // The owner completes when it likes, and that wakes the waiters in other processes.
        owner.write("complete");
        let woken = node.wait(KEY, since, LONG_MS).unwrap();
        assert!(matches!(woken, Wait::Changed(_)), "{woken:?}");
        owner.expect("completed");
    }
}

fn a_killed_owner_is_noticed_by_whoever_meets_what_it_owned() {
    let place = Place::new("killed-owner");
    let table = place.shared.table().unwrap();
    let node = table.join(None).unwrap();
    let mut owner = place.start("owner");
    owner.expect("ready");
    let member = node.candidates(KEY).next().expect("it has registered");
    assert_eq!(node.node_dead(member.owner), Err(Error::Alive));
    let lease = node.reserve(member.id).unwrap();
    assert_eq!(place.shared.look(member.owner.node), Hold::Held);
    owner.kill();
    assert_eq!(place.shared.look(member.owner.node), Hold::Free);
    assert_eq!(node.candidates(KEY).count(), 0);
    assert!(!node.is_current(&lease));
    assert_eq!(table.audit(), Ok(TableFigures { lives: 1, ..TableFigures::default() }));
}

fn claims_hold_the_fleet_under_max_live_in_many_processes() {
    let place = Place::new("claims");
    let table = place.shared.table().unwrap();
    let node = table.join(None).unwrap();
    let mut peers = [0; 3].map(|_| place.start("claim"));
    for peer in &mut peers {
        peer.expect("ready");
    }
    for round in 0..50 {
        for peer in &mut peers {
            peer.write("claim");
        }
        let granted = peers.iter_mut().map(|peer| peer.read().parse::<u32>().unwrap()).sum::<u32>();
        assert_eq!(granted, 3, "round {round}");
        assert_eq!(node.budget(KEY).unwrap().creating, 3);
        for peer in &mut peers {
            peer.write("finish");
            peer.expect("finished");
        }
    }
    for peer in peers {
        peer.kill();
    }
    assert_eq!(node.sweep().unwrap().lives, 3);
    assert_eq!(table.audit(), Ok(TableFigures { lives: 1, ..TableFigures::default() }));
}

fn one_process_has_a_lane_once_and_its_death_frees_it() {
    let place = Place::new("lanes");
    let table = place.shared.table().unwrap();
    let mine = table.join(Some(0)).unwrap();
    assert_eq!(table.join(Some(0)).unwrap_err(), Error::NoLane);
    let other_mapping = Shared::open(&place.name, GEOMETRY, 0o600).unwrap();
    assert_eq!(other_mapping.table().unwrap().join(Some(0)).unwrap_err(), Error::NoLane);
    assert_eq!(other_mapping.look(0), Hold::Held);
    let mut owner = place.start("owner");
    owner.expect("ready");
    assert_eq!(table.join(Some(1)).unwrap_err(), Error::NoLane);
    owner.kill();
    let second = table.join(Some(1)).unwrap();
    assert_eq!(second.candidates(KEY).count(), 0, "what the dead one had was cleared");
    mine.leave();
    assert_eq!(place.shared.look(0), Hold::Free);
    assert_eq!(place.shared.look(1), Hold::Held);
}

fn names_are_checked() {
    for name in ["", "/", "a/b", "//a", ".", "..", "nul\0", &"x".repeat(201)] {
        assert!(matches!(Shared::open(name, GEOMETRY, 0o600), Err(SharedError::BadName)), "{name}");
    }
}

fn an_owner_reconciles_what_a_killed_user_reserved() {
    let place = Place::new("vanished");
    let table = place.shared.table().unwrap();
    let node = table.join(None).unwrap();
    let id = node.register(KEY, 3).unwrap();
    let mut user = place.start("reserve");
    user.expect("ready");
    user.write(&id.to_string());
    user.expect("3");
    user.kill();
    node.sweep().unwrap();
    assert_eq!(node.reserve(id), Err(Error::Busy), "a caller that vanished changes nothing");
    // Older than the grace as soon as the clock has moved.
    let begun = std::time::Instant::now();
    let mut aged = 0;
    while aged < 3 {
        aged += node.reconcile(id, Counted { table: 0, really: 0 }, 0).unwrap().aged;
        assert!(begun.elapsed().as_secs() < 60, "the clock stands still");
        std::thread::yield_now();
    }
    assert!(node.reserve(id).is_ok());
}

/// Whether the descriptor is readable within `timeout_ms`.
fn readable(readiness: &Readiness, timeout_ms: i32) -> bool {
    let fd = readiness.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd of ours.
    let ready = unsafe { libc::poll(&raw mut poll, 1, timeout_ms) };
    assert!(ready >= 0, "poll");
    ready == 1
}

fn a_descriptor_is_readable_after_a_change_in_another_process() {
    let place = Place::new("readiness");
    let shared = Arc::new(Shared::open(&place.name, GEOMETRY, 0o600).unwrap());
    let table = place.shared.table().unwrap();
    let node = table.join(None).unwrap();
    let mut owner = place.start("owner");
    owner.expect("ready");
    let id = node.candidates(KEY).next().expect("it has registered").id;
    let readiness = Readiness::new(shared).unwrap();
    for round in 0..100 {
        let lease = node.reserve(id).unwrap();
        owner.write(&format!("{} {}", lease.id, lease.fence));
        owner.expect("accepted");
        readiness.clear().unwrap();
        assert_eq!(node.reserve(id), Err(Error::Busy), "the try");
        if round % 2 == 0 {
            // The change comes between the try and the wait.
            owner.write("complete");
            owner.expect("completed");
            assert!(readable(&readiness, LONG_MS as i32));
        } else {
            owner.write("complete");
            assert!(readable(&readiness, LONG_MS as i32));
            owner.expect("completed");
        }
    }
    drop(readiness); // and its thread ends
}

pub fn main() {
    if let Ok(role) = std::env::var(child::ROLE) {
        return child::run(&role);
    }
    let tests: [(&str, fn()); 10] = [
        ("names_are_checked", names_are_checked),
        ("two_processes_share_capacity_exactly", two_processes_share_capacity_exactly),
        ("a_peer_of_another_geometry_is_refused", a_peer_of_another_geometry_is_refused),
        (
            "a_lease_travels_to_the_process_that_owns_the_resource",
            a_lease_travels_to_the_process_that_owns_the_resource,
        ),
        (
            "a_killed_owner_is_noticed_by_whoever_meets_what_it_owned",
            a_killed_owner_is_noticed_by_whoever_meets_what_it_owned,
        ),
        (
            "claims_hold_the_fleet_under_max_live_in_many_processes",
            claims_hold_the_fleet_under_max_live_in_many_processes,
        ),
        (
            "one_process_has_a_lane_once_and_its_death_frees_it",
            one_process_has_a_lane_once_and_its_death_frees_it,
        ),
        (
            "an_owner_reconciles_what_a_killed_user_reserved",
            an_owner_reconciles_what_a_killed_user_reserved,
        ),
        (
            "a_descriptor_is_readable_after_a_change_in_another_process",
            a_descriptor_is_readable_after_a_change_in_another_process,
        ),
        (
            "a_process_killed_in_the_middle_of_each_operation_loses_nothing",
            kill::a_process_killed_in_the_middle_of_each_operation_loses_nothing,
        ),
    ];
    // As with the standard runner: only the tests whose names contain one of the arguments.
    let only: Vec<_> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let chosen =
        |name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let mut failed = 0;
    let mut passed = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| chosen(name)) {
        // The panic has printed what failed, and where.
        if catch_unwind(test).is_ok() {
            println!("ok {name}");
            passed += 1;
        } else {
            println!("FAILED {name}");
            failed += 1;
        }
    }
    println!("{passed} passed, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}
