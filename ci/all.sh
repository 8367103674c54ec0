#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every check, one script each; all are run, and what failed is named at the end. About twenty
# minutes on two cores from a fresh clone. Arguments: only these checks (ci/all.sh fmt c).
set -uo pipefail
cd "$(dirname "$0")/.."

checks=(fmt layers clippy no_std docs rust models header c sanitizers stress fuzz-c readme ioc-test ioc-hostile fleet-ioc zynq
    vxworks size instructions size-host rtems epics-module epics-rtems)
if [ $# -gt 0 ]; then checks=("$@"); fi

ci/setup.sh --test >/dev/null || exit 1
mkdir -p build

passed=0
failed=()
skipped=() # a check says by its status that what it needs is not here
for check in "${checks[@]}"; do
    echo "=== $check"
    start=$SECONDS
    status=0
    "ci/$check.sh" || status=$?
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
        echo "=== $check: passed in $((SECONDS - start)) s"
    elif [ $status -eq 77 ]; then
        skipped+=("$check")
        echo "=== $check: SKIPPED"
    else
        failed+=("$check")
        echo "=== $check: FAILED after $((SECONDS - start)) s"
    fi
done
for check in "${skipped[@]}"; do echo "SKIPPED: $check (ci/$check.sh says what it needs)"; done
for check in "${failed[@]}"; do echo "FAILED: $check (run ci/$check.sh)"; done
echo "checks: $passed passed, ${#failed[@]} failed$([ ${#skipped[@]} -eq 0 ] || echo ", ${#skipped[@]} skipped")"
[ ${#failed[@]} -eq 0 ]
