#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The checks that get better with time: ci/stress.sh and ci/ioc-hostile.sh, for SOAK_SECONDS (3600)
# each, and 1,000 processes killed in the middle of an operation on a fleet's table. One after the
# other; all are run, also when one has failed.
set -u
cd "$(dirname "$0")/.."
export SOAK_SECONDS="${SOAK_SECONDS:-3600}"
status=0
ci/stress.sh || status=1
ci/ioc-hostile.sh || status=1
ci/fleet-kills.sh || status=1
exit $status
