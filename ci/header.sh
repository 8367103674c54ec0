#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The committed headers are what src/ffi generates, and every declaration that a C program could ever use is still there,
# as it was: bench/golden/abi.h has them all, and a program that was compiled with those alone links with this library.
# `--write` writes the headers, and adds to the golden file what is new. It removes nothing: what was promised stays, or
# that file is changed by hand. Seconds after the build.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"" | --write) write=${1:-} ;;
*) echo "usage: ci/header.sh [--write]" >&2; exit 2 ;;
esac

HEADERS="crew.h crew_pool.h crew_fleet.h"
golden=bench/golden/abi.h
out=build/header
mkdir -p $out
# The default tables, whatever the environment says: the committed headers have them.
unset CREW_MAX_POOLS CREW_MAX_SETS CREW_MAX_WORKERS CREW_MAX_WAITERS CREW_MAX_CHARGES CREW_MAX_FLEETS

# --- the committed headers ---
generated=$(cargo build --quiet --locked --lib --message-format=json |
    sed -n 's|.*"reason":"build-script-executed".*"out_dir":"\([^"]*/crew-[0-9a-f]*/out\)".*|\1|p' |
    tail -n 1)
for header in $HEADERS; do
    if [ ! -f "$generated/$header" ]; then
        echo "header: build.rs left no $header (looked in $generated)" >&2
        exit 1
    fi
    if [ -n "$write" ]; then
        cp "$generated/$header" include/
    elif ! diff -u "include/$header" "$generated/$header"; then
        echo "header: include/$header is not what src/ffi generates; run: make header" >&2
        exit 1
    fi
done
echo "header: $HEADERS are as src/ffi generates them"

# --- the golden declarations ---
# What a header and all that it includes declare, one declaration a line, without comments and layout.
declarations() {
    "${CC:-cc}" -E -dM "$@" | sed -n 's/[[:space:]]\{1,\}/ /g; /_H $/d; /^#define CREW_/p' | sort
    "${CC:-cc}" -E -P "$@" | tr -s '[:space:]' ' ' | awk -v RS=';' '
        { depth += gsub(/{/, "{") - gsub(/}/, "}"); text = text $0 ";" }
        depth == 0 { gsub(/^ +/, "", text); if (text ~ /crew_/) print text; text = "" }'
}
declarations -Iinclude include/crew.h >$out/declared
declarations $golden >$out/promised
if ! comm -23 <(sort $out/promised) <(sort $out/declared) >$out/lost || [ -s $out/lost ]; then
    echo "header: programs that use these would no longer compile, or would be wrong:" >&2
    cat $out/lost >&2
    exit 1
fi
if [ -n "$write" ]; then
    {
        echo "/* What the public headers declare. Every line is a promise; ci/header.sh compares, its --write adds. */"
        echo "#include <stddef.h>"
        echo "#include <stdint.h>"
        cat $out/declared
    } >$golden
elif ! comm -13 <(sort $out/promised) <(sort $out/declared) >$out/added || [ -s $out/added ]; then
    echo "header: new, and not yet in $golden; run: make header" >&2
    cat $out/added >&2
    exit 1
fi

# --- a program that was compiled before ---
functions=$(sed -n '/^typedef/!s/^[a-z].*\b\(crew_[a-z_]*\)(.*/\1/p' $golden)
{
    echo "#include \"$PWD/$golden\""
    echo "static void (*volatile const functions[])(void) = {"
    for function in $functions; do echo "    (void (*)(void))$function,"; done
    echo "};"
    echo "int main(void) { return functions[0] == NULL; }"
} >$out/old.c
make --no-print-directory --silent lib
"${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror $out/old.c build/libcrew.a -pthread -o $out/old
$out/old
echo "header: $(wc -l <$out/promised) declarations are as $golden has them; a program made with those links"
