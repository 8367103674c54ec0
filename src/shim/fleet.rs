// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fleet's table in POSIX shared memory, for the processes of a Linux machine.
//!
//! A process holds a lane by a lock on one byte of the memory's file, of the kind that belongs to
//! the open file and not to the process. The kernel drops it when the process ends, however it
//! ends, but not when the process opens or closes the same file once more. Waits are futexes on the
//! table's words.

use crate::fleet::{FleetPort, Geometry, Hold, Table, TableError};
use crate::sync::atomic::AtomicU32;
use crate::table::Bitmap;
use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// A named piece of shared memory, mapped into this process until it is dropped, and the port of
/// the table in it. Dropping it leaves the memory for others; [`Shared::unlink`] takes the name
/// away.
///
/// A peer that may open the file may also make it shorter, and the system ends a process that then
/// touches the part that is gone. So `mode` must admit only peers that are trusted that far.
pub struct Shared {
    words: NonNull<AtomicU32>,
    count: usize,
    file: OwnedFd,
    geometry: Geometry,
    /// The lanes that this mapping does not hold. The kernel shows a file only the locks of others.
    free_lanes: Bitmap,
}

// SAFETY: `words` points to atomics, mapped until drop, and shared with other processes anyway.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// Why shared memory was not opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum SharedError {
    /// A name has 1 to 200 characters, and no slash but a leading one.
    BadName,
    /// There can be no such table, or the memory holds another one.
    Table(TableError),
    /// The system call that failed, and its error.
    System(&'static str, io::Error),
}

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SharedError::BadName => f.write_str("bad name: 1 to 200 characters and no slash"),
            SharedError::Table(error) => error.fmt(f),
            SharedError::System(call, error) => write!(f, "{call}: {error}"),
        }
    }
}

impl std::error::Error for SharedError {}

fn checked_name(name: &str) -> Result<CString, SharedError> {
    let plain = name.strip_prefix('/').unwrap_or(name);
    if plain.is_empty() || plain.len() > 200 || plain.contains('/') || plain.starts_with('.') {
        return Err(SharedError::BadName);
    }
    CString::new(format!("/{plain}")).map_err(|_| SharedError::BadName)
}

/// The system's answer to `call`, or its error.
fn checked(call: &'static str, answer: libc::c_int) -> Result<libc::c_int, SharedError> {
    if answer < 0 { Err(SharedError::System(call, io::Error::last_os_error())) } else { Ok(answer) }
}

impl Shared {
    /// Maps the memory of this name. If there is none, makes it with these permissions (0o660: the
    /// user and the group). The system sets all the table's memory aside now, not when it is
    /// touched.
    ///
    /// # Errors
    /// See [`SharedError`]. A table of another geometry is refused, and stays as it is.
    pub fn open(name: &str, geometry: Geometry, mode: u32) -> Result<Self, SharedError> {
        let bytes = geometry
            .bytes()
            .ok_or(SharedError::Table(TableError::BadGeometry("see Geometry for the bounds")))?;
        let name = checked_name(name)?;
        // SAFETY: the name ends with NUL, and nothing else is passed.
        let file = checked("shm_open", unsafe {
            libc::shm_open(name.as_ptr(), libc::O_RDWR | libc::O_CREAT, mode as libc::mode_t)
        })?;
        // SAFETY: just opened, and owned by nothing else.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        let size = Self::size(&file, bytes)?;
        // SAFETY: a new mapping, of a file of at least this size.
        let place = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if place == libc::MAP_FAILED {
            return Err(SharedError::System("mmap", io::Error::last_os_error()));
        }
        let words = NonNull::new(place.cast()).ok_or(SharedError::BadName)?;
        let free_lanes = Bitmap::new();
        (0..geometry.nodes as usize).for_each(|lane| free_lanes.put(lane));
        let shared =
            Self { words, count: size / size_of::<AtomicU32>(), file, geometry, free_lanes };
        shared.table().map_err(SharedError::Table)?;
        Ok(shared)
    }

