#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every check, one script each; all are run, and what failed is named at the end. Five to ten minutes on two cores from a
# fresh clone. Arguments: only these checks (ci/all.sh fmt c).
set -uo pipefail
cd "$(dirname "$0")/.."

checks=(fmt clippy no_std docs rust header c sanitizers stress readme ioc-test ioc-hostile zynq vxworks size
    instructions size-host)
if [ $# -gt 0 ]; then checks=("$@"); fi

ci/setup.sh --test >/dev/null || exit 1
mkdir -p build

passed=0
failed=()
for check in "${checks[@]}"; do
    echo "=== $check"
    start=$SECONDS
    if "ci/$check.sh"; then
        passed=$((passed + 1))
        echo "=== $check: passed in $((SECONDS - start)) s"
    else
        failed+=("$check")
        echo "=== $check: FAILED after $((SECONDS - start)) s"
    fi
done
for check in "${failed[@]}"; do echo "FAILED: $check (run ci/$check.sh)"; done
echo "checks: $passed passed, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
