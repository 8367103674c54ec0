// SPDX-License-Identifier: MIT OR Apache-2.0
//! The image's own port: for tables in memory that no other process sees (RTEMS, bare metal). One for each
//! such memory, because it knows whose lanes are taken; the places to wait are common.

use super::*;
use crate::fleet::{FleetPort, Image, WaitSlot};
use crate::limits::MAX_WAITERS;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

pub(super) struct Images {
    seats: [WaitSlot; MAX_WAITERS],
    /// As many as there can be memberships, so one is free for each.
    tables: [ImageTable; MAX_FLEETS],
}

struct ImageTable {
    /// The address of the table that it is for; changed only under the guard, and only while it has no
    /// member.
    memory: AtomicUsize,
    members: AtomicU32,
    image: spin::Once<Image>,
}

/// A member of a table of this image, until dropped.
pub(super) struct ImageUse {
    table: &'static ImageTable,
    image: &'static Image,
}

impl Images {
    pub const fn new() -> Self {
        Self {
            seats: [const { WaitSlot::new() }; MAX_WAITERS],
            tables: [const {
                ImageTable {
                    memory: AtomicUsize::new(0),
                    members: AtomicU32::new(0),
                    image: spin::Once::new(),
                }
            }; MAX_FLEETS],
        }
    }

    /// Counts a member of the table at this address in.
    pub fn join(&'static self, memory: usize) -> Result<ImageUse, i32> {
        let port = CREW.port().ok_or(CREW_NOT_BOOTED)?;
        let _admin = CREW.admin().ok_or(CREW_BUSY)?;
        let is_ours = |table: &&ImageTable| table.memory.load(SeqCst) == memory;
        let is_free = |table: &&ImageTable| table.members.load(SeqCst) == 0;
        let found = self.tables.iter().find(is_ours);
        let table = found.or_else(|| self.tables.iter().find(is_free)).ok_or(CREW_TABLE_FULL)?;
        let image = match table.image.get() {
            Some(image) => image,
            None => {
                // The guard is held, so nobody else makes it meanwhile.
                let made =
                    Image::new(port, &self.seats).map_err(|_| CREW_REFUSED_OBJECTS_EXHAUSTED)?;
                table.image.call_once(|| made)
            }
        };
        table.memory.store(memory, SeqCst);
        table.members.fetch_add(1, SeqCst);
        Ok(ImageUse { table, image })
    }
}

impl ImageUse {
    pub fn port(&self) -> &'static dyn FleetPort {
        self.image
    }
}

impl Drop for ImageUse {
    fn drop(&mut self) {
        self.table.members.fetch_sub(1, SeqCst);
    }
}
