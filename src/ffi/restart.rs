// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that can begin anew, for fuzzing (feature `restart`): the same code behind the same
//! entry points, for any number of processes one after the other. An image never has this.

use crate::crew::Crew;
use core::cell::UnsafeCell;
use core::ops::Deref;

pub(crate) struct Process<T>(UnsafeCell<T>);

// SAFETY: a `T` may be shared; only `crew_restart` does more than share it, and its caller promises
// that no other thread uses it.
unsafe impl<T: Sync> Sync for Process<T> {}

impl<T> Process<T> {
    pub(super) const fn new(state: T) -> Self {
        Self(UnsafeCell::new(state))
    }
}

impl<T> Deref for Process<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: no thread has it mutably, see `crew_restart`.
        unsafe { &*self.0.get() }
    }
}

/// Forgets the process: afterwards it is as before `crew_boot`.
///
/// # Safety
/// No call of the C ABI is under way on any thread, no thread of a port will make another, and
/// no port keeps an event that it was given.
pub unsafe fn crew_restart() {
    // SAFETY: the caller's promise: no reference into the old process is used from here on. It owns
    // nothing that would have to be dropped.
    unsafe {
        super::CREW.0.get().write(Crew::new());
        super::FLEETS.0.get().write(super::fleet::Fleets::new());
    }
}
