// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Rust API: the same services with types. A [`Worker`] is consumed by [`Worker::run`], so a
//! role cannot be booked twice by the same borrower; a worker that was not leased does not exist.
//!
//! ```
//! use crew::{BootOptions, Budget, Crew, Outcome, Pool, PoolOptions, Role, shim};
//!
//! static CREW: Crew = Crew::new();
//!
//! CREW.boot(&BootOptions { port: &shim::PORT, budget: Budget::Mib(64) })?;
//! let roles = [
//!     Role { name: "reader", stack_bytes: 128 << 10, priority: 20 },
//!     Role { name: "writer", stack_bytes: 64 << 10, priority: 18 },
//! ];
//! let options = PoolOptions { name: "stream", capacity: 8, ..PoolOptions::default() };
//! let pool = Pool::open(&CREW, &roles, &options)?;
//!
//! let (lease, [reader, writer]) = pool.acquire(0)?;
//! let job = reader.run("read", || 42)?;
//! writer.run_detached("write", || println!("written"))?;
//! let result = job.join(1000).expect("ends within a second");
//! assert_eq!((result.outcome, result.value), (Outcome::Returned, 42));
//! drop(lease); // the set is lent again once "write" has returned
//! # pool.close(1000)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! A role cannot be booked twice:
//! ```compile_fail,E0382
//! # fn f(pool: crew::Pool<1>) {
//! let (_lease, [worker]) = pool.acquire(0).unwrap();
//! let _first = worker.run("first", || 1);
//! let _second = worker.run("second", || 2); // use of moved value
//! # }
//! ```
//! A closure larger than its place in the worker's slot does not compile:
//! ```compile_fail,E0080
//! # fn f(pool: crew::Pool<1>) {
//! let (_lease, [worker]) = pool.acquire(0).unwrap();
//! let big = [0u64; 5];
//! let _job = worker.run("big", move || big[0] as i32);
//! # }
//! # fn main() { f as fn(_); }
//! ```

use crate::crew::Crew;
use crate::limits::LABEL_BYTES;
use crate::sets::slot::{CLOSURE_WORDS, Closure, WorkerSlot};
use crate::sets::{
    AcquireError, CloseError, JobError, JobResult, OpenError, PoolOptions, PoolUsage, Role,
    RunError, Work,
};
use crate::sync::atomic::Ordering::Relaxed;
use crate::table::Handle;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::num::NonZeroU64;

/// A pool whose sets have `N` workers. A value that can be copied: it names the pool, it does not
/// own it; [`Pool::close`] ends it.
#[derive(Clone, Copy, Debug)]
pub struct Pool<const N: usize> {
    crew: &'static Crew,
    handle: Handle,
}

impl<const N: usize> Pool<N> {
    /// Opens a pool; `options.roles` is replaced by `roles`. Boot only, by convention: after
    /// [`Crew::seal`] it is refused.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        crew: &'static Crew,
        roles: &[Role<'_>; N],
        options: &PoolOptions<'_>,
    ) -> Result<Self, OpenError> {
        let handle = crew.sets().open(&PoolOptions { roles, ..*options })?;
        Ok(Self { crew, handle })
    }

    /// Borrows a whole set. Waits at most `timeout_ms`, first come, first served; 0 refuses at
    /// once. Any thread. Leasing an idle set allocates nothing; making one may.
    ///
    /// # Errors
    /// See [`crate::Refusal`]. [`AcquireError::Stale`] once the pool is closed.
    pub fn acquire(&self, timeout_ms: u32) -> Result<(Lease, [Worker; N]), AcquireError> {
        self.lend(None, timeout_ms)
    }

    /// As [`Self::acquire`], for a peer: no peer has more sets than the pool's `per_peer`.
    ///
    /// # Errors
    /// As [`Self::acquire`], and [`crate::Refusal::PeerLimit`].
    pub fn acquire_for(
        &self,
        peer: NonZeroU64,
        timeout_ms: u32,
    ) -> Result<(Lease, [Worker; N]), AcquireError> {
        self.lend(Some(peer), timeout_ms)
    }

    fn lend(
        &self,
        peer: Option<NonZeroU64>,
        timeout_ms: u32,
    ) -> Result<(Lease, [Worker; N]), AcquireError> {
        let lease = self.crew.sets().acquire(self.handle, peer, timeout_ms)?;
        let workers = core::array::from_fn(|role| Worker { crew: self.crew, lease, role });
        Ok((Lease { crew: self.crew, handle: lease }, workers))
    }

    /// Gives idle sets back until `keep` are left. Any thread; waits at most a second for the
    /// threads to end.
    ///
    /// # Errors
    /// [`CloseError::Stale`] once the pool is closed.
    pub fn trim(&self, keep: u32) -> Result<(), CloseError> {
        self.crew.sets().trim(self.handle, keep)
    }

    /// Refuses new leases, stops every worker, leased or not, and joins them; a worker inside a job
    /// stops after it. Waits at most `timeout_ms`.
    ///
    /// # Errors
    /// [`CloseError::TimedOut`]: the pool goes on closing, call again.
    pub fn close(&self, timeout_ms: u32) -> Result<(), CloseError> {
        self.crew.sets().close(self.handle, timeout_ms)
    }

    /// The pool's figures. Any thread.
    ///
    /// # Errors
    /// [`CloseError::Stale`] once the pool is closed.
    pub fn usage(&self) -> Result<PoolUsage, CloseError> {
        self.crew.sets().usage(self.handle)
    }

    /// The handle that C code knows the pool by.
    pub fn handle(&self) -> Handle {
        self.handle
    }
}

