// SPDX-License-Identifier: MIT OR Apache-2.0
//! What C passes by pointer, checked in one place. A C function checks its pointers here, calls the
//! core, and answers.
//!
//! Every `unsafe fn` here has one contract, the one that each C function states in its section
//! "Safety": a pointer is NULL, or it is aligned and points to what its type says, which stays
//! readable (through `*mut`: writable) until the C function returns. Of a struct that begins with
//! its size, only as many bytes as that size says need be there.

use super::status::{CREW_BAD_SIZE, CREW_BAD_TEXT, CREW_NULL_ARGUMENT, CREW_OK};
use core::ffi::c_char;

/// A struct that begins with its size. [`sized32`] implements it.
///
/// # Safety
/// Implementors begin with a `u32` that holds their size.
pub unsafe trait Sized32 {}

/// Says of structs that each begins with its size, and checks it.
macro_rules! sized32 {
    ($($name:ident),+) => {$(
        const _: fn(&$name) -> &u32 = |it| &it.size;
        const _: () = assert!(core::mem::offset_of!($name, size) == 0);
        // SAFETY: the two lines above.
        unsafe impl $crate::ffi::pointer::Sized32 for $name {}
    )+};
}
pub(super) use sized32;

/// Whether there is a struct of the size that this library knows.
///
/// # Safety
/// See the module.
pub unsafe fn check_size<T: Sized32>(pointer: *const T) -> Result<(), i32> {
    if pointer.is_null() {
        return Err(CREW_NULL_ARGUMENT);
    }
    // SAFETY: not NULL, and a `Sized32` begins with its size, which is there to be read.
    if unsafe { *pointer.cast::<u32>() } as usize == size_of::<T>() {
        Ok(())
    } else {
        Err(CREW_BAD_SIZE)
    }
}

/// A struct to read.
///
/// # Safety
/// See the module.
pub unsafe fn read<'a, T: Sized32>(pointer: *const T) -> Result<&'a T, i32> {
    // SAFETY: the caller's promise; once it is known to be of this size, all of it is readable.
    unsafe { check_size(pointer).map(|()| &*pointer) }
}

/// An array to read; NULL is an empty one.
///
/// # Safety
/// See the module; `count` elements are there.
pub unsafe fn read_array<'a, T>(pointer: *const T, count: usize) -> Result<&'a [T], i32> {
    match count {
        0 => Ok(&[]),
        _ if pointer.is_null() => Err(CREW_NULL_ARGUMENT),
        // SAFETY: not NULL, and the caller's promise.
        _ => Ok(unsafe { core::slice::from_raw_parts(pointer, count) }),
    }
}

/// A text, if it ends within `bound` bytes and is UTF-8.
///
/// # Safety
/// See the module; the bytes up to the NUL, or `bound` of them, are there.
pub unsafe fn read_text<'a>(text: *const c_char, bound: usize) -> Result<&'a str, i32> {
    if text.is_null() {
        return Err(CREW_NULL_ARGUMENT);
    }
    let bytes = text.cast::<u8>();
    // SAFETY: each byte is read only if no byte before it was NUL.
    let length = (0..bound).find(|&i| unsafe { *bytes.add(i) } == 0).ok_or(CREW_BAD_TEXT)?;
    // SAFETY: `length` bytes were just read there.
    let slice = unsafe { core::slice::from_raw_parts(bytes, length) };
    core::str::from_utf8(slice).map_err(|_| CREW_BAD_TEXT)
}

/// A checked place for a result.
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// A place that must be given.
    ///
    /// # Safety
    /// See the module.
    pub unsafe fn new(pointer: *mut T) -> Result<Self, i32> {
        if pointer.is_null() { Err(CREW_NULL_ARGUMENT) } else { Ok(Self(pointer)) }
    }

    /// A struct that must be given.
    ///
    /// # Safety
    /// See the module.
    pub unsafe fn sized(pointer: *mut T) -> Result<Self, i32>
    where
        T: Sized32,
    {
        // SAFETY: the caller's promise.
        unsafe { check_size(pointer) }.map(|()| Self(pointer))
    }

    /// A struct, or NULL for a result that the caller does not want.
    ///
    /// # Safety
    /// See the module.
    pub unsafe fn sized_or_null(pointer: *mut T) -> Result<Option<Self>, i32>
    where
        T: Sized32,
    {
        // SAFETY: the caller's promise.
        if pointer.is_null() { Ok(None) } else { unsafe { Self::sized(pointer) }.map(Some) }
    }

    /// Puts the result there.
    pub fn write(self, value: T) {
        // SAFETY: checked when this was made, and writable until the C function returns.
        unsafe { self.0.write(value) }
    }
}

/// Writes a result, or answers its status.
///
/// # Safety
/// See the module.
pub unsafe fn give<T>(out: *mut T, result: impl FnOnce() -> Result<T, i32>) -> i32 {
    // SAFETY: the caller's promise.
    status(unsafe { Out::new(out) }.and_then(|out| result().map(|value| out.write(value))))
}

/// Writes a result that begins with its size, or answers its status.
///
/// # Safety
/// See the module.
pub unsafe fn give_sized<T: Sized32>(out: *mut T, result: impl FnOnce() -> Result<T, i32>) -> i32 {
    // SAFETY: the caller's promise.
    status(unsafe { Out::sized(out) }.and_then(|out| result().map(|value| out.write(value))))
}

/// The status of a result.
pub fn status(result: Result<(), i32>) -> i32 {
    match result {
        Ok(()) => CREW_OK,
        Err(status) => status,
    }
}
