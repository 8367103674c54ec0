#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Crew's size on x86_64: what the linker keeps of build/libcrew.a for a small C program
# (bench/size.c), and what a slot of each table takes, in bytes. Fails above the limits below, and
# when a figure is off the golden one of the same compiler; `--write` makes these figures the golden
# ones. Seconds, after a build of 15 s the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"" | --write) write=${1:-} ;;
*) echo "usage: ci/size-host.sh [--write]" >&2; exit 2 ;;
esac

# The slots' are promised in README.md.
LIMITS="set 64
worker 128
job_cell 32
core_text 65536"

out=build/bench
measured=$out/size.txt
mkdir -p "$out"
unset CREW_MAX_POOLS CREW_MAX_SETS CREW_MAX_WORKERS CREW_MAX_WAITERS CREW_MAX_CHARGES CREW_MAX_FLEETS
make --no-print-directory --silent lib
"${CC:-cc}" -std=c99 -O2 -Iinclude bench/size.c build/libcrew.a -pthread \
    -Wl,--gc-sections -Wl,-Map="$out/size.map" -o "$out/size"
CARGO_PROFILE_RELEASE_DEBUG=2 CARGO_TARGET_DIR=$out/size-target \
    cargo build --quiet --release --locked --package crew-archive

{
    echo "compiler $(rustc --version), $("${CC:-cc}" --version | head -n 1)"
    python3 bench/size.py "$out/size.map" "$out/size-target/release/libcrew_archive.a"
} >"$measured"
awk '$1 != "compiler" { printf "    %-20s %7d\n", $1, $2 }' "$measured"

status=0
while read -r name limit; do
    value=$(awk -v name="$name" '$1 == name { print $2 }' "$measured")
    if [ "$value" -gt "$limit" ]; then
        echo "size: $name is $value bytes, at most $limit are promised" >&2
        status=1
    fi
done <<<"$LIMITS"
ci/golden.sh $write size bench/golden/size-x86_64.txt "$measured" "ci/size-host.sh --write" || status=1
exit $status
