#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The documentation builds without a warning (a broken link is one). Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTDOCFLAGS="-D warnings" exec cargo doc --quiet --locked --no-deps --lib
