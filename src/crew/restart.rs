// SPDX-License-Identifier: MIT OR Apache-2.0
//! A static that can begin anew, for fuzzing (feature `restart`): the same code behind the same
//! entry points, for any number of processes one after the other. An image never has this.

use core::cell::UnsafeCell;
use core::ops::Deref;

pub(crate) struct Restartable<T>(UnsafeCell<T>);

// SAFETY: a `T` may be shared; only `begin_anew` does more than share it, and its caller promises
// that no other thread uses it.
unsafe impl<T: Sync> Sync for Restartable<T> {}

impl<T> Restartable<T> {
    pub(crate) const fn new(state: T) -> Self {
        Self(UnsafeCell::new(state))
    }

    /// Forgets what it holds.
    ///
    /// # Safety
    /// No thread uses a reference into it from here on, and it owns nothing that must be dropped.
    pub(crate) unsafe fn begin_anew(&self, state: T) {
        // SAFETY: the caller's promise.
        unsafe { self.0.get().write(state) }
    }
}

impl<T> Deref for Restartable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: no thread has it mutably, see `begin_anew`.
        unsafe { &*self.0.get() }
    }
}
