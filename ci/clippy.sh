#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Lints, each a failure, for every combination of features and the fuzz driver. (The benchmark's:
# ci/bench.sh.) A minute.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo clippy --quiet --locked --package crew --all-targets --features plan -- -D warnings
cargo clippy --quiet --locked --release --package crew-archive -- -D warnings
cargo clippy --quiet --locked --release --package crew-archive --features std -- -D warnings
cargo clippy --quiet --locked --release --package crew-rtems-std -- -D warnings
cargo clippy --quiet --locked --no-default-features --lib -- -D warnings
cargo clippy --quiet --locked --no-default-features --features defmt,audit --lib -- -D warnings
cargo clippy --quiet --locked --features defmt --lib -- -D warnings
cargo clippy --quiet --locked --no-default-features --features restart,audit --lib -- -D warnings
(cd fuzz && cargo clippy --quiet --locked --lib --tests -- -D warnings)
