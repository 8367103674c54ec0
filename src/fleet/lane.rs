// SPDX-License-Identifier: MIT OR Apache-2.0
//! Joining and leaving: a process' lane in the table, and which of its lives it is in.

use super::geometry::{BOOTS, LANES_USED, LIFE, NAME, NAME_WORDS, PROCESS, RESETTER, SLOTS_USED};
use super::id::{INCARNATION_MAX, Life};
use super::words::{SeqCst, swap, update};
use super::{Error, Hold, Table};
use core::ops::Deref;

/// The most characters of a node's name.
pub const NAME_MAX: usize = NAME_WORDS * 4 - 1;

/// A node as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its life.
    pub life: Life,
    /// Whether that goes on.
    pub hold: Hold,
    /// The name it joined with.
    pub name: heapless::String<NAME_MAX>,
    /// The process number it joined with.
    pub process: u32,
}

/// A member of the table: one life of one lane. Any number of threads may use it at once. Dropping it
/// leaves the table, as [`Self::leave`] does.
///
/// A child process that was forked and runs on without exec must not use its parent's node, and holds
/// its parent's lane while it lives.
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
    /// Joins the table in the lane `node`, or in any free one. What an earlier life of the lane left is
    /// taken back first.
    ///
    /// # Errors
    /// [`Error::NoLane`], [`Error::NoMoreLives`], [`Error::Resetting`].
    pub fn join(&self, node: Option<u16>) -> Result<Node<'a>, Error> {
        self.join_as(node, "", 0)
    }

    /// As [`Self::join`], and says to others who this is: a name of up to [`NAME_MAX`] printable ASCII
    /// characters (more are cut, others shown as `?`), and the system's number of this process.
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
        // From here on the lane is this process', and nobody else begins a life in it.
        let result = self.begin_life(node, name, process);
        if result.is_err() {
            self.port.let_go(node);
        }
        result
    }

    /// Needs: the lane is held, and no life is in it; who reads the name looks at the life again afterwards.
    fn write_name(&self, lane: usize, name: &str, process: u32) {
        let mut bytes = [0; NAME_WORDS * 4];
        for (to, from) in bytes[..NAME_MAX].iter_mut().zip(name.bytes()) {
            *to = from;
        }
        for (i, word) in bytes.chunks_exact(4).enumerate() {
            let word = word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
            self.region.lane(lane, NAME + i).store(word, SeqCst);
        }
        self.region.lane(lane, PROCESS).store(process, SeqCst);
    }

    fn read_name(&self, lane: usize) -> heapless::String<NAME_MAX> {
        let words = (0..NAME_WORDS).map(|i| self.region.lane(lane, NAME + i).load(SeqCst));
        let bytes = words.flat_map(u32::to_le_bytes).take(NAME_MAX).take_while(|byte| *byte != 0);
        // What comes from the region may be no text.
        bytes
            .map(|byte| if (b' '..=b'~').contains(&byte) { char::from(byte) } else { '?' })
            .collect()
    }

    /// The nodes that are in the table, in their lanes' order; also those that have died and that nobody has
    /// met yet.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.region.lanes().filter_map(|lane| {
            let life = || self.region.lane(lane, LIFE).load(SeqCst);
            let incarnation = life();
            let node = lane as u16;
            let peer = Peer {
                life: Life { node, incarnation },
                name: self.read_name(lane),
                process: self.region.lane(lane, PROCESS).load(SeqCst),
                hold: self.port.look(node),
            };
            // All of it is of one life if that is still the same.
            (incarnation != 0 && life() == incarnation).then_some(peer)
        })
    }

    fn begin_life(&self, node: u16, name: &str, process: u32) -> Result<Node<'a>, Error> {
        let lane = usize::from(node);
        let life = self.region.lane(lane, LIFE);
        let before = life.load(SeqCst);
        // After a reset the numbers begin anew: the one that stands there must not come again.
        let incarnation = match self.next_incarnation()? {
            next if next == before => self.next_incarnation()?,
            next => next,
        };
        // Not the old life with the new one's name.
        life.store(0, SeqCst);
        self.write_name(lane, name, process);
        let joined = Node { table: *self, me: Life { node, incarnation } };
        // First the life, then the clearing up: what this one takes over must be seen as taken by
        // somebody who lives.
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

    /// Whether a life has ended. Asks the target only if the table does not say so.
    pub(super) fn is_over(&self, life: Life) -> bool {
        if u32::from(life.node) >= self.geometry().nodes {
            return true;
        }
        let current = self.region.lane(life.node.into(), LIFE).load(SeqCst);
        // In this order: a lane that is found free after its life was read was that life's, or had
        // been given up by it.
        current != life.incarnation || self.port.look(life.node) == Hold::Free
    }
}

impl<'a> Node<'a> {
    /// Which life of which lane this is.
    pub fn life(&self) -> Life {
        self.me
    }

    /// The table, as anybody sees it.
    pub fn table(&self) -> Table<'a> {
        self.table
    }

    /// Leaves the table: closes all that this node owns, as its death would.
    pub fn leave(self) {
        drop(self);
    }

    /// Checks that this life may do something, and answers the epoch it does it in. A reset whose
    /// process died is finished first.
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

    /// What was just published stands only if nothing has ended meanwhile: whoever ends something says
    /// so first and then looks for what to take back.
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

    /// Whether this process is the one that resets the table.
    pub(super) fn resetter(&self) -> &'a super::words::AtomicU32 {
        self.region.header(RESETTER)
    }
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        self.end(self.me);
        // Only now: until here a peer that meets something of this life sees that it lives.
        swap(self.region.lane(self.me.node.into(), LIFE), self.me.incarnation, 0);
        self.port.let_go(self.me.node);
    }
}
