#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The C interface: every test compiled as C99 and as C++, without a warning. Two minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
# Where cargo puts what it makes is the caller's choice.
elsewhere=$PWD/build/elsewhere
planned=$(CARGO_TARGET_DIR=$elsewhere make --no-print-directory --dry-run lib)
if ! grep -q "cp $elsewhere/release/libcrew_archive.a" <<<"$planned"; then
    echo "c: make lib does not look where CARGO_TARGET_DIR says" >&2
    exit 1
fi
make --no-print-directory lib
exec make --no-print-directory --silent -C tests/c check
