#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Instructions of each call on the hot path, on x86_64, counted by valgrind: the same on every
# machine and in every run. Fails above the limits below, whatever the compiler, and when a count is
# more than 1 % off the golden one, if that is of the same compiler; `--write` makes these counts
# the golden ones. Ten seconds after the build.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"" | --write) write=${1:-} ;;
*) echo "usage: ci/instructions.sh [--write]" >&2; exit 2 ;;
esac

# name, the scenario of bench/instructions.c, the function, calls a round, limit. The limits are
# about twice what was counted when they were set.
COUNTS="acquire job crew_acquire 1 500
acquire_last_idle last crew_acquire 1 500
acquire_refused full crew_acquire 1 700
run job crew_run 1 800
run_detached detached crew_run 1 800
next job crew_worker_next 2 150
done job crew_worker_done 1 400
join job crew_join 1 150
release job crew_release 1 400"
ROUNDS=1000

program=build/bench/instructions
measured=build/bench/instructions.txt
mkdir -p build/bench
# The default tables, whatever the environment says: what the counts are compared with has them.
unset CREW_MAX_POOLS CREW_MAX_SETS CREW_MAX_WORKERS CREW_MAX_WAITERS CREW_MAX_CHARGES CREW_MAX_FLEETS
make --no-print-directory --silent lib
"${CC:-cc}" -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude \
    bench/instructions.c build/libcrew.a -pthread -o "$program"

count() { # scenario, function: instructions while the function, or what it calls, runs
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect="$2" \
        "$program" "$1" 2>&1 | awk '/Collected/ { print $NF }'
}

status=0
echo "compiler $(rustc --version)" >"$measured"
while read -r name scenario function calls limit; do
    total=$(count "$scenario" "$function")
    if [ -z "$total" ]; then
        echo "instructions: $name: nothing counted, try: valgrind --tool=callgrind $program $scenario" >&2
        exit 1
    fi
    each=$(((total + ROUNDS * calls / 2) / (ROUNDS * calls)))
    echo "$name $each" >>"$measured"
    if [ "$each" -gt "$limit" ]; then
        echo "instructions: $name takes $each, at most $limit are allowed" >&2
        status=1
    fi
done <<<"$COUNTS"
awk '$1 != "compiler" { printf "    %-20s %6d\n", $1, $2 }' "$measured"
GOLDEN_TOLERANCE_PERCENT=1 ci/golden.sh $write instructions bench/golden/instructions-x86_64.txt "$measured" \
    "ci/instructions.sh --write" || status=1
exit $status
