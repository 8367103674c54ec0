#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Kills CREW_FLEET_KILLS (1000) processes, each between two instructions of an operation on a
# fleet's table, and looks each time whether the survivors find everything. CREW_FLEET_SEED runs the
# same ones again. Part of ci/soak.sh; minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
export CREW_FLEET_KILLS="${CREW_FLEET_KILLS:-1000}"
exec cargo test --quiet --locked --test fleet_processes killed_in_the_middle
