// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fuzz target: see the library.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    crew_fuzz::run(input);
});