/// The right to use one set. Dropping it releases the set, which is lent again once its jobs have
/// returned; the drop does not wait for them.
#[derive(Debug)]
#[must_use = "dropping a lease releases the set"]
pub struct Lease {
    crew: &'static Crew,
    handle: Handle,
}

impl Lease {
    /// The handle that C code knows the lease by.
    pub fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // If the set died under the lease there is nothing to give back.
        let _ = self.crew.sets().release(self.handle);
    }
}

/// The right to give one member of a leased set one job.
#[derive(Debug)]
#[must_use = "a worker that is not run stays idle until its lease ends"]
pub struct Worker {
    crew: &'static Crew,
    lease: Handle,
    role: usize,
}

/// A job was not given to the worker; the closure was dropped.
pub type NotStarted = RunError;

impl Worker {
    /// Runs `job` on the worker's thread. Allocates nothing: the closure is kept in the worker's
    /// slot; one of more than four words, or of stricter alignment than a word, does not compile. A
    /// panic is caught (with the `std` feature) and told by [`Job::join`] as
    /// [`crate::Outcome::Failed`]. `label` names the job in reports and logs; what is too long of
    /// it is cut.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn run<F>(self, label: &str, job: F) -> Result<Job, NotStarted>
    where
        F: FnOnce() -> i32 + Send + 'static,
    {
        let handle = self.start(label, job, true)?;
        match handle {
            Some(handle) => Ok(Job { crew: self.crew, handle, settled: false }),
            None => unreachable!("a joinable job has a handle"),
        }
    }

    /// As [`Self::run`], with no caller to join it: a failure is logged under `label`.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn run_detached<F>(self, label: &str, job: F) -> Result<(), NotStarted>
    where
        F: FnOnce() + Send + 'static,
    {
        let job = move || {
            job();
            0
        };
        self.start(label, job, false).map(drop)
    }

    fn start<F>(&self, label: &str, job: F, joinable: bool) -> Result<Option<Handle>, NotStarted>
    where
        F: FnOnce() -> i32 + Send + 'static,
    {
        const {
            assert!(size_of::<F>() <= size_of::<Closure>(), "the closure is larger than its place");
            assert!(
                align_of::<F>() <= align_of::<Closure>(),
                "the closure's alignment is too strict"
            );
        }
        let mut closure: Closure = [MaybeUninit::uninit(); CLOSURE_WORDS];
        // SAFETY: the place is large and aligned enough (asserted above), and is ours.
        unsafe { closure.as_mut_ptr().cast::<F>().write(job) };
        let work = Work::Closure { run: call::<F>, discard: discard::<F>, closure };
        let mut end = label.len().min(LABEL_BYTES - 1);
        while !label.is_char_boundary(end) {
            end -= 1;
        }
        let label = &label.as_bytes()[..end];
        let result = self.crew.sets().run(self.lease, self.role, label, &work, joinable);
        if result.is_err() {
            // SAFETY: it was not moved to the worker, and `work` is only its bytes.
            unsafe { discard::<F>(&mut closure) };
        }
        result
    }
}

/// Moves the closure out of the worker's slot and runs it.
///
/// # Safety
/// `slot` is that of a worker to which `start::<F>` gave a closure, and this is the only call for
/// it.
unsafe extern "C" fn call<F: FnOnce() -> i32>(slot: *mut c_void) -> i32 {
    // SAFETY: the caller's promise; a slot lives as long as the process.
    let slot = unsafe { &*slot.cast::<WorkerSlot>() };
    // SAFETY: `start::<F>` wrote an `F` there, `assign` released it to this worker, and only this
    // call moves it out.
    let job = slot.with_closure(|closure| unsafe { closure.cast::<F>().read() });
    #[cfg(feature = "std")]
    {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)) {
            Ok(value) => value,
            Err(payload) => {
                slot.failed.store(1, Relaxed);
                // Dropping what was thrown can panic again; nothing may unwind out of here.
                let drop_payload = std::panic::AssertUnwindSafe(|| drop(payload));
                if let Err(again) = std::panic::catch_unwind(drop_payload) {
                    core::mem::forget(again);
                }
                0
            }
        }
    }
    #[cfg(not(feature = "std"))]
    {
        let _ = Relaxed;
        job()
    }
}

/// Drops a closure that is not run.
///
/// # Safety
/// `closure` holds an `F` that no other code will move out or drop.
unsafe fn discard<F>(closure: *mut Closure) {
    // SAFETY: the caller's promise.
    unsafe { closure.cast::<F>().drop_in_place() };
}

/// A job that can be joined. Dropping it detaches the job: a failure is then logged.
#[derive(Debug)]
#[must_use = "dropping a job detaches it"]
pub struct Job {
    crew: &'static Crew,
    handle: Handle,
    settled: bool,
}

impl Job {
    /// Waits at most `timeout_ms` for the job's end. When this has returned a result and the lease
    /// is released, the next acquire gets the set.
    ///
    /// # Errors
    /// The job itself, if it has not ended within the time.
    pub fn join(mut self, timeout_ms: u32) -> Result<JobResult, Self> {
        match self.crew.sets().join(self.handle, timeout_ms) {
            Ok(result) => {
                self.settled = true;
                Ok(result)
            }
            Err(JobError::TimedOut) => Err(self),
            // The handle is ours alone, so no other thread joins or detaches the job.
            Err(_) => unreachable!("a job is joined by its owner"),
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.settled {
            let _ = self.crew.sets().detach(self.handle);
        }
    }
}
