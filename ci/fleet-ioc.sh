#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Fleets in an IOC: the text of leases; how jobs for them end, in one IOC; then the two-IOC example
# of examples/fleet, end to end: an owner, an asker, and what happens when either is killed. Cost:
# about a minute after the build.
set -eu
cd "$(dirname "$0")/.."
ci/ioc-build.sh
build/ioc/leasetext
build/ioc/fleetjobs
exec build/venv/bin/python tests/epics/fleet.py
