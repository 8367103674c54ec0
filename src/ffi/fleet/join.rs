// SPDX-License-Identifier: MIT OR Apache-2.0
//! Geometry, port, joining and leaving.

use super::{Membership, crew_fleet, crew_life, enter, of_error, of_no, of_table_error, parts};
use crate::ffi::FLEETS;
use crate::ffi::pointer::{Out, give, read, read_text, sized32, status};
use crate::ffi::status::{
    CREW_BAD_PORT, CREW_BAD_TEXT, CREW_BAD_VALUE, CREW_FLEET_BAD_GEOMETRY, CREW_NULL_ARGUMENT,
    CREW_TABLE_FULL,
};
use crate::fleet::{FleetPort, Geometry, Hold, NAME_MAX, Table};
use crate::limits::NAME_BYTES;
use crate::sync::atomic::AtomicU32;
use crate::table::text::is_printable;
use crate::table::{Handle, Kind};
use core::ffi::{c_char, c_void};

const _: () = assert!(NAME_MAX + 1 == NAME_BYTES);

/// What one table holds at most. All its processes bring the same numbers, or are refused.
/// Initialise with CREW_FLEET_GEOMETRY_INIT: kind 1, 16 nodes, 64 resources, 256 executions, 64
/// keys.
#[repr(C)]
pub struct crew_fleet_geometry {
    /// sizeof(crew_fleet_geometry)
    pub size: u32,
    /// A number for what the table is for, 1 to 63: it tells the table's ids from another table's.
    pub kind: u32,
    /// Processes at one time, 1 to 1,024.
    pub nodes: u32,
    /// Resources of one node, a power of two up to 65,536.
    pub resources: u32,
    /// Leases of one node's resources at work at one time, a power of two up to 65,536.
    pub executions: u32,
    /// Keys, a power of two up to 1,048,576. They are used up until crew_fleet_reset.
    pub keys: u32,
}

sized32!(crew_fleet_geometry, crew_fleet_port, crew_fleet_options);

/// crew_fleet_port.look: no process holds the lane.
pub const CREW_HOLD_FREE: i32 = 0;
/// crew_fleet_port.look: a living process holds the lane.
pub const CREW_HOLD_HELD: i32 = 1;
/// crew_fleet_port.look: this target cannot tell. Report deaths with crew_fleet_node_dead then.
pub const CREW_HOLD_UNKNOWN: i32 = 2;

/// A table's port to its target. crew_fleet_shm.h has the one for shared memory, and NULL in the
/// options is the one for the memory of one image. None of its functions may be NULL, call back
/// into Crew, or block, except wait.
#[repr(C)]
pub struct crew_fleet_port {
    /// sizeof(crew_fleet_port)
    pub size: u32,
    /// The port's own: the first argument of each function.
    pub context: *mut c_void,
    /// Takes the lane if no process has it, without waiting: 1, else 0. The hold must end with the
    /// process, however that ends.
    pub hold: Option<unsafe extern "C" fn(context: *mut c_void, node: u32) -> i32>,
    /// Gives the lane back.
    pub let_go: Option<unsafe extern "C" fn(context: *mut c_void, node: u32)>,
    /// Whether some process has the lane: CREW_HOLD_...
    pub look: Option<unsafe extern "C" fn(context: *mut c_void, node: u32) -> i32>,
    /// Milliseconds of a clock that never goes back, and that counts from the same instant for all
    /// processes that share the table. It may wrap.
    pub clock_ms: Option<unsafe extern "C" fn(context: *mut c_void) -> u32>,
    /// Sleeps while the word has this value, at most timeout_ms; it may return early: 1. 0: as many
    /// threads wait already as can. The word is read by atomic operations.
    pub wait: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            word: *mut u32,
            value: u32,
            timeout_ms: u32,
        ) -> i32,
    >,
    /// Wakes all threads that wait for this word, in all processes.
    pub wake: Option<unsafe extern "C" fn(context: *mut c_void, word: *mut u32)>,
}

// SAFETY: the contract of a port is that its functions may be called from any thread, and the table
// itself is only read.
unsafe impl Sync for crew_fleet_port {}

// SAFETY of every call below: `checked_port` found the function, and the port's author promises
// that it keeps to its contract. A `None` answers as a target without that function would.
impl FleetPort for crew_fleet_port {
    fn hold(&self, node: u16) -> bool {
        // SAFETY: see above.
        self.hold.is_some_and(|hold| unsafe { hold(self.context, node.into()) } != 0)
    }

    fn let_go(&self, node: u16) {
        if let Some(let_go) = self.let_go {
            // SAFETY: see above.
            unsafe { let_go(self.context, node.into()) }
        }
    }

    fn look(&self, node: u16) -> Hold {
        // SAFETY: see above.
        match self.look.map(|look| unsafe { look(self.context, node.into()) }) {
            Some(CREW_HOLD_FREE) => Hold::Free,
            Some(CREW_HOLD_HELD) => Hold::Held,
            _ => Hold::Unknown,
        }
    }

