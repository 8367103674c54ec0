#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The demonstration: an IOC whose CA server runs on a pool, and clients that try to exhaust it.
# Arguments go to tests/epics/demo.py (--short, --valgrind; --help). Cost: about a minute, --short
# about 20 s, after the build.
set -eu
cd "$(dirname "$0")/.."
ci/ioc-build.sh
exec build/venv/bin/python tests/epics/demo.py "$@"
