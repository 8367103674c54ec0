// SPDX-License-Identifier: MIT OR Apache-2.0
//! The image's own port: for tables in memory that no other process sees (RTEMS, bare metal). Each
//! such memory has a port of its own, which knows the lanes that are taken; they share the places
//! to wait.

use super::MAX_FLEETS;
use crate::crew::CREW;
use crate::ffi::status::{
    CREW_BUSY, CREW_NOT_BOOTED, CREW_REFUSED_OBJECTS_EXHAUSTED, CREW_TABLE_FULL,
};
use crate::fleet::{FleetPort, Image, WaitSlot};
use crate::limits::MAX_WAITERS;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

pub(super) struct Images {
    slots: [WaitSlot; MAX_WAITERS],
    /// As many as there can be memberships, so one is free for each.
    tables: [ImageTable; MAX_FLEETS],
}

struct ImageTable {
    /// The address of the table that it is for. Changed only under the guard, and only while no
    /// membership uses it.
    memory: AtomicUsize,
    uses: AtomicU32,
    image: spin::Once<Image>,
}

/// A membership's use of a table of this image, until dropped.
pub(super) struct ImageUse {
    table: &'static ImageTable,
    image: &'static Image,
}

impl Images {
    pub const fn new() -> Self {
        Self {
            slots: [const { WaitSlot::new() }; MAX_WAITERS],
            tables: [const {
                ImageTable {
                    memory: AtomicUsize::new(0),
                    uses: AtomicU32::new(0),
                    image: spin::Once::new(),
                }
            }; MAX_FLEETS],
        }
    }

    /// Counts a use of the table at this address in.
    pub fn begin(&'static self, memory: usize) -> Result<ImageUse, i32> {
        let port = CREW.host.port().ok_or(CREW_NOT_BOOTED)?;
        let _admin = CREW.host.admin().ok_or(CREW_BUSY)?;
        let is_ours = |table: &&ImageTable| table.memory.load(SeqCst) == memory;
        let is_free = |table: &&ImageTable| table.uses.load(SeqCst) == 0;
        let found = self.tables.iter().find(is_ours);
        let table = found.or_else(|| self.tables.iter().find(is_free)).ok_or(CREW_TABLE_FULL)?;
        let image = match table.image.get() {
            Some(image) => image,
            None => {
                // The guard is held, so no other thread makes it meanwhile.
                let made =
                    Image::new(port, &self.slots).map_err(|_| CREW_REFUSED_OBJECTS_EXHAUSTED)?;
                table.image.call_once(|| made)
            }
        };
        table.memory.store(memory, SeqCst);
        table.uses.fetch_add(1, SeqCst);
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
        self.table.uses.fetch_sub(1, SeqCst);
    }
}