    fn clock_ms(&self) -> u32 {
        // SAFETY: see above.
        self.clock_ms.map_or(0, |clock| unsafe { clock(self.context) })
    }

    fn can_wait(&self) -> bool {
        self.wait.is_some() && self.wake.is_some()
    }

    fn wait(&self, word: &AtomicU32, value: u32, timeout_ms: u32) -> bool {
        let word = word.as_ptr();
        // SAFETY: see above.
        self.wait.is_some_and(|wait| unsafe { wait(self.context, word, value, timeout_ms) } != 0)
    }

    fn wake(&self, word: &AtomicU32) {
        if let Some(wake) = self.wake {
            // SAFETY: see above.
            unsafe { wake(self.context, word.as_ptr()) }
        }
    }
}

/// crew_fleet_options.node: any node that is free.
pub const CREW_FLEET_ANY_NODE: u32 = 0xffff_ffff;

/// How to join a table. Initialise with CREW_FLEET_OPTIONS_INIT.
#[repr(C)]
pub struct crew_fleet_options {
    /// sizeof(crew_fleet_options)
    pub size: u32,
    /// CREW_FLEET_ANY_NODE, or the node to join as, below geometry's nodes.
    pub node: u32,
    /// Copied.
    pub geometry: *const crew_fleet_geometry,
    /// The table's memory: zeros, or a table of this geometry. It must stay until crew_fleet_leave
    /// has said CREW_OK, and only Crew may write into it until then.
    pub memory: *mut u32,
    /// Bytes of memory, at least what crew_fleet_bytes says.
    pub bytes: usize,
    /// The port, which must stay as long as memory. NULL: this image's own, for a table in memory
    /// that no other process sees; all memberships in it must be made so. Its waits are events of
    /// the port that crew_boot was given; the first join makes CREW_MAX_WAITERS of them.
    pub port: *const crew_fleet_port,
    /// NULL, or this node's name in reports: up to CREW_NAME_BYTES - 1 printable characters.
    /// Copied.
    pub name: *const c_char,
    /// The system's number of this process, for reports.
    pub process: u32,
}

/// The bytes of memory that a table of this geometry takes, aligned to 4.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_FLEET_BAD_GEOMETRY.
///
/// # Safety
/// `geometry` is NULL or valid; `bytes` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_bytes(
    geometry: *const crew_fleet_geometry,
    bytes: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { give(bytes, || read_geometry(geometry)?.bytes().ok_or(CREW_FLEET_BAD_GEOMETRY)) }
}

/// The geometry that the table in `memory` was made with, so that a caller that was told
/// CREW_FLEET_OTHER_GEOMETRY can say what differs. `geometry` comes initialised and is overwritten.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_BAD_VALUE (memory is not aligned),
/// CREW_FLEET_NOT_A_TABLE, CREW_FLEET_OTHER_BYTE_ORDER, CREW_FLEET_OTHER_VERSION.
///
/// # Safety
/// `memory` is NULL or readable for `bytes`; `geometry` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_geometry_of(
    memory: *const u32,
    bytes: usize,
    geometry: *mut crew_fleet_geometry,
) -> i32 {
    let read = || {
        // SAFETY: the caller's promise.
        let geometry = unsafe { Out::sized(geometry) }?;
        if memory.is_null() {
            return Err(CREW_NULL_ARGUMENT);
        }
        if !memory.is_aligned() || bytes > isize::MAX as usize {
            return Err(CREW_BAD_VALUE);
        }
        let count = bytes / size_of::<AtomicU32>();
        // SAFETY: the caller's promise: aligned, of this size; it is only read, by atomic loads.
        let words = unsafe { core::slice::from_raw_parts(memory.cast::<AtomicU32>(), count) };
        let Geometry { kind, nodes, resources, executions, keys } =
            Geometry::of_table(words).map_err(of_table_error)?;
        let size = size_of::<crew_fleet_geometry>() as u32;
        let kind = kind.into();
        geometry.write(crew_fleet_geometry { size, kind, nodes, resources, executions, keys });
        Ok(())
    };
    status(read())
}

/// Opens the table in `memory`, makes it there if there are only zeros, and joins it: this process
/// is one of its nodes until crew_fleet_leave. First takes back what an earlier process in the same
/// node left. A child process that was forked and runs on without exec must not use its parent's
/// membership.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_BAD_TEXT (name), CREW_BAD_VALUE (memory is not aligned,
/// or there is no such node), CREW_BAD_PORT (a function is missing); CREW_FLEET_BAD_GEOMETRY,
/// CREW_FLEET_TOO_SMALL, CREW_FLEET_NOT_A_TABLE, CREW_FLEET_OTHER_BYTE_ORDER,
/// CREW_FLEET_OTHER_VERSION, CREW_FLEET_OTHER_GEOMETRY; CREW_TABLE_FULL (CREW_MAX_FLEETS
/// memberships); CREW_FLEET_NO_LANE (the node, or every node, is taken), CREW_FLEET_NO_MORE_LIVES,
/// CREW_FLEET_RESETTING. With this image's own port also CREW_NOT_BOOTED, CREW_BUSY (another
/// administrative call is under way), CREW_REFUSED_OBJECTS_EXHAUSTED (the target made no event).
///
/// # Safety
/// `options` is NULL or valid, and what it points to is as its fields say; `fleet` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_join(
    options: *const crew_fleet_options,
    fleet: *mut crew_fleet,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { give(fleet, || join(options)) }
}

