#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The documentation builds without a warning (a broken link is one), and the tests that
# docs/reliability.md names exist. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
named=0
while read -r file name; do
    named=$((named + 1))
    grep -qE "(fn|static void) $name\(" "$file" || { echo "docs: $file has no test $name" >&2; status=1; }
done < <(grep -ohE '`(src|tests)/[a-z_/]+\.(rs|c)` `[a-z0-9_]+`' docs/reliability.md | tr -d '`')
echo "docs: $named tests named, looked for"
[ $status -eq 0 ]
RUSTDOCFLAGS="-D warnings" exec cargo doc --quiet --locked --no-deps --lib
