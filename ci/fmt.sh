#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Rust code is formatted as rustfmt.toml says. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo fmt --manifest-path bench/Cargo.toml --check
exec cargo fmt --manifest-path fuzz/Cargo.toml --check
