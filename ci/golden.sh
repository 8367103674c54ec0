#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Compares figures with golden ones:
#   ci/golden.sh [--write] <what> <golden file> <measured file> <command that writes it>
# Both files: a line "compiler ...", then lines "<name> <number>". Figures of another compiler are
# not compared. Smaller numbers fail as well, so that the golden ones stay true.
set -eu

TOLERANCE_PERCENT=${GOLDEN_TOLERANCE_PERCENT:-2}

write=
if [ "$1" = --write ]; then write=yes; shift; fi
what=$1 golden=$2 measured=$3 rewrite=$4

if [ -n "$write" ]; then
    mkdir -p "$(dirname "$golden")"
    cp "$measured" "$golden"
    echo "$what: $golden written"
    exit 0
fi
if [ ! -f "$golden" ]; then
    echo "$what: there is no $golden: $rewrite" >&2
    exit 1
fi
if [ "$(head -n 1 "$golden")" != "$(head -n 1 "$measured")" ]; then
    echo "$what: not compared with $golden, which is of another compiler (this is $(head -n 1 "$measured"))"
    exit 0
fi
awk -v what="$what" -v golden="$golden" -v tolerance=$TOLERANCE_PERCENT -v rewrite="$rewrite" '
    FNR == 1 { next }
    NR == FNR { wanted[$1] = $2; next }
    {
        if (!($1 in wanted)) {
            printf "%s: %s is not in %s\n", what, $1, golden
            wrong = 1
        } else {
            off = ($2 - wanted[$1]) * 100
            if (off < 0) off = -off
            if (off > tolerance * wanted[$1]) {
                printf "%s: %s is %d, golden %d (more than %d %% off)\n", what, $1, $2, wanted[$1], tolerance
                wrong = 1
            }
            delete wanted[$1]
        }
    }
    END {
        for (name in wanted) {
            printf "%s: %s was not measured\n", what, name
            wrong = 1
        }
        if (wrong) {
            printf "%s: when the change is meant: %s\n", what, rewrite
            exit 1
        }
        printf "%s: as in %s, within %d %%\n", what, golden, tolerance
    }' "$golden" "$measured" >&2
