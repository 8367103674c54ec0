#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Undefined behaviour, by Miri, with strict provenance: the unit tests, the tests on the simulated
# port, and the corpus of the fuzz target through the C interface. Needs a nightly compiler with
# Miri; says so where there is none. Not here: what needs real threads' stacks, futexes or C. Slow,
# and not seen to its end: docs/reliability.md.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "miri: SKIPPED, there is no nightly compiler with Miri (rustup component add --toolchain nightly miri rust-src)"
    exit 77
fi
export CARGO_TARGET_DIR=$PWD/build/miri
export MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation"
# Miri is some hundred times slower: fewer cases of the same properties, and small tables, because
# the audit reads all of them.
export PROPTEST_CASES=4
export CREW_MAX_POOLS=4 CREW_MAX_SETS=24 CREW_MAX_WORKERS=72 CREW_MAX_WAITERS=8 CREW_MAX_CHARGES=8

ran() { # name, command...
    local name=$1 status=0
    shift
    "$@" >"$log" 2>&1 || status=$?
    echo "miri: $name: $(grep -hE '^test result|inputs:' "$log" | tr '\n' ' ')"
    [ "$status" = 0 ] || tail -n 60 "$log" >&2
    return "$status"
}
log=$CARGO_TARGET_DIR/log.txt
mkdir -p build/miri
# Both leak on purpose: what lives as long as a process is made anew for each test.
leaks="MIRIFLAGS=$MIRIFLAGS -Zmiri-ignore-leaks"
ran "unit tests" env "$leaks" cargo +nightly miri test --quiet --locked --lib
ran "sets on the simulated port" env "$leaks" cargo +nightly miri test --quiet --locked --test sets
cd fuzz
ran "corpus of the fuzz target" env CREW_FUZZ_EVERY="${CREW_FUZZ_EVERY:-10}" cargo +nightly miri test --quiet --locked --lib -- --nocapture
