#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The C interface: every test compiled as C99 and as C++, without a warning. Two minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
make --no-print-directory lib
exec make --no-print-directory --silent -C tests/c check
