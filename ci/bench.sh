#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Speed and size beside what people use today: a table for each question; all figures in
# build/bench/results.json; what was aimed at and seen in docs/performance.md, if all questions were
# asked at full scale. Two minutes on two cores that have nothing else to do, and up to a minute and
# a half more the first time, to build. BENCH_SCALE=0.2 for a look. Arguments: only these questions
# (ci/bench.sh lease refusal): lease, round-trip, connection, ca, refusal, fleet, instructions, size.
# No test depends on the figures.
set -euo pipefail
cd "$(dirname "$0")/.."

questions=(lease round-trip connection ca refusal fleet instructions size)
wanted=("${@:-${questions[@]}}")
out=build/bench
mkdir -p "$out"
files=()
start=$SECONDS
BENCH_LOAD=$(cut -d' ' -f1-3 /proc/loadavg)
export BENCH_LOAD

say() { printf 'bench: [%3d s] %s\n' $((SECONDS - start)) "$*" >&2; }
is_wanted() { [[ " ${wanted[*]} " == *" $1 "* ]]; }
# Bounds each program, so that a hang is an error and not a night.
run() { # seconds, name of the file, program with its arguments
    files+=("$out/$2.jsonl")
    timeout --kill-after=5 "$1" "${@:3}" >"$out/$2.jsonl"
}

say "building"
EPICS_CORELIBS=$(ci/setup.sh)
export EPICS_CORELIBS
if is_wanted ca; then ci/ioc-build.sh >/dev/null; fi
# The largest tables, so that capacity 1024 can be measured: in a target folder of their own.
export CREW_MAX_SETS=1024 CREW_MAX_WORKERS=3072
(cd bench && cargo clippy --quiet --release --locked -- -D warnings && cargo build --quiet --release --locked)
unset CREW_MAX_SETS CREW_MAX_WORKERS
program=$out/target/release/crew-bench
warnings=(-std=c99 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
"${CC:-cc}" "${warnings[@]}" bench/ca/first_byte.c -o "$out/first-byte"
"${CC:-cc}" "${warnings[@]}" -shared -fPIC bench/ca/count_threads.c -o "$out/count-threads.so" -ldl

if is_wanted lease; then
    say "1. lease"
    run 120 lease "$program" lease
fi
if is_wanted round-trip; then
    for port in posix epics; do
        for cpus in one two; do
            say "2. round trip, $port port, CPUs: $cpus"
            run 60 "round-trip-$port-$cpus" "$program" round-trip "$port" "$cpus"
        done
    done
fi
if is_wanted connection; then
    for port in posix epics; do
        for cpus in one any; do
            say "3. connection, $port port, CPUs: $cpus"
            run 60 "connection-$port-$cpus" "$program" connection "$port" "$cpus"
        done
    done
fi
if is_wanted ca; then
    say "4. CA server"
    run 180 ca build/venv/bin/python bench/ca/server.py
fi
if is_wanted refusal; then
    say "5. refusal"
    run 60 refusal "$program" refusal
fi
if is_wanted fleet; then
    say "6. fleet"
    run 90 fleet "$program" fleet
fi

# Shown, not judged: whether they are as they should be is for the checks of the same names to say.
for question in instructions size; do
    if is_wanted $question; then
        say "$question"
        script=ci/$question.sh
        if [ $question = size ]; then script=ci/size-host.sh; fi
        "$script" >"$out/$question.log" 2>&1 || true
    fi
done

# A part of the questions, or a look, does not replace what the document says of all.
record=
if [ $# -eq 0 ] && [ "${BENCH_SCALE:-1}" = 1 ]; then record=--record; fi
python3 bench/report.py $record "$out/results.json" ${files[@]+"${files[@]}"}
if is_wanted instructions; then printf '\n7. Instructions of each call\n' && cat "$out/instructions.log"; fi
if is_wanted size; then printf '\n8. Bytes: code, tables, one slot of each table\n' && cat "$out/size.log"; fi
say "done"
