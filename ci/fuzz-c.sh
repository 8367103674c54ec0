#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Hostile callers on real threads: the corpus of the fuzz target, then random streams for
# FUZZ_SECONDS (20), through the C archive, all of it under the address sanitizer, the C part under
# the undefined-behaviour sanitizer too.
set -euo pipefail
cd "$(dirname "$0")/.."
make --no-print-directory lib
exec make --no-print-directory --silent -C tests/c fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-20}"
