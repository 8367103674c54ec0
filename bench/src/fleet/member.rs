// SPDX-License-Identifier: MIT OR Apache-2.0
//! A member of the fleet's table, with what the contests need of it.

use crew::fleet::{Execution, FleetLease, Geometry, Id, Key, MAX_CAPACITY, Node, Table, Wait};
use crew::shim::fleet::Shared;

pub const LONG_MS: u32 = 60_000;

pub const GEOMETRY: Geometry =
    Geometry { kind: 9, nodes: 4, resources: 4, executions: 1024, keys: 16 };

/// The table in shared memory of a name of its own: as another process has it, each time it is
/// opened.
pub struct Place {
    name: String,
    geometry: Geometry,
}

impl Place {
    pub fn new(name: &str, geometry: Geometry) -> Self {
        let name = format!("crew-bench-{}-{name}", std::process::id());
        Self { name, geometry }
    }

    pub fn open(&self) -> Shared {
        Shared::open(&self.name, self.geometry, 0o600).expect("shared memory")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = Shared::unlink(&self.name);
    }
}

/// Which side's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Leader,
    Partner,
}

/// One side's node, with a resource to lend and one whose completes ring.
pub struct Member<'a> {
    pub node: Node<'a>,
    pub lent: Id,
    rings: Id,
    /// The key that the other side's completes ring.
    rung: Key,
}

fn lent(side: Side) -> Key {
    Key(1 + side as u128)
}

fn bell(side: Side) -> Key {
    Key(3 + side as u128)
}

impl<'a> Member<'a> {
    pub fn join(table: &Table<'a>, side: Side) -> Self {
        let node = table.join(None).expect("a lane");
        let lent = node.register(lent(side), 8).expect("room");
        let rings = node.register(bell(side), MAX_CAPACITY).expect("room");
        let other = if side == Side::Leader { Side::Partner } else { Side::Leader };
        Self { node, lent, rings, rung: bell(other) }
    }

    /// What `side` lends.
    pub fn of(&self, side: Side) -> Id {
        self.node.candidates(lent(side)).next().expect("it is there").id
    }

    pub fn serve(&self, lease: &FleetLease) {
        let execution = self.node.accept(lease).expect("reserved");
        self.complete(execution);
    }

    pub fn complete(&self, execution: Execution) {
        self.node.complete(execution).expect("at work");
    }

    /// So many units at work, whose completes ring.
    pub fn begin_work(&self, count: u32) -> Vec<Execution> {
        let begin = || self.node.accept(&self.node.reserve(self.rings).expect("room"));
        (0..count).map(|_| begin().expect("reserved")).collect()
    }

    /// Waits for the other side's rings until `done`.
    pub fn wait_until(&self, done: impl Fn() -> bool) {
        loop {
            let since = self.node.version(self.rung);
            if done() {
                return;
            }
            let end = self.node.wait(self.rung, since, LONG_MS).expect("a place to wait");
            assert_ne!(end, Wait::TimedOut, "the other side is gone");
        }
    }
}
