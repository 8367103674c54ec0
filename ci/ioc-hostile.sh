#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The demonstration IOC under hostile clients for SOAK_SECONDS (60), then one whose own threads are
# killed while they serve; SEED repeats the dice of an earlier run. Cost: that time and half a
# minute more.
set -eu
cd "$(dirname "$0")/.."
ci/ioc-build.sh
exec build/venv/bin/python tests/epics/hostile.py --seconds "${SOAK_SECONDS:-60}" ${SEED:+--seed "$SEED"}
