// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the C drivers with the ports that they measure, and links libCom.

use std::{env, path::PathBuf};

fn main() {
    let top = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let epics = PathBuf::from(
        env::var_os("EPICS_CORELIBS")
            .expect("EPICS_CORELIBS must name a directory with EPICS base; run ci/bench.sh"),
    );
    let sources = [
        "bench/c/crew_c.c",
        "bench/c/epics.c",
        "bench/c/floor.c",
        "bench/c/job.c",
        "bench/c/shared.c",
        "bench/c/threads.c",
        "csrc/worker.c",
        "csrc/posix/port_posix.c",
        "csrc/epics/crewApp/src/crewLog.c",
        "csrc/epics/crewApp/src/crewPortEpics.c",
    ];
    let mut build = cc::Build::new();
    build.std("c99").opt_level(2).define("_GNU_SOURCE", None).flag("-pthread");
    for flag in ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"] {
        build.flag(flag);
    }
    build.flag("-isystem").flag(epics.join("include"));
    for folder in ["include", "csrc", "csrc/epics/crewApp/src", "bench/c"] {
        build.include(top.join(folder));
        println!("cargo:rerun-if-changed={}", top.join(folder).display());
    }
    build.files(sources.map(|file| top.join(file))).compile("drivers");
    cc::Build::new()
        .cpp(true)
        .include(top.join("include"))
        .file(top.join("csrc/call_cxx.cpp"))
        .compile("call_cxx");

    println!("cargo:rerun-if-env-changed=EPICS_CORELIBS");
    println!("cargo:rustc-link-search=native={}", epics.join("lib").display());
    println!("cargo:rustc-link-lib=dylib=Com");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", epics.join("lib").display());
}
