// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one place that names the atomics and the cell. They are the processor's; under `--cfg loom`
//! and `--cfg shuttle` they are those of the checker that explores the models of `src/models`.

/// Whether a checker's atomics are in use. They are larger, and the tables are small then.
pub(crate) const MODELLED: bool = cfg!(any(loom, shuttle));

/// As `core::sync::atomic`.
pub(crate) mod atomic {
    #[cfg(loom)]
    pub use super::loom::{AtomicPtr, AtomicU32, AtomicUsize};
    pub use core::sync::atomic::Ordering;
    #[cfg(not(any(loom, shuttle)))]
    pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
    #[cfg(shuttle)]
    pub use shuttle::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
}

#[cfg(loom)]
pub(crate) mod loom;
#[cfg(loom)]
pub(crate) use loom::UnsafeCell;

/// As `core::cell::UnsafeCell`; each use of its content is said, and loom sees two at once.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Lets `user` look at the content. No other thread may change it during the call.
    #[inline]
    pub(crate) fn with<R>(&self, user: impl FnOnce(*const T) -> R) -> R {
        user(self.0.get())
    }

    /// Lets `user` at the content. It must be the only one during the call.
    #[inline]
    pub(crate) fn with_mut<R>(&self, user: impl FnOnce(*mut T) -> R) -> R {
        user(self.0.get())
    }
}
