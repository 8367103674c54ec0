#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Sets up and builds the demonstration IOC into build/ioc. Cost: seconds when the core is built,
# else its build.
set -eu
cd "$(dirname "$0")/.."
corelibs=$(ci/setup.sh)
make --no-print-directory lib
make --no-print-directory --silent -C examples/ioc EPICS_CORELIBS="$corelibs"