/// # Safety
/// As `crew_fleet_join`.
unsafe fn join(options: *const crew_fleet_options) -> Result<crew_fleet, i32> {
    // SAFETY: the caller's promise.
    let options = unsafe { read(options) }?;
    // SAFETY: the caller's promise.
    let geometry = unsafe { read_geometry(options.geometry) }?;
    let name = match options.name {
        name if name.is_null() => "",
        // SAFETY: the caller's promise.
        name => unsafe { read_text(name, NAME_BYTES) }?,
    };
    if !name.bytes().all(is_printable) {
        return Err(CREW_BAD_TEXT);
    }
    let node = match options.node {
        CREW_FLEET_ANY_NODE => None,
        node if node < geometry.nodes => Some(node as u16),
        _ => return Err(CREW_BAD_VALUE),
    };
    if options.memory.is_null() {
        return Err(CREW_NULL_ARGUMENT);
    }
    if !options.memory.is_aligned() || options.bytes > isize::MAX as usize {
        return Err(CREW_BAD_VALUE);
    }
    let words = options.memory.cast::<AtomicU32>();
    // SAFETY: the caller's promise: aligned, of this size, and there until crew_fleet_leave has
    // dropped the node, which is all that keeps it. Every value is one of an atomic word.
    let words: &'static [AtomicU32] =
        unsafe { core::slice::from_raw_parts(words, options.bytes / size_of::<AtomicU32>()) };
    let claimed = FLEETS.members.claim().ok_or(CREW_TABLE_FULL)?;
    let (port, image): (&'static dyn FleetPort, _) = if options.port.is_null() {
        let image = FLEETS.images.begin(words.as_ptr().addr())?;
        (image.port(), Some(image))
    } else {
        // SAFETY: the caller's promise.
        (unsafe { checked_port(options.port) }?, None)
    };
    let table = Table::open(words, geometry, port).map_err(of_table_error)?;
    let node = table.join_as(node, name, options.process).map_err(of_error)?;
    let (index, generation) = claimed.open(Membership { node, _image: image });
    Ok(crew_fleet { bits: Handle::new(Kind::Fleet, index, generation).bits() })
}

/// # Safety
/// `geometry` is NULL or valid.
unsafe fn read_geometry(geometry: *const crew_fleet_geometry) -> Result<Geometry, i32> {
    // SAFETY: the caller's promise.
    let &crew_fleet_geometry { kind, nodes, resources, executions, keys, .. } =
        unsafe { read(geometry) }?;
    // A number that does not fit is no kind either.
    let kind = u8::try_from(kind).unwrap_or(0);
    let geometry = Geometry { kind, nodes, resources, executions, keys };
    geometry.words().map(|_| geometry).ok_or(CREW_FLEET_BAD_GEOMETRY)
}

/// # Safety
/// `port` points to a `crew_fleet_port` that lives until the membership has ended.
unsafe fn checked_port(port: *const crew_fleet_port) -> Result<&'static dyn FleetPort, i32> {
    // SAFETY: the caller's promise.
    let port: &'static crew_fleet_port = unsafe { read(port) }?;
    let complete = port.hold.is_some()
        && port.let_go.is_some()
        && port.look.is_some()
        && port.clock_ms.is_some()
        && port.can_wait();
    if complete { Ok(port) } else { Err(CREW_BAD_PORT) }
}

/// Leaves the table: closes everything that this node owns and ends its permits, as its death
/// would. While another thread's call on this membership is under way nothing is freed: the answer
/// is CREW_BUSY, new calls are CREW_STALE from then on, and waits inside are woken and end so. Call
/// again until it says CREW_OK; then memory and port are the caller's again.
///
/// CREW_BUSY, CREW_STALE, CREW_BAD_HANDLE.
#[unsafe(no_mangle)]
pub extern "C" fn crew_fleet_leave(fleet: crew_fleet) -> i32 {
    let left = parts(fleet).and_then(|(index, generation)| {
        let wake = |membership: &Membership| membership.node.wake_waiters();
        FLEETS.members.leave(index, generation, wake).map_err(of_no)
    });
    status(left.map(drop))
}

/// The life that this membership is.
///
/// CREW_NULL_ARGUMENT, CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `life` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_fleet_life(fleet: crew_fleet, life: *mut crew_life) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { give(life, || Ok(enter(fleet)?.life().into())) }
}
