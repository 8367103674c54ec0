#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Unit tests, integration tests, documentation tests; the command crew-plan. Under a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo test --locked --quiet --features plan
