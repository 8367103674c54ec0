#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Real threads under stress, on the C library, for SOAK_SECONDS (60); SEED repeats the dice of an
# earlier run. Cost: that time, and half a minute to build.
set -eu
cd "$(dirname "$0")/.."
exec make --no-print-directory --silent -C tests/c stress SOAK_SECONDS="${SOAK_SECONDS:-60}" SEED="${SEED:-}"
