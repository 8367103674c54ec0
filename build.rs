// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the table sizes (`limits.rs`) and the C header (`crew.h`) into `OUT_DIR`. The header that
//! is committed in `include/` is compared with it by `ci/header.sh`.

use std::{env, fs, path::PathBuf};

/// Name, documentation, default, smallest and largest value of each table size.
const LIMITS: [(&str, &str, usize, usize, usize); 6] = [
    ("MAX_POOLS", "Pools open at one time.", 8, 1, 64),
    ("MAX_SETS", "Sets of all pools together.", 256, 1, 1024),
    ("MAX_WORKERS", "Workers (threads) of all pools together.", 768, 1, 8192),
    ("MAX_WAITERS", "Threads waiting in acquire and close at one time.", 32, 1, 256),
    ("MAX_CHARGES", "Charges for fixed threads held at one time.", 64, 1, 1024),
    ("MAX_FLEETS", "Memberships in fleets' tables at one time.", 4, 1, 16),
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed=src/ffi");
    println!("cargo:rerun-if-changed=cbindgen.toml");

    let mut rust = String::new();
    let mut c = String::new();
    for (name, doc, default, min, max) in LIMITS {
        let variable = format!("CREW_{name}");
        println!("cargo:rerun-if-env-changed={variable}");
        let value = match env::var(&variable) {
            Err(_) => default,
            Ok(text) => match text.trim().parse::<usize>() {
                Ok(value) if (min..=max).contains(&value) => value,
                _ => panic!("{variable}={text}: must be a whole number from {min} to {max}"),
            },
        };
        rust += &format!(
            "/// {doc} Set by `{variable}` at build time ({min} to {max}); default {default}.\n\
             pub const {name}: usize = {value};\n"
        );
        c += &format!(
            "/** {doc} Set by {variable} when the library is built ({min} to {max}). */\n\
             #define {variable} {value}\n"
        );
    }
    fs::write(out.join("limits.rs"), rust).expect("OUT_DIR is writable");

    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    config.after_includes = Some(match config.after_includes.take() {
        Some(text) => format!("{text}\n{c}"),
        None => c,
    });
    let mut header = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/ffi/mod.rs"))
        .generate()
        .expect("src/ffi is a C interface")
        .write(&mut header);
    // What Rust calls safety is, for C, what the pointers must be.
    let header = String::from_utf8(header).expect("UTF-8").replace("// # Safety", "// Pointers:");
    fs::write(out.join("crew.h"), header).expect("OUT_DIR is writable");
}
