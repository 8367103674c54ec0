#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Cargo with a compiler that has its own library's source beside it, for targets whose core is
# compiled here (-Zbuild-std): one release's compiler with another's source fails. The switch is
# unstable, hence RUSTC_BOOTSTRAP. Looks at the distribution's compiler, the default one, and
# rustup's nightly, in this order. Arguments: cargo's. `--rustc ...` asks the compiler instead.
# Fails when there is no such pair.
set -eu

has_source() { # a rustc command
    root=$("$@" --print sysroot 2>/dev/null) && [ -f "$root/lib/rustlib/src/rust/library/core/src/lib.rs" ]
}

if [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && has_source /usr/bin/rustc; then
    rustc=/usr/bin/rustc cargo=/usr/bin/cargo
elif has_source rustc; then
    rustc=rustc cargo=cargo
elif has_source rustup run nightly rustc; then
    rustc=$(rustup which --toolchain nightly rustc)
    cargo=$(rustup which --toolchain nightly cargo)
else
    echo "build-std: no Rust compiler here has its library's source. As root: ci/setup.sh --vxworks; with rustup:" \
        "rustup component add rust-src" >&2
    exit 1
fi
if [ "${1:-}" = --rustc ]; then
    shift
    exec "$rustc" "$@"
fi
RUSTC=$rustc RUSTC_BOOTSTRAP=1 exec "$cargo" "$@"
