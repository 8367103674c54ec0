// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls by handle, as the C interface makes them, on any process: for tests that keep handles
//! of what has ended, which the types of the Rust interface do not let happen.

use crate::crew::Crew;
use crate::sets::{
    AcquireError, CloseError, JobError, JobResult, OpenError, PoolOptions, PoolUsage, RunError,
    Work,
};
use crate::table::Handle;
use core::ffi::c_void;
use core::num::NonZeroU64;

/// The calls of one process by handle. Errors are those of the Rust interface.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, clippy::missing_errors_doc)] // Each is the call of its name in `crew.h`.
pub struct Calls(pub &'static Crew);

#[allow(missing_docs, clippy::missing_errors_doc)]
impl Calls {
    pub fn open(self, options: &PoolOptions<'_>) -> Result<Handle, OpenError> {
        self.0.sets().open(options)
    }

    pub fn close(self, pool: Handle, timeout_ms: u32) -> Result<(), CloseError> {
        self.0.sets().close(pool, timeout_ms)
    }

    pub fn trim(self, pool: Handle, keep: u32) -> Result<(), CloseError> {
        self.0.sets().trim(pool, keep)
    }

    pub fn usage(self, pool: Handle) -> Result<PoolUsage, CloseError> {
        self.0.sets().usage(pool)
    }

    pub fn acquire(
        self,
        pool: Handle,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<Handle, AcquireError> {
        self.0.sets().acquire(pool, peer, timeout_ms)
    }

    pub fn release(self, lease: Handle) -> Result<(), RunError> {
        self.0.sets().release(lease)
    }

    pub fn run(
        self,
        lease: Handle,
        role: usize,
        function: extern "C" fn(*mut c_void) -> i32,
        argument: usize,
        joinable: bool,
    ) -> Result<Option<Handle>, RunError> {
        let work = Work::Call(function, argument as *mut c_void);
        self.0.sets().run(lease, role, b"job", &work, joinable)
    }

    pub fn join(self, job: Handle, timeout_ms: u32) -> Result<JobResult, JobError> {
        self.0.sets().join(job, timeout_ms)
    }

    pub fn detach(self, job: Handle) -> Result<(), JobError> {
        self.0.sets().detach(job)
    }

    pub fn uncharge(self, charge: Handle) -> bool {
        self.0.uncharge(charge)
    }

    pub fn charge(self, bytes: usize) -> Option<Handle> {
        self.0.host.charge(bytes).ok()
    }
}
