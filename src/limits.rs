// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sizes of every table, fixed when the crate is built.
//!
//! Each `MAX_` constant can be set by an environment variable at build time (`CREW_MAX_SETS=64
//! cargo build`), which `build.rs` checks. The C header shows the values it was generated with.

include!(concat!(env!("OUT_DIR"), "/limits.rs"));

/// Roles in one roster: the threads of one set, at most.
pub const MAX_ROLES: usize = 8;
/// Joinable jobs of one worker whose results no joiner has taken yet. Two, so that a worker can run
/// its next job while the result of the last one still waits for its joiner.
pub const JOBS_PER_WORKER: usize = 2;
/// Bytes of a pool's or role's name, the terminating NUL of C included. 16 is what Linux and RTEMS
/// keep of a thread's name.
pub const NAME_BYTES: usize = 16;
/// Bytes of a job's label, the terminating NUL of C included.
pub const LABEL_BYTES: usize = 24;
/// The most bytes read of any other text argument, its terminating NUL included.
pub const TEXT_BYTES: usize = 128;
/// The highest priority of a role. The scale is EPICS': 0 is lowest, 99 highest.
pub const PRIORITY_MAX: u32 = 99;
/// The smallest stack a role may ask for, in bytes: one page of every target we know.
pub const STACK_MIN: usize = 4096;
/// The largest stack a role may ask for, in bytes: 1 GiB, a quarter of a 32-bit address space.
pub const STACK_MAX: usize = 1 << 30;

// What the packed words have room for: a pool's number in 8 bits, a set's and a worker's in 16.
const _: () = assert!(MAX_POOLS < 256 && MAX_SETS < 1 << 16 && MAX_WORKERS < 1 << 16);
