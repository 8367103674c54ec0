#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The EPICS module's tests: the drop-in under a stand-in for the CA server, in both builds, then the demonstration's
# short form, and a short run under valgrind where that is installed. Cost: about 20 s after the build.
set -eu
cd "$(dirname "$0")/.."
ci/ioc-build.sh
build/ioc/castest
build/ioc/castest-wrap
build/venv/bin/python tests/epics/demo.py --short
if command -v valgrind >/dev/null 2>&1; then
    build/venv/bin/python tests/epics/demo.py --valgrind
else
    echo "valgrind is not installed: the run under memcheck was left out"
fi
