#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Rust code is formatted as rustfmt.toml says, and no line of it, comments included, is wider than that says: rustfmt
# leaves comments alone. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

width=$(sed -n 's/^max_width = //p' rustfmt.toml)
git ls-files -z '*.rs' | xargs -0 awk -v width="$width" '
    length > width { print FILENAME ":" FNR ": " length " characters, at most " width; wide = 1 }
    END { exit wide }' >&2
cargo fmt --all --check
cargo fmt --manifest-path bench/Cargo.toml --check
exec cargo fmt --manifest-path fuzz/Cargo.toml --check
