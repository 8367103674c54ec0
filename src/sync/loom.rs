// SPDX-License-Identifier: MIT OR Apache-2.0
//! loom's atomics in the form that the core needs.
//!
//! Two things differ. loom's are made at run time, in a model; the core's are constants. So each of
//! ours takes its place at its first use, from a [`stock`] that the model makes before its threads
//! start, so that its making happens before everything. And loom takes `SeqCst` accesses for
//! `AcqRel` ones, which allows what no processor does; its `SeqCst` *fences* are exact. So each
//! `SeqCst` access gets a fence: before it, or after it, as [`set_fences`] says. Either makes a
//! program whose two words are both accessed with `SeqCst` behave as Rust promises. With fences
//! before, a `SeqCst` store followed by a weaker load is found wanting; with fences after, a weaker
//! store followed by a `SeqCst` load. So each model is explored in both ways.

use ::loom::sync::atomic as real;
use core::cell::{OnceCell, RefCell};
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Release, SeqCst};
use std::cell::Cell;
use std::vec::Vec;

/// Where the fence of a `SeqCst` access stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fences {
    /// Nowhere: as long as there is one thread it changes nothing, and takes loom long.
    None,
    /// Before it.
    Before,
    /// After it.
    After,
}

#[derive(Default)]
struct Stock {
    words: Vec<real::AtomicU32>,
    sizes: Vec<real::AtomicUsize>,
    pointers: Vec<real::AtomicPtr<()>>,
    cells: Vec<::loom::cell::UnsafeCell<()>>,
}

// loom runs all threads of a model on one thread of the system.
std::thread_local! {
    static STOCK: RefCell<Stock> = RefCell::default();
    static FENCES: Cell<Fences> = const { Cell::new(Fences::None) };
}

/// From here on.
pub(crate) fn set_fences(fences: Fences) {
    FENCES.set(fences);
}

/// The most of each kind that one model touches. Every fence looks at all of them.
const WORDS: usize = 140;
const OTHERS: usize = 16;

/// Begins a model.
pub(crate) fn stock() {
    STOCK.replace(Stock {
        words: (0..WORDS).map(|_| real::AtomicU32::new(0)).collect(),
        sizes: (0..OTHERS).map(|_| real::AtomicUsize::new(0)).collect(),
        pointers: (0..OTHERS).map(|_| real::AtomicPtr::new(core::ptr::null_mut())).collect(),
        cells: (0..OTHERS).map(|_| ::loom::cell::UnsafeCell::new(())).collect(),
    });
}

fn take<T>(pick: impl Fn(&mut Stock) -> &mut Vec<T>) -> T {
    let taken = STOCK.with_borrow_mut(|stock| pick(stock).pop());
    taken.expect("a larger stock for this model")
}

/// Does `access` with loom's ordering for `order`, fenced if that is `SeqCst`.
fn fenced<R>(order: Ordering, weaker: Ordering, access: impl FnOnce(Ordering) -> R) -> R {
    if order != SeqCst {
        return access(order);
    }
    if FENCES.get() == Fences::Before {
        real::fence(SeqCst);
    }
    let result = access(weaker);
    if FENCES.get() == Fences::After {
        real::fence(SeqCst);
    }
    result
}

macro_rules! atomic {
    ($(<$t:ident>)? $name:ident, $value:ty, $real:ty, $stock:ident, $is_zero:expr) => {
        pub struct $name$(<$t>)? {
            initial: $value,
            place: OnceCell<$real>,
        }

        // SAFETY: loom runs all threads of a model on one thread of the system, and switches only
        // in its own calls; `place` is set between two of them.
        unsafe impl$(<$t>)? Sync for $name$(<$t>)? {}
        // SAFETY: as above.
        unsafe impl$(<$t>)? Send for $name$(<$t>)? {}

        impl$(<$t>)? $name$(<$t>)? {
            pub const fn new(initial: $value) -> Self {
                Self { initial, place: OnceCell::new() }
            }

            fn real(&self) -> &$real {
                self.place.get_or_init(|| {
                    assert!($is_zero(self.initial), "what is not 0 at first is set by the model");
                    take(|stock| &mut stock.$stock)
                })
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ty, $stock:ident) => {
        atomic!($name, $value, real::$name, $stock, |value| value == 0);

        #[allow(dead_code)] // Not every integer needs every access.
        impl $name {
            pub fn load(&self, order: Ordering) -> $value {
                fenced(order, Acquire, |order| self.real().load(order))
            }

            pub fn store(&self, value: $value, order: Ordering) {
                // A swap: loom does not know that a store comes after the compare-and-swap that
                // took place before it, unless the storing thread has seen that one's value.
                fenced(order, Release, |order| drop(self.real().swap(value, order)))
            }

            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                fenced(order, AcqRel, |order| self.real().swap(value, order))
            }

            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let failure = if failure == SeqCst { Acquire } else { failure };
                fenced(success, AcqRel, |success| {
                    self.real().compare_exchange(current, new, success, failure)
                })
            }

            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut next: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut seen = self.load(failure);
                while let Some(wanted) = next(seen) {
                    match self.compare_exchange(seen, wanted, success, failure) {
                        Ok(before) => return Ok(before),
                        Err(now) => seen = now,
                    }
                }
                Err(seen)
            }

            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                fenced(order, AcqRel, |order| self.real().fetch_add(value, order))
            }

            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                fenced(order, AcqRel, |order| self.real().fetch_sub(value, order))
            }

            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                fenced(order, AcqRel, |order| self.real().fetch_and(value, order))
            }

            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                fenced(order, AcqRel, |order| self.real().fetch_or(value, order))
            }

            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                fenced(order, AcqRel, |order| self.real().fetch_max(value, order))
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.load(Ordering::Relaxed).fmt(f)
            }
        }
    };
}

integer!(AtomicU32, u32, words);
integer!(AtomicUsize, usize, sizes);
atomic!(<T> AtomicPtr, *mut T, real::AtomicPtr<()>, pointers, |value: *mut T| value.is_null());

impl<T> AtomicPtr<T> {
    pub fn load(&self, order: Ordering) -> *mut T {
        fenced(order, Acquire, |order| self.real().load(order)).cast()
    }

    pub fn store(&self, value: *mut T, order: Ordering) {
        fenced(order, Release, |order| self.real().store(value.cast(), order))
    }
}

impl<T> core::fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}

/// A cell whose users loom watches.
pub(crate) struct UnsafeCell<T> {
    content: core::cell::UnsafeCell<T>,
    watch: OnceCell<::loom::cell::UnsafeCell<()>>,
}

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { content: core::cell::UnsafeCell::new(value), watch: OnceCell::new() }
    }

    /// Lets `user` look at the content; fails the model if another thread changes it meanwhile.
    pub(crate) fn with<R>(&self, user: impl FnOnce(*const T) -> R) -> R {
        let watch = self.watch.get_or_init(|| take(|stock| &mut stock.cells));
        watch.with(|_| user(self.content.get()))
    }

    /// Lets `user` at the content; fails the model if it is not the only one.
    pub(crate) fn with_mut<R>(&self, user: impl FnOnce(*mut T) -> R) -> R {
        let watch = self.watch.get_or_init(|| take(|stock| &mut stock.cells));
        watch.with_mut(|_| user(self.content.get()))
    }
}
