#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The two checks that get better with time, ci/stress.sh and ci/ioc-hostile.sh, for SOAK_SECONDS (3600) each, one after the
# other; both are run, also when the first has failed.
set -u
cd "$(dirname "$0")/.."
export SOAK_SECONDS="${SOAK_SECONDS:-3600}"
status=0
ci/stress.sh || status=1
ci/ioc-hostile.sh || status=1
exit $status
