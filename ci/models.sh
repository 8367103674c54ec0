#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The models of src/models: each under loom, in every interleaving with few preemptions, and each
# scenario of many threads under shuttle, in random schedules. Prints how many of each were run.
#   ci/models.sh           the short form, part of ci/all.sh: a minute and a half after the build
#   ci/models.sh --full    the whole: make model
#   ci/models.sh NAME...   only the models whose names contain one of these, as much of them as in --full
# A failure of a scenario prints the seed that runs it again: SEED=... ci/models.sh NAME. Other
# settings: MODEL_PREEMPTIONS and MODEL_SECONDS (loom, the latter for each model and placing of
# fences), MODEL_SCHEDULES (shuttle, of each kind).
set -euo pipefail
cd "$(dirname "$0")/.."

form=short
case "${1:-}" in
--full) form=full; shift ;;
"") ;;
-*) sed -n 's/^#   //p' "$0" >&2; exit 2 ;;
*) form=full ;;
esac
if [ $form = full ]; then
    export MODEL_PREEMPTIONS=${MODEL_PREEMPTIONS:-2} MODEL_SECONDS=${MODEL_SECONDS:-20}
    export MODEL_SCHEDULES=${MODEL_SCHEDULES:-5000}
else
    export MODEL_PREEMPTIONS=${MODEL_PREEMPTIONS:-1} MODEL_SECONDS=${MODEL_SECONDS:-3}
    export MODEL_SCHEDULES=${MODEL_SCHEDULES:-200}
fi

results=build/models
mkdir -p $results
rm -f $results/*

# checker, sizes of the tables (small: an interleaving costs what is looked at in it): the program.
build() {
    local checker=$1
    shift
    env "$@" RUSTFLAGS="--cfg $checker" CARGO_TARGET_DIR="target/$checker" \
        cargo test --quiet --locked --profile model --lib --no-run --message-format=json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

# checker, program, names: says how often each model was run.
run() {
    local checker=$1 program=$2
    shift 2
    # A failed model is no reason to leave out the other checker's.
    "$program" --nocapture --test-threads=2 "$@" >"$results/$checker" 2>"$results/$checker.errors" ||
        failed="$failed $checker"
    grep -o 'model [a-z_]*[ :].*' "$results/$checker" || true
}

failed=
loom=$(build loom CREW_MAX_POOLS=2 CREW_MAX_SETS=2 CREW_MAX_WORKERS=2 CREW_MAX_WAITERS=2 CREW_MAX_CHARGES=1)
shuttle=$(build shuttle CREW_MAX_POOLS=2 CREW_MAX_SETS=8 CREW_MAX_WORKERS=16 CREW_MAX_WAITERS=16 CREW_MAX_CHARGES=2)
run loom "$loom" "${@:-models::}"
run shuttle "$shuttle" "${@:-models::scenarios}"

for checker in $failed; do
    echo "models: FAILED under $checker:" >&2
    sed -n '/panicked at/,/^stack backtrace/p' "$results/$checker.errors" | grep -v '^stack backtrace' >&2
done
cat $results/loom $results/shuttle | awk '
    /^(test .* )?model .* interleavings/ { sub(/.*model /, ""); loom += $2; models += !seen[$1]++ }
    /^(test .* )?model .* schedules/ { sub(/.*model /, ""); shuttle += $2 + $5; models += !seen[$1]++ }
    END {
        printf "models: %d, %d interleavings, %d random schedules\n", models, loom, shuttle
        exit models == 0 # no model of that name
    }'
[ -z "$failed" ]
