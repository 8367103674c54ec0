// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the table sizes (`limits.rs`) and the C headers into `OUT_DIR`. The headers that are
//! committed in `include/` are compared with them by `ci/header.sh`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Name, documentation, default, smallest and largest value of each table size.
const LIMITS: [(&str, &str, usize, usize, usize); 6] = [
    ("MAX_POOLS", "Pools open at one time.", 8, 1, 64),
    ("MAX_SETS", "Sets of all pools together.", 256, 1, 1024),
    ("MAX_WORKERS", "Workers (threads) of all pools together.", 768, 1, 8192),
    ("MAX_WAITERS", "Threads waiting in acquire and close at one time.", 32, 1, 256),
    ("MAX_CHARGES", "Charges for fixed threads held at one time.", 64, 1, 1024),
    ("MAX_FLEETS", "Memberships in fleets' tables at one time.", 4, 1, 16),
];

/// How many events Crew asks its port for at most, from the other sizes: those of the workers and
/// of their jobs, the seats of waiters for a set (some are reserved), and the places of waiters in
/// fleets' tables of this image. `src/table/waiters.rs` checks it.
const EVENTS: &str = "MAX_WORKERS * (1 + JOBS_PER_WORKER) + 2 * MAX_WAITERS + 4";

/// Each header's name, the folder it is made from, and there the files with its sections, in order.
const HEADERS: [(&str, &str, &[&str]); 3] = [
    (
        "crew.h",
        "src/ffi",
        &["status.rs", "port.rs", "boot.rs", "account.rs", "report.rs", "worker.rs"],
    ),
    ("crew_pool.h", "src/ffi/pool", &["mod.rs", "../../sets/usage.rs"]),
    ("crew_fleet.h", "src/ffi/fleet", &["mod.rs"]),
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed=src/ffi");
    println!("cargo:rerun-if-changed=src/sets/usage.rs");
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
            "/* {doc}\n * Set by {variable} when the library is built ({min} to {max}). */\n\
             #define {variable} {value}\n"
        );
    }
    let doc = "Events of a port that Crew makes in the life of a process, at most.";
    rust += &format!("/// {doc}\npub const MAX_EVENTS: usize = {EVENTS};\n");
    let events = EVENTS.replace("MAX_", "CREW_MAX_").replace("JOBS_", "CREW_JOBS_");
    c += &format!(
        "/* {doc}\n * A port that has to have them ready has so many. */\n\
         #define CREW_MAX_EVENTS ({events})\n"
    );
    fs::write(out.join("limits.rs"), rust).expect("OUT_DIR is writable");

    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    for (name, folder, files) in HEADERS {
        let limits = if name == "crew.h" { &c } else { "" };
        let header = header(&root, folder, files, limits);
        fs::write(out.join(name), header).expect("OUT_DIR is writable");
    }
}

/// A header: what `top.h` says, the limits, what cbindgen makes of the files, what `end.h` says.
fn header(root: &Path, folder: &str, files: &[&str], limits: &str) -> String {
    let folder = root.join(folder);
    let read = |name| fs::read_to_string(folder.join(name)).expect("each header has it");
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    config.header = Some(read("top.h") + limits);
    config.trailer = Some(read("end.h"));
    let mut made = Vec::new();
    files
        .iter()
        .fold(cbindgen::Builder::new().with_config(config), |builder, file| {
            builder.with_src(folder.join(file))
        })
        .generate()
        .expect("src/ffi is a C interface")
        .write(&mut made);
    // What Rust calls safety is, for C, what the pointers must be.
    String::from_utf8(made).expect("UTF-8").replace("// # Safety", "// Pointers:")
}
