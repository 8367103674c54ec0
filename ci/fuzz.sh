#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Fuzzes the C interface for FUZZ_SECONDS (default 600): the fuzz target in fuzz/ under the address
# sanitizer, where there is a nightly compiler; else its companion in C (tests/c/fuzz.c). Starts
# from the committed corpus, prints executions and coverage, and fails on a find. Some minutes more
# for the first build.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-600}
version=0.13.1 # of cargo-fuzz

in_c() {
    echo "fuzz: $1; the companion in C runs instead (ASan, UBSan, real threads, no coverage)"
    make --no-print-directory lib
    exec make --no-print-directory --silent -C tests/c fuzz FUZZ_SECONDS="$seconds"
}

cargo +nightly --version >/dev/null 2>&1 || in_c "there is no nightly compiler (rustup toolchain install nightly)"
tools=$PWD/build/tools
export PATH=$tools/bin:$PATH
if [ "$(cargo-fuzz --version 2>/dev/null)" != "cargo-fuzz $version" ]; then
    echo "fuzz: installing cargo-fuzz $version into build/tools"
    cargo install --quiet --locked --root "$tools" --version "$version" cargo-fuzz || in_c "cargo-fuzz cannot be installed"
fi

cd fuzz
found=../build/fuzz/found
work=../build/fuzz/corpus
log=../build/fuzz/log.txt
mkdir -p "$found" "$work"
cargo +nightly fuzz build --fuzz-dir . --features fuzzer abi
target=$(find ../build/fuzz/target -path '*/release/abi' -type f -perm -u+x | head -n 1)
status=0
# New inputs go to the first directory, the second one is only read.
"$target" "$work" corpus/abi -max_total_time="$seconds" -max_len=1024 -timeout=60 -print_final_stats=1 \
    -artifact_prefix="$found/" >"$log" 2>&1 || status=$?
if [ "$status" != 0 ]; then
    grep -E 'panicked at|SUMMARY|Test unit written|Base64' -A 3 "$log" | head -n 40 >&2 || true
    echo "fuzz: FAILED, see $log. CREW_FUZZ_TELL=1 $target <input> tells each call of it" >&2
fi
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
coverage=$(sed -n 's/^#[0-9]*[[:space:]]*\(DONE\|pulse\|NEW\|REDUCE\|INITED\) *cov: \([0-9]*\) ft: \([0-9]*\).*/\2 edges, \3 features/p' "$log" | tail -n 1)
echo "fuzz: ${runs:-0} executions in $seconds s, coverage $coverage, seed $(sed -n 's/^INFO: Seed: //p' "$log")"
exit "$status"