    /// The bytes to map. A file that no process has written yet is grown to what the table takes;
    /// it only grows, so several makers at once do not harm each other.
    fn size(file: &OwnedFd, bytes: usize) -> Result<usize, SharedError> {
        let mut first = [0; 4];
        // SAFETY: the buffer is ours and as long as said.
        let read = unsafe { libc::pread(file.as_raw_fd(), first.as_mut_ptr().cast(), 4, 0) };
        if read < 4 || first == [0; 4] {
            // SAFETY: a plain call on our file.
            let grown = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as libc::off_t) };
            checked("fallocate", grown)?;
        }
        // SAFETY: zeroes are a stat.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: the stat is ours.
        checked("fstat", unsafe { libc::fstat(file.as_raw_fd(), &raw mut stat) })?;
        match usize::try_from(stat.st_size) {
            Ok(size @ 4..) => Ok(size.min(bytes)),
            _ => Err(SharedError::Table(TableError::TooSmall { bytes })),
        }
    }

    /// Takes the name away. A process that has the memory mapped keeps it; one that opens the name
    /// after this makes a new table.
    ///
    /// # Errors
    /// See [`SharedError`].
    pub fn unlink(name: &str) -> Result<(), SharedError> {
        let name = checked_name(name)?;
        // SAFETY: the name ends with NUL.
        checked("shm_unlink", unsafe { libc::shm_unlink(name.as_ptr()) }).map(|_| ())
    }

    /// The table in the memory.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn table(&self) -> Result<Table<'_>, TableError> {
        Table::open(self.words(), self.geometry, self)
    }

    /// The memory.
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: mapped for as long as self, readable and writable, aligned to a page, of this
        // length; every value is one of an atomic word.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }

    fn lock(
        &self,
        node: u16,
        command: libc::c_int,
        kind: libc::c_int,
    ) -> io::Result<libc::c_short> {
        // SAFETY: zeroes are a flock.
        let mut lock: libc::flock = unsafe { core::mem::zeroed() };
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = libc::off_t::from(node);
        lock.l_len = 1;
        // SAFETY: the lock is ours, and the command is one that takes a lock.
        match unsafe { libc::fcntl(self.file.as_raw_fd(), command, &raw mut lock) } {
            0 => Ok(lock.l_type),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `open`; no reference outlives self.
        unsafe { libc::munmap(self.words.as_ptr().cast(), self.count * size_of::<AtomicU32>()) };
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("geometry", &self.geometry).finish_non_exhaustive()
    }
}

impl FleetPort for Shared {
    fn hold(&self, node: u16) -> bool {
        if !self.free_lanes.claim(node.into()) {
            return false;
        }
        let held = self.lock(node, libc::F_OFD_SETLK, libc::F_WRLCK).is_ok();
        if !held {
            self.free_lanes.put(node.into());
        }
        held
    }

    fn let_go(&self, node: u16) {
        // It cannot fail: the file is open and the lock is ours.
        let _ = self.lock(node, libc::F_OFD_SETLK, libc::F_UNLCK);
        self.free_lanes.put(node.into());
    }

    fn look(&self, node: u16) -> Hold {
        if !self.free_lanes.contains(node.into()) {
            return Hold::Held;
        }
        match self.lock(node, libc::F_OFD_GETLK, libc::F_WRLCK) {
            Ok(kind) if libc::c_int::from(kind) == libc::F_UNLCK => Hold::Free,
            Ok(_) => Hold::Held,
            Err(_) => Hold::Unknown,
        }
    }

    fn clock_ms(&self) -> u32 {
        super::system::clock_ms() as u32
    }

    fn can_wait(&self) -> bool {
        true
    }

    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool {
        let timeout = libc::timespec {
            tv_sec: (timeout_ms / 1000) as libc::time_t,
            tv_nsec: (timeout_ms % 1000 * 1_000_000) as libc::c_long,
        };
        // SAFETY: word and timeout outlive the call. Not private: the word is shared between
        // processes.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                value,
                &raw const timeout,
            );
        }
        true
    }

    fn wake(&self, word: &AtomicU32) {
        // SAFETY: FUTEX_WAKE only uses the address.
        unsafe {
            libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, libc::c_int::MAX)
        };
    }
}
