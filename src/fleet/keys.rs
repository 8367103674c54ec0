// SPDX-License-Identifier: MIT OR Apache-2.0
//! The key table, each key's count of changes, and waiting for a change.
//!
//! A writer installs its key in an entry part by part, each by one compare-and-swap from zero. If
//! it finds a part of another key it goes on to the next entry, otherwise it writes the parts that
//! are missing. So:
//!
//! - the parts in an entry are always the beginning of one key, that of the last writer;
//! - a key that a dead writer left unfinished is completed by the next writer whose key begins so;
//! - no key has two entries, because no writer passes an entry that fits its key so far.
//!
//! Looking a key up installs nothing.

use super::geometry::{CHANGES, KEY_VERSION, KEY_WATCHED, Slot, WATCHED};
use super::id::Key;
use super::words::{AtomicU32, SeqCst};
use super::{Error, Node, Table, port};

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Wait {
    /// The count has moved, and is now this.
    Changed(u32),
    /// The time is over.
    TimedOut,
}

/// The longest wait, in milliseconds: 24 days.
const WAIT_MAX_MS: u32 = i32::MAX as u32;

impl<'a> Table<'a> {
    fn chain(&self, key: Key) -> impl Iterator<Item = usize> + use<> {
        let keys = self.geometry().keys as usize;
        let start = (key.0 ^ key.0 >> 64) as usize & (keys - 1);
        (start..keys).chain(0..start)
    }

