#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The EPICS module's tests: the suite that every port passes, on futexes and on libCom's events, what
# the port promises beyond that, the drop-in under a stand-in for the CA server, in both builds, then
# the demonstration's short form, and a short run under valgrind. Cost: about 20 s after the build.
set -eu
cd "$(dirname "$0")/.."
ci/ioc-build.sh
build/ioc/conformance
build/ioc/conformance-events
build/ioc/porttest
build/ioc/castest
build/ioc/castest hosts
build/ioc/castest-wrap
build/venv/bin/python tests/epics/demo.py --short
build/venv/bin/python tests/epics/demo.py --valgrind
