// SPDX-License-Identifier: MIT OR Apache-2.0
//! A short text in atomic words, which a report may read while its owner writes another one.
//!
//! Nothing holds the words of a text together. A reader that comes while they change sees parts of
//! both texts, never something undefined; one that must not checks a word of the slot again
//! afterwards.

use crate::limits::LABEL_BYTES;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{self, Relaxed},
};

/// Whether a byte may stand in a text: ASCII that prints, the blank included.
pub(crate) const fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Keeps as much of `text` as fits, word by word, up to the word with the NUL that ends it.
#[inline(always)] // also in an image built for size: each job's label goes this way
pub(crate) fn write(words: &[AtomicU32], text: &[u8], order: Ordering) {
    let mut rest = text;
    for word in words {
        let Some((four, after)) = rest.split_first_chunk() else {
            let last = rest.iter().rev().fold(0, |last, byte| last << 8 | u32::from(*byte));
            return word.store(last, order);
        };
        word.store(u32::from_le_bytes(*four), order);
        rest = after;
    }
}

/// The text up to its first NUL, cut to `N` bytes; a byte that does not print is shown as `?`.
pub(crate) fn read<const N: usize>(words: &[AtomicU32], order: Ordering) -> heapless::String<N> {
    let bytes = words.iter().flat_map(|word| word.load(order).to_le_bytes());
    let shown = |byte| if is_printable(byte) { char::from(byte) } else { '?' };
    bytes.take_while(|&byte| byte != 0).take(N).map(shown).collect()
}

/// A text of at most `4 * WORDS` bytes.
pub(crate) struct Text<const WORDS: usize>([AtomicU32; WORDS]);

impl<const WORDS: usize> Text<WORDS> {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(0) }; WORDS])
    }

    /// See [`write`].
    #[inline(always)]
    pub(crate) fn write(&self, text: &[u8]) {
        write(&self.0, text, Relaxed);
    }

    /// As [`Self::write`], off the path of jobs.
    #[inline(never)]
    pub(crate) fn keep(&self, text: &str) {
        self.write(text.as_bytes());
    }

    /// See [`read`]. As much as the longest of these texts has, whatever this one's room is: one
    /// function for all of them.
    pub(crate) fn read(&self) -> heapless::String<LABEL_BYTES> {
        read(&self.0, Relaxed)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_fits_comes_back(text in "[ -~]{0,20}") {
            let kept = Text::<4>::new();
            kept.write(b"an older, longer text");
            kept.write(text.as_bytes());
            let read = kept.read();
            prop_assert_eq!(read.as_str(), &text[..text.len().min(16)]);
        }
    }

    #[test]
    fn what_does_not_print_is_shown_as_such() {
        let kept = Text::<2>::new();
        kept.write(b"a\nb\x7f\xff\0c");
        assert_eq!(kept.read().as_str(), "a?b??");
        assert_eq!(read::<2>(&kept.0, Relaxed).as_str(), "a?", "cut to the reader's room");
    }
}
