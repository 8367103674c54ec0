#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The Rust tests with real threads (unit tests, std port) under the thread sanitizer, with the
# standard library compiled for it as well. Needs a nightly compiler with its library's source, and
# says so where there is none: then the C programs of ci/sanitizers.sh, with the core compiled for
# the sanitizer, are what it has looked at. Three minutes on a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$(rustc +nightly --print sysroot 2>/dev/null) || root=
if [ ! -f "$root/lib/rustlib/src/rust/library/core/src/lib.rs" ]; then
    echo "tsan: SKIPPED, there is no nightly compiler with rust-src (rustup component add --toolchain nightly rust-src)"
    exit 77
fi
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR=$PWD/build/tsan RUSTFLAGS=-Zsanitizer=thread
# Why: tests/c/no_fifo.c.
without_fifo=(prlimit --rtprio=0)
if setpriv --bounding-set=-sys_nice true 2>/dev/null; then
    without_fifo+=(setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice)
fi
exec "${without_fifo[@]}" cargo +nightly test --quiet --locked -Zbuild-std --target "$host" --lib --test std_port
