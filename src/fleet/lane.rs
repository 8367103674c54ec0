// SPDX-License-Identifier: MIT OR Apache-2.0
//! Joining and leaving: a process' lane in the table, and the lives that follow each other in it.

use super::geometry::{BOOTS, LANES_USED, LIFE, NAME_WORDS, PROCESS, RESETTER, SLOTS_USED};
use super::id::{INCARNATION_MAX, Life};
use super::words::{SeqCst, swap, update};
use super::{Error, Hold, Table};
use crate::table::text;
use core::ops::Deref;

/// The most characters of a node's name.
pub const NAME_MAX: usize = NAME_WORDS * 4 - 1;

/// A node as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its life.
    pub life: Life,
    /// Whether that life goes on.
    pub hold: Hold,
    /// The name that it joined with.
    pub name: heapless::String<NAME_MAX>,
    /// The process number that it joined with.
    pub process: u32,
}

/// A member of the table: one life of one lane. Any number of threads may use it at once. Dropping
/// it leaves the table, as [`Self::leave`] does.
///
/// A child process that was forked and runs on without exec must not use its parent's node, and
/// holds its parent's lane while it lives.
#[derive(Debug)]
#[must_use = "dropping a node leaves the table, and closes what it owns"]
pub struct Node<'a> {
    table: Table<'a>,
    me: Life,
}

impl<'a> Deref for Node<'a> {
    type Target = Table<'a>;

    fn deref(&self) -> &Table<'a> {
        &self.table
    }
}

impl<'a> Table<'a> {
    /// Joins the table in the lane `node`, or in any free one. First takes back what an earlier
    /// life of the lane left.
    ///
    /// # Errors
    /// [`Error::NoLane`], [`Error::NoMoreLives`], [`Error::Resetting`].
    pub fn join(&self, node: Option<u16>) -> Result<Node<'a>, Error> {
        self.join_as(node, "", 0)
    }

    /// As [`Self::join`], with what reports call this node: a name of up to [`NAME_MAX`] printable
    /// ASCII characters (more are cut, others shown as `?`), and the system's number of this
    /// process.
    ///
    /// # Errors
    /// As [`Self::join`].
    pub fn join_as(&self, node: Option<u16>, name: &str, process: u32) -> Result<Node<'a>, Error> {
        let nodes = 0..self.geometry().nodes as u16;
        let free = match node {
            Some(node) => (nodes.contains(&node) && self.port.hold(node)).then_some(node),
            None => nodes.into_iter().find(|node| self.port.hold(*node)),
        };
        let node = free.ok_or(Error::NoLane)?;
        // From here on the lane is this process', and no other one begins a life in it.
        let result = self.begin_life(node, name, process);
        if result.is_err() {
            self.port.let_go(node);
        }
        result
    }

    /// The nodes that are in the table, in their lanes' order. A dead node is among them until
    /// another one finds it.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.region.lanes().filter_map(|lane| {
            let life = || self.region.lane(lane, LIFE).load(SeqCst);
            let incarnation = life();
            let node = lane as u16;
            let peer = Peer {
                life: Life { node, incarnation },
                name: text::read(self.region.name(lane), SeqCst),
                process: self.region.lane(lane, PROCESS).load(SeqCst),
                hold: self.port.look(node),
            };
            // Name and process are this life's if the life is still the same.
            (incarnation != 0 && life() == incarnation).then_some(peer)
        })
    }

    fn begin_life(&self, node: u16, name: &str, process: u32) -> Result<Node<'a>, Error> {
        let lane = usize::from(node);
        let life = self.region.lane(lane, LIFE);
        let before = life.load(SeqCst);
        // After a reset the numbers begin anew, and the lane's last life may have had this one:
        // take the next.
        let incarnation = match self.next_incarnation()? {
            next if next == before => self.next_incarnation()?,
            next => next,
        };
        // So that no reader takes the new name for the old life's.
        life.store(0, SeqCst);
        // A reader looks at the life again after it has read the two.
        let name = name.as_bytes();
        text::write(self.region.name(lane), &name[..name.len().min(NAME_MAX)], SeqCst);
        self.region.lane(lane, PROCESS).store(process, SeqCst);
        let joined = Node { table: *self, me: Life { node, incarnation } };
        // First the life, then the clearing up, so that others see that a life which goes on has
        // taken what this one takes over.
        life.store(incarnation, SeqCst);
        self.region.header(LANES_USED).fetch_max(u32::from(node) + 1, SeqCst);
        if let Err(error) = joined.live().map(|_| joined.clear_lane()) {
            life.store(0, SeqCst);
            core::mem::forget(joined);
            return Err(error);
        }
        Ok(joined)
    }

    fn next_incarnation(&self) -> Result<u32, Error> {
        let taken = update(self.region.header(BOOTS), |boots| match boots {
            0..INCARNATION_MAX => Ok(boots + 1),
            _ => Err(Error::NoMoreLives),
        })?;
        Ok(taken + 1)
    }

    /// Whether a life has ended. Asks the target only if the table does not say that it has.
    pub(super) fn is_over(&self, life: Life) -> bool {
        if u32::from(life.node) >= self.geometry().nodes {
            return true;
        }
        let current = self.region.lane(life.node.into(), LIFE).load(SeqCst);
        // In this order: a lane that is found free after the life in it was read was held by that
        // life or had been given up by it. The other way round a new life could have begun in
        // between.
        current != life.incarnation || self.port.look(life.node) == Hold::Free
    }
}

