// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the table sizes (`limits.rs`) and the C header (`crew.h`) into `OUT_DIR`. The header that
//! is committed in `include/` is compared with it by `ci/header.sh`.

use std::{env, fs, path::PathBuf};

/// Name, documentation, default, smallest and largest value of each table size.
const LIMITS: [(&str, &str, usize, usize, usize); 5] = [
    ("MAX_POOLS", "Pools open at one time.", 8, 1, 64),
    ("MAX_SETS", "Sets of all pools together.", 256, 1, 1024),
    ("MAX_WORKERS", "Workers (threads) of all pools together.", 768, 1, 8192),
    ("MAX_WAITERS", "Threads waiting in acquire and close at one time.", 32, 1, 256),
    ("MAX_CHARGES", "Charges for fixed threads held at one time.", 64, 1, 1024),
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
    let sources = fs::read_dir(root.join("src/ffi")).expect("src/ffi");
    let mut files: Vec<PathBuf> = sources
        .map(|entry| entry.expect("src/ffi").path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect();
    files.sort();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in files {
        builder = builder.with_src(file);
    }
    builder.generate().expect("src/ffi is a C interface").write_to_file(out.join("crew.h"));
}
