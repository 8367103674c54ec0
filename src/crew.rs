// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process: one [`Host`], and the tables of each service. Only composition: what a service does
//! is in its own module, behind its view ([`Sets`] for worker sets).

#[cfg(feature = "restart")]
mod restart;

#[cfg(feature = "restart")]
pub(crate) use restart::Restartable;

use crate::account::Shortfall;
use crate::host::{AccountUsage, BootError, BootOptions, Host, Printer};
use crate::port::{Member, Next, Outcome};
use crate::sets::{self, OpenError, Sets, WorkerIndex};
use crate::table::Handle;
use core::fmt;

/// The process: everything that Crew owns. Put it in a `static`, boot it once. An image has one;
/// tests have many.
pub struct Crew {
    pub(crate) host: Host,
    pub(crate) sets: sets::Tables,
}

/// The image's one process: the C interface's.
#[cfg(not(any(feature = "restart", loom, shuttle)))]
pub(crate) static CREW: Crew = Crew::new();
#[cfg(feature = "restart")]
pub(crate) static CREW: Restartable<Crew> = Restartable::new(Crew::new());

impl Crew {
    /// A process that has not booted.
    // A `Crew` is a static; nothing should make one by default.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { host: Host::new(), sets: sets::Tables::new() }
    }

    /// Worker sets: pools, leases, jobs.
    #[inline(always)] // it only names two fields
    pub(crate) fn sets(&'static self) -> Sets {
        Sets::new(&self.host, &self.sets)
    }

    /// Opens the account, asks the target about the budget and says what there is to say. Once, by
    /// the thread that starts the process up.
    ///
    /// # Errors
    /// See [`BootError`]; nothing was changed, and after [`BootError::Objects`] it may be tried
    /// again.
    pub fn boot(&'static self, options: &BootOptions<'_>) -> Result<(), BootError> {
        self.host.boot(options, self, |port| self.sets.prepare(port))
    }

    /// Brings every open pool up to its keep, then forbids growth and new pools: after it nothing
    /// of Crew's touches the heap. Boot only.
    ///
    /// # Errors
    /// [`OpenError::Refused`]: a set that a pool keeps could not be made; nothing is sealed.
    /// [`OpenError::Sealed`]: it is sealed already.
    pub fn seal(&'static self) -> Result<(), OpenError> {
        self.sets().seal()
    }

    /// Member `index` of this process, for ports whose threads start with a number; `None`: there
    /// is no such worker.
    pub fn member(&'static self, index: usize) -> Option<Member> {
        WorkerIndex::of(index).map(|worker| Member { process: self, worker: worker.0 })
    }

    /// Puts the memory of a fixed thread (a scan band, an acceptor) on the account for as long as
    /// the charge lives. It cannot be refused for the budget. Any thread.
    ///
    /// # Errors
    /// `None`: all [`crate::limits::MAX_CHARGES`] are taken.
    /// `Some`: no address space holds that much.
    pub fn charge(&'static self, bytes: usize) -> Result<Charge, Option<Shortfall>> {
        self.host.charge(bytes).map(|handle| Charge { crew: self, handle })
    }

    /// Takes a charge back, and tells those that wait for bytes. False: the charge has ended
    /// before, or is none.
    pub(crate) fn uncharge(&'static self, handle: Handle) -> bool {
        let ended = self.host.uncharge(handle);
        if ended {
            self.sets().bytes_came_free();
        }
        ended
    }

    /// How many fixed threads are charged.
    pub fn charges(&self) -> usize {
        self.host.charges.count()
    }

    /// The account's figures; `None` before boot. Any thread.
    pub fn account_usage(&self) -> Option<AccountUsage> {
        self.host.account_usage()
    }

    /// Prints the state of the process, line by line, into `sink`. Level 0: a line for the account
    /// and one per pool. Level 1: roles and refusals too. Level 2: every busy set too. Any thread.
    pub fn report(&'static self, level: u32, sink: &mut dyn FnMut(&str)) {
        let mut out = Printer::new(sink);
        if self.host.report(&mut out, level) {
            self.sets().report(&mut out, level);
        }
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("account", &self.host.account).finish_non_exhaustive()
    }
}

impl Member {
    fn sets(self) -> Sets {
        match self.process.downcast_ref::<Crew>() {
            Some(crew) => crew.sets(),
            None => unreachable!("a member is one of a `Crew`"),
        }
    }

    /// What the worker shall do now. Never blocks, never calls back.
    ///
    /// # Safety
    /// The calling thread is this worker's, as the port's `thread_create` was asked for it, and the
    /// only one that asks for it. It has done what the last answer said, and has not called
    /// [`Self::exited`].
    pub unsafe fn next(self) -> Next {
        self.sets().next(WorkerIndex(self.worker))
    }

    /// The job that [`Next::Run`] gave has ended with `outcome` ([`Outcome::Returned`] or
    /// [`Outcome::Failed`]) and `value`. Never blocks.
    ///
    /// # Safety
    /// As for [`Self::next`]; the last answer was [`Next::Run`], and its function has returned.
    pub unsafe fn done(self, outcome: Outcome, value: i32) {
        self.sets().done(WorkerIndex(self.worker), outcome, value);
    }

    /// The worker's thread ends, for whatever reason. Once, from the thread-exit hook, as the last
    /// thing that the thread does with Crew.
    ///
    /// # Safety
    /// The calling thread is this worker's, and calls nothing of it afterwards.
    pub unsafe fn exited(self) {
        self.sets().exited(WorkerIndex(self.worker));
    }
}

/// The memory of a fixed thread on the account. Dropping it takes the charge back.
#[derive(Debug)]
#[must_use = "dropping a charge takes it back"]
pub struct Charge {
    crew: &'static Crew,
    handle: Handle,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.crew.uncharge(self.handle);
    }
}
