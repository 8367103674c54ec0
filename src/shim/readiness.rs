// SPDX-License-Identifier: MIT OR Apache-2.0
//! A descriptor that becomes readable when something in a fleet's table changes, for callers that
//! wait on descriptors.

use super::fleet::Shared;
use crate::fleet::Wait;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{Builder, JoinHandle};

/// The watcher looks after itself at least so often.
const LOOK_MS: u32 = 60_000;

/// One per table and process; a small thread of its own waits for the table's word, and writes to
/// the descriptor. Any number of changes make it readable once.
///
/// Call [`Self::clear`], then try what is to be tried, then wait until the descriptor is readable:
/// a change between the try and the wait makes it so.
#[derive(Debug)]
pub struct Readiness {
    shared: Arc<Shared>,
    event: Arc<File>,
    stop: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
}

impl Readiness {
    /// Begins to watch the table in `shared`.
    ///
    /// # Errors
    /// The system's, if it makes no descriptor or no thread.
    pub fn new(shared: Arc<Shared>) -> io::Result<Self> {
        // SAFETY: a plain call.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and no other's.
        let event = Arc::new(unsafe { File::from_raw_fd(event) });
        let stop = Arc::new(AtomicBool::new(false));
        let watcher = {
            let (shared, event, stop) = (shared.clone(), event.clone(), stop.clone());
            // The first look is here, so that no change after this call is missed.
            let since = shared.table().map_err(io::Error::other)?.watch();
            Builder::new()
                .name("crewFleetWatch".to_owned())
                .stack_size(64 << 10)
                .spawn(move || watch(&shared, &event, &stop, since))?
        };
        Ok(Self { shared, event, stop, watcher: Some(watcher) })
    }

    /// Makes the descriptor unreadable until something changes.
    ///
    /// # Errors
    /// The system's.
    pub fn clear(&self) -> io::Result<()> {
        match (&*self.event).read(&mut [0; 8]) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }
}

impl AsFd for Readiness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Readiness {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        if let Ok(table) = self.shared.table() {
            table.nudge();
        }
        if let Some(watcher) = self.watcher.take() {
            // It was nudged after the flag was set, so it ends within a few instructions.
            let _ = watcher.join();
        }
    }
}

fn watch(shared: &Shared, mut event: &File, stop: &AtomicBool, mut since: u32) {
    let Ok(table) = shared.table() else {
        return; // it was opened before; its header has been overwritten
    };
    while !stop.load(SeqCst) {
        if let Ok(Wait::Changed(_)) = table.wait_any(since, LOOK_MS) {
            // First the next watch, then the event: a change in between belongs to this event.
            since = table.watch();
            // Full: it is readable.
            let _ = event.write(&1_u64.to_ne_bytes());
        }
    }
}