    /// The key's entry.
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        let parts = key.parts();
        for entry in self.chain(key) {
            let part = |i| self.region.key(entry, i).load(SeqCst);
            if part(0) == 0 {
                return None;
            }
            if (0..parts.len()).all(|i| part(i) == parts[i]) {
                return Some(entry);
            }
        }
        None
    }

    /// The key's entry; takes one if it has none.
    pub(super) fn install(&self, key: Key) -> Result<usize, Error> {
        let parts = key.parts();
        let is_ours = |entry: usize| {
            parts.iter().enumerate().all(|(i, part)| match self.region.key(entry, i).load(SeqCst) {
                0 => match self.region.key(entry, i).compare_exchange(0, *part, SeqCst, SeqCst) {
                    Ok(_) => true,
                    Err(found) => found == *part,
                },
                found => found == *part,
            })
        };
        self.chain(key).find(|entry| is_ours(*entry)).ok_or(Error::KeyTableFull)
    }

    /// A key's count of changes, and the mark that a thread waits for it.
    fn key_count(&self, key: usize) -> (&'a AtomicU32, &'a AtomicU32) {
        (self.region.key(key, KEY_VERSION), self.region.key(key, KEY_WATCHED))
    }

    /// The key's count of changes that can make a "no" a "yes": a resource came, went or drains, a
    /// unit came back, an owner that was far behind accepted, a creation ended. It wraps. Zero for
    /// a key that was never used.
    pub fn version(&self, key: Key) -> u32 {
        self.find(key).map_or(0, |key| self.region.key(key, KEY_VERSION).load(SeqCst))
    }

    /// Waits until the key's count is no longer `since`, at most `timeout_ms`. Any number of
    /// changes end the wait once. A change before the wait counts, and so does one just as its time
    /// is over.
    ///
    /// # Errors
    /// [`Error::TooManyWaiters`].
    pub fn wait(&self, key: Key, since: u32, timeout_ms: u32) -> Result<Wait, Error> {
        self.wait_while(key, since, timeout_ms, || true)
    }

    /// As [`Self::wait`], for as long as `goes_on` says so; [`Error::Stale`] afterwards. The thread
    /// that changes its answer calls [`Self::wake_waiters`] then.
    pub(crate) fn wait_while(
        &self,
        key: Key,
        since: u32,
        timeout_ms: u32,
        goes_on: impl Fn() -> bool,
    ) -> Result<Wait, Error> {
        let changes = self.region.header(CHANGES);
        self.wait_until(timeout_ms, goes_on, || {
            // Read before the key is looked up: if the key is installed meanwhile, the wait ends at
            // once.
            let any = changes.load(SeqCst);
            match self.find(key) {
                Some(key) => {
                    let (version, watched) = self.key_count(key);
                    let now = version.load(SeqCst);
                    if now == since { Err((version, watched, now)) } else { Ok(now) }
                }
                None if since != 0 => Ok(0),
                None => {
                    let watched = self.region.header(WATCHED);
                    watched.store(1, SeqCst);
                    // Once more: a writer that installed the key before the mark was set woke no
                    // one.
                    match self.find(key) {
                        Some(key) => {
                            let (version, watched) = self.key_count(key);
                            Err((version, watched, 0))
                        }
                        None => Err((changes, watched, any)),
                    }
                }
            }
        })
    }

    /// Begins to watch the whole table, and answers what [`Self::wait_any`] takes. Any change after
    /// this call ends that wait. So a caller watches, tries, and waits if the try fails.
    pub fn watch(&self) -> u32 {
        let changes = self.region.header(CHANGES).load(SeqCst);
        self.region.header(WATCHED).store(1, SeqCst);
        changes
    }

    /// Waits until anything has changed since [`Self::watch`] answered `since`, at most
    /// `timeout_ms`.
    ///
    /// # Errors
    /// [`Error::TooManyWaiters`].
    pub fn wait_any(&self, since: u32, timeout_ms: u32) -> Result<Wait, Error> {
        self.wait_any_while(since, timeout_ms, || true)
    }

    /// As [`Self::wait_any`]; see [`Self::wait_while`].
    pub(crate) fn wait_any_while(
        &self,
        since: u32,
        timeout_ms: u32,
        goes_on: impl Fn() -> bool,
    ) -> Result<Wait, Error> {
        let (changes, watched) = (self.region.header(CHANGES), self.region.header(WATCHED));
        self.wait_until(timeout_ms, goes_on, || {
            let now = changes.load(SeqCst);
            if now == since { Err((changes, watched, now)) } else { Ok(now) }
        })
    }

    /// Ends every [`Self::wait_any`], as a change would.
    #[cfg(any(test, all(feature = "std", target_os = "linux", not(any(loom, shuttle)))))]
    pub(crate) fn nudge(&self) {
        let changes = self.region.header(CHANGES);
        changes.fetch_add(1, SeqCst);
        self.port.wake(changes);
    }

    /// Wakes every waiter of every member, as a change of every key would: each asks its `goes_on`
    /// again, or ends.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn wake_waiters(&self) {
        for key in 0..self.geometry().keys as usize {
            let (version, watched) = self.key_count(key);
            port::moved(self.port, version, watched);
        }
        let (changes, watched) = (self.region.header(CHANGES), self.region.header(WATCHED));
        port::moved(self.port, changes, watched);
    }

    /// Looks until `look` has an answer. While it has none, sleeps as its error says: on this word,
    /// with this mark, while the word has this value.
    fn wait_until(
        &self,
        timeout_ms: u32,
        goes_on: impl Fn() -> bool,
        look: impl Fn() -> Result<u32, (&'a AtomicU32, &'a AtomicU32, u32)>,
    ) -> Result<Wait, Error> {
        let begun = self.port.clock_ms();
        let timeout_ms = timeout_ms.min(WAIT_MAX_MS);
        loop {
            let (word, watched, value) = match look() {
                Ok(now) => return Ok(Wait::Changed(now)),
                Err(sleep_on) => sleep_on,
            };
            let left = timeout_ms.saturating_sub(self.port.clock_ms().wrapping_sub(begun));
            if left == 0 {
                return Ok(Wait::TimedOut);
            }
            // The mark before the question: the thread that makes `goes_on` say no wakes this
            // waiter if it sees the mark, and otherwise has changed the answer before it is read
            // here.
            watched.store(1, SeqCst);
            if !goes_on() {
                return Err(Error::Stale);
            }
            if !self.port.wait(word, value, left) {
                return Err(Error::TooManyWaiters);
            }
        }
    }
}

impl Node<'_> {
    /// Something under the key has changed: moves the key's count, and wakes its waiters. `key`
    /// comes from the region, and may be none of its keys.
    pub(super) fn key_changed(&self, key: usize) {
        if key < self.geometry().keys as usize {
            let (version, watched) = self.key_count(key);
            version.fetch_add(1, SeqCst);
            port::moved(self.port, version, watched);
        }
        let (changes, watched) = (self.region.header(CHANGES), self.region.header(WATCHED));
        // Not counted without a watcher: a watcher sets the mark before it looks, so its look sees
        // a change that was not counted.
        if watched.load(SeqCst) != 0 {
            changes.fetch_add(1, SeqCst);
            port::moved(self.port, changes, watched);
        }
    }

    pub(super) fn slot_changed(&self, slot: Slot) {
        self.key_changed(self.region.slot_key(slot).load(SeqCst) as usize);
    }
}