impl<'a> Node<'a> {
    /// Which life of which lane this is.
    pub fn life(&self) -> Life {
        self.me
    }

    /// The table without the membership.
    pub fn table(&self) -> Table<'a> {
        self.table
    }

    /// Leaves the table: closes everything that this node owns, as its death would.
    pub fn leave(self) {
        drop(self);
    }

    /// Checks that this life goes on, and answers the epoch in which it acts. First finishes a
    /// reset whose process has died.
    pub(super) fn live(&self) -> Result<u32, Error> {
        let mut epoch = self.epoch();
        if epoch & 1 != 0 {
            self.finish_reset()?;
            epoch = self.epoch();
            if epoch & 1 != 0 {
                return Err(Error::Resetting);
            }
        }
        self.is_mine().then_some(epoch).ok_or(Error::Ended)
    }

    fn is_mine(&self) -> bool {
        self.region.lane(self.me.node.into(), LIFE).load(SeqCst) == self.me.incarnation
    }

    /// Checks, after this node has published something, that neither its life nor the epoch has
    /// ended meanwhile. A thread that ends one of them says so first and then looks for what to
    /// take back: so it finds what was published, or the publisher finds the end here.
    pub(super) fn still(&self, epoch: u32) -> Result<(), Error> {
        if !self.is_mine() {
            Err(Error::Ended)
        } else if self.epoch() != epoch {
            Err(Error::Reset)
        } else {
            Ok(())
        }
    }

    /// Takes back what earlier lives left in this lane.
    fn clear_lane(&self) {
        let lane = self.me.node.into();
        for slot in self.region.slots(lane) {
            self.close_if_over(slot);
            self.tidy_entries(slot);
        }
        if self.region.lane(lane, SLOTS_USED).load(SeqCst) > 0 {
            self.tidy_executions(lane);
        }
    }

    /// The cell that the resetter claims while it resets the table.
    pub(super) fn resetter(&self) -> &'a super::words::AtomicU32 {
        self.region.header(RESETTER)
    }
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        self.end(self.me);
        // Only now: until here a peer that finds something of this life must see that it lives.
        swap(self.region.lane(self.me.node.into(), LIFE), self.me.incarnation, 0);
        self.port.let_go(self.me.node);
    }
}
