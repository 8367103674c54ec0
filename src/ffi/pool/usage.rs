// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pool's figures. Their struct is the core's own; cbindgen.toml has its name in C.

use super::crew_pool;
use crate::crew::CREW;
use crate::ffi::pointer::{give_sized, sized32};
use crate::ffi::status::of_close;
use crate::sets::PoolUsage;
use crate::table::Handle;

pub use crate::sets::{PoolUsage as crew_usage, REFUSAL_KINDS as CREW_REFUSAL_KINDS};

sized32!(PoolUsage);

/// A pool's figures. Looks at each of its threads: a suspended one retires its set.
///
/// CREW_NULL_ARGUMENT, CREW_BAD_SIZE, CREW_STALE, CREW_BAD_HANDLE.
///
/// # Safety
/// `usage` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn crew_pool_usage(pool: crew_pool, usage: *mut PoolUsage) -> i32 {
    let look = || CREW.sets().usage(Handle::from_bits(pool.bits)).map_err(of_close);
    // SAFETY: the caller's promise.
    unsafe { give_sized(usage, look) }
}
