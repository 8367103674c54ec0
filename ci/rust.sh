#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Unit tests, integration tests, documentation tests; the command crew-plan; the corpus of the fuzz
# target. Two minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --locked --quiet --features plan
cd fuzz
exec cargo test --locked --quiet --lib
