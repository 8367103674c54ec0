#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The C tests under the address, undefined-behaviour and thread sanitizers, the last one with the
# core compiled for it as well. Three minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
make --no-print-directory lib
exec make --no-print-directory --silent -C tests/c asan tsan
