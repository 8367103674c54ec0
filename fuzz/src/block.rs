// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments in memory: each in a heap block of exactly its size, so that the address sanitizer, or
//! Miri, sees a read or a write of one byte too many.

use crate::tape::Tape;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::c_char;

/// What fills an out-parameter before the call.
const POISON: u8 = 0x5a;

/// A block of the heap.
pub struct Block {
    at: *mut u8,
    layout: Layout,
}

impl Block {
    /// `size` bytes of poison, aligned for every struct of the header.
    pub fn poison(size: usize) -> Self {
        let layout = Layout::from_size_align(size.max(1), 8).expect("a small block");
        // SAFETY: the size is not 0.
        let at = unsafe { alloc(layout) };
        if at.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: that many bytes are ours.
        unsafe { at.write_bytes(POISON, layout.size()) };
        Self { at, layout }
    }

    /// The first bytes of `value`, as many as `size`.
    pub fn prefix<T>(value: T, size: usize) -> Self {
        let block = Self::poison(size);
        // SAFETY: both are at least that long. Padding is copied as what it is, uninitialised.
        unsafe {
            core::ptr::copy_nonoverlapping(
                (&raw const value).cast::<std::mem::MaybeUninit<u8>>(),
                block.at.cast(),
                size.min(size_of::<T>()),
            );
        }
        block
    }

    /// These bytes.
    pub fn bytes(bytes: &[u8]) -> Self {
        let block = Self::poison(bytes.len());
        // SAFETY: the block is as long.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), block.at, bytes.len()) };
        block
    }

    pub fn ptr<T>(&self) -> *mut T {
        self.at.cast()
    }

    /// The value in it.
    pub fn value<T>(&self) -> T {
        assert!(self.layout.size() >= size_of::<T>());
        // SAFETY: aligned, long enough, and written by `prefix::<T>` or by the call that it was
        // for; the header's structs are plain data.
        unsafe { self.at.cast::<T>().read() }
    }

    /// Whether nothing has been written to it. Only for a block of poison.
    pub fn is_untouched(&self) -> bool {
        // SAFETY: all of it was written by `poison`.
        unsafe { core::slice::from_raw_parts(self.at, self.layout.size()) }
            .iter()
            .all(|&byte| byte == POISON)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: `alloc` gave it with this layout.
        unsafe { dealloc(self.at, self.layout) }
    }
}

/// A text argument: NULL, or a block that ends with its NUL, or one of `bound` bytes without any.
pub struct Text {
    block: Option<Block>,
    /// Whether it is 1 to `bound - 1` printable characters, blanks only where `blanks` says.
    pub is_good: bool,
}

impl Text {
    pub fn ptr(&self) -> *const c_char {
        self.block.as_ref().map_or(core::ptr::null(), |block| block.ptr())
    }

    pub fn is_null(&self) -> bool {
        self.block.is_none()
    }

    pub fn good(text: &str) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        Self { block: Some(Block::bytes(&bytes)), is_good: true }
    }

    /// A text as a caller should not pass it, or one that is just good enough.
    pub fn hostile(tape: &Tape, bound: usize, blanks: bool) -> Self {
        let mut bytes: Vec<u8> = match tape.below(10) {
            0 => return Self { block: None, is_good: false },
            1 => Vec::new(),
            2 => vec![b'x'; bound - 1],
            3 => vec![b'x'; bound],
            4 => b"a b".to_vec(),
            5 => vec![b'a', 0x80, 0xff],
            6 => vec![b'a', b'\n', 0x7f],
            7 => "\u{e9}".bytes().collect(),
            8 => b"%s%n".to_vec(),
            _ => (0..tape.below(bound)).map(|_| tape.byte().max(1)).collect(),
        };
        let good = |byte: &u8| byte.is_ascii_graphic() || (blanks && *byte == b' ');
        let is_good = (1..bound).contains(&bytes.len()) && bytes.iter().all(good);
        if bytes.len() < bound {
            bytes.push(0);
        }
        Self { block: Some(Block::bytes(&bytes)), is_good }
    }
}

/// A struct that begins with its size, which is right unless the tape says otherwise; a struct of
/// another size is there only as far as its size says.
pub fn sized<T>(tape: &Tape, is_right: bool, mut value: T) -> (Block, bool) {
    let size = size_of::<T>();
    if is_right {
        return (Block::prefix(value, size), true);
    }
    let wrong = tape.pick(&[0, 1, 4, size as u32 - 1, size as u32 + 1, u32::MAX]);
    // SAFETY: every struct that this is used for begins with a u32, its size.
    unsafe { (&raw mut value).cast::<u32>().write(wrong) };
    (Block::prefix(value, (wrong as usize).clamp(4, size)), false)
}
