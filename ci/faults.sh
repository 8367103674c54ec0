#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Injected faults, and random calls against the reference, with their figures; the same as in the
# normal tests, and more runs, of other calls each time: CREW_REFERENCE_RUNS (20,000),
# CREW_REFERENCE_SEED (the time). Five minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
export CREW_REFERENCE_RUNS=${CREW_REFERENCE_RUNS:-20000}
export CREW_REFERENCE_SEED=${CREW_REFERENCE_SEED:-$(date +%s)}
cargo test --locked --quiet --test faults --test reference -- --nocapture
echo "seed $CREW_REFERENCE_SEED"
make --no-print-directory --silent -C tests/c faults
