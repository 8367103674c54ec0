// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was measured on targets, each figure with its source (P9). The plan, the simulated targets
//! of the tests and the std port's overhead all take their figures from here or from `shim`.
//!
//! *epics-rs*: the measurements which that project has published, of Rust servers on both targets.
//! *RTEMS 7*: a stock C IOC (EPICS base 7.0.8.2-DEV, libbsd) on `xilinx_zynq_a9_qemu` with 256 MB,
//! and real CA clients, 2026-11-30.

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// VxWorks 7, real-time processes of `x86_64-wrs-vxworks`.
pub mod vxworks {
    use super::MIB;

    pub use crate::shim::vxworks::THREAD_OVERHEAD_BYTES as STD_THREAD_OVERHEAD_BYTES;

    /// What a thread made in C takes beyond its stack. epics-rs: C threads cost exactly their
    /// stack.
    pub const C_THREAD_OVERHEAD_BYTES: usize = 0;

    /// What of the system's memory a process cannot use as address space. epics-rs: 254 MiB could
    /// be used with about 958 MB, 764 MiB with about 1,470 MB.
    pub const OUTSIDE_BYTES: usize = 705 * MIB;
    /// The memory of the smaller guest. epics-rs.
    pub const GUEST_BYTES: usize = 958 * MIB;
    /// The address space that could be used there, in pieces. epics-rs.
    pub const GUEST_USABLE_BYTES: usize = 254 * MIB;
    /// The largest single mapping that was confirmed there. epics-rs.
    pub const GUEST_ONE_MAPPING_BYTES: usize = 192 * MIB;
    /// What the fixed threads of the measured image took (scan bands, callbacks, acceptors), about.
    /// epics-rs.
    pub const FIXED_THREADS_BYTES: usize = 15 * MIB;

    /// What one CA client's two std threads take in the image that died: 3 MiB of stacks, 1 MiB
    /// more for each thread. epics-rs.
    pub const CA_SET_BYTES: usize = 5 * MIB;
    /// The set at which the smaller guest died, under a budget of 320 MiB. epics-rs.
    pub const DIED_AT_SET: usize = 46;
    /// The sets after which it refused, and served on, under a budget of 160 MiB. epics-rs.
    pub const REFUSED_AFTER_SETS: usize = 32;
    /// Declared stacks of a client (two threads), and the clients at which that image met its wall:
    /// three images that differed in nothing else. epics-rs.
    pub const WALLS: [(usize, usize); 3] = [(3 * MIB, 47), (2 * MIB, 59), (MIB, 80)];
    /// The same question in another series of images. epics-rs. No single figure per thread
    /// explains this series; all that is taken from it is where the walls stood.
    pub const OTHER_WALLS: [(usize, usize); 5] =
        [(MIB, 80), (3 * MIB / 2, 67), (2 * MIB, 58), (5 * MIB / 2, 53), (3 * MIB, 49)];

    /// Live semaphores at which the system made no more. epics-rs; with 49 sets and 98 workers.
    pub const OBJECTS_AT_REFUSAL: usize = 588;
    /// Later it made them again, beyond this many: a rate that was refused, not a total. epics-rs.
    pub const OBJECTS_SEEN_LATER: usize = 1_024;
}

/// RTEMS on a Zynq with 256 MB.
pub mod rtems {
    use super::{KIB, MIB};

    pub use crate::shim::rtems::THREAD_OVERHEAD_BYTES as STD_THREAD_OVERHEAD_BYTES;

    /// What a thread made in C takes beyond its stack, as far as the account is concerned. RTEMS 7:
    /// 1,000 threads made and joined left nothing.
    pub const C_THREAD_OVERHEAD_BYTES: usize = 0;

    /// The board's memory.
    pub const BOARD_BYTES: usize = 256 * MIB;
    /// The stacks of a CA client's two threads: big and medium.
    pub const CA_STACKS: [usize; 2] = [MIB, 512 * KIB];

    /// Free heap of a Rust server without clients. epics-rs (232.3 MB of a heap of 260.8 MB).
    pub const SERVER_FREE_BYTES: usize = 232_300_000;
    /// What one CA client of it took, both stacks included. epics-rs.
    pub const SERVER_CLIENT_BYTES: usize = 1_592_296;
    /// Its descriptors, and how many of them it used without clients. epics-rs.
    pub const SERVER_DESCRIPTORS: usize = 150;
    /// See [`SERVER_DESCRIPTORS`].
    pub const SERVER_DESCRIPTORS_IDLE: usize = 8;
    /// Its bound, so that the refusal of one more can be delivered. epics-rs.
    pub const SERVER_CLIENTS: usize = 141;
    /// Largest free block that one more client needed at most; 2.44 MB at least. epics-rs.
    pub const ONE_MORE_CLIENT_BYTES: usize = 3_660_000;

    /// Free heap of the stock IOC after iocInit. RTEMS 7.
    pub const IOC_FREE_BYTES: usize = 224_614_216;
    /// Its largest free block. RTEMS 7.
    pub const IOC_LARGEST_BYTES: usize = 224_601_312;
    /// What one CA client took (channel, read, monitor), both stacks included. RTEMS 7.
    pub const IOC_CLIENT_BYTES: usize = 1_615_523;
    /// Its clients at the first full house, and at the two that followed: the heap fragments. RTEMS
    /// 7.
    pub const IOC_FULL_HOUSES: [usize; 3] = [138, 135, 134];
    /// The largest free block after them, of [`IOC_FREE_AFTER_BYTES`]. RTEMS 7.
    pub const IOC_LARGEST_AFTER_BYTES: usize = 6_300_000;
    /// See [`IOC_LARGEST_AFTER_BYTES`].
    pub const IOC_FREE_AFTER_BYTES: usize = 217_700_000;
    /// Blocks of 32 B (with their headers) that each connection leaves behind, and of them those
    /// that its threads leave, which a pool avoids. RTEMS 7: 160.24 B a connection, five blocks of
    /// base's leak of events.
    pub const IOC_BLOCKS_LEFT: [usize; 2] = [5, 2];
    /// The size of such a block.
    pub const IOC_BLOCK_LEFT_BYTES: usize = 32;
    /// Its descriptors, those it used without clients, and the clients it then served. RTEMS 7.
    pub const IOC_DESCRIPTORS: [usize; 3] = [64, 10, 54];
}

/// Stacks that EPICS calls small, medium and big where a pointer has 32 bits, RTEMS 5 and later
/// included. EPICS base 7.0.8, libcom/src/osi/os/posix/osdThread.c.
pub const EPICS_STACKS_32: [usize; 3] = [256 * KIB, 512 * KIB, MIB];
/// The same where a pointer has 64 bits.
pub const EPICS_STACKS_64: [usize; 3] = [512 * KIB, MIB, 2 * MIB];
