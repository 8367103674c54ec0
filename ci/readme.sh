#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The C program in the README compiles without a warning, as C and as C++, and prints what the
# README says. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/readme
mkdir -p "$out"
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" README.md | sed '1d;$d'; }
block c >"$out/hello.c"
block text | sort >"$out/wanted"
[ -s "$out/hello.c" ] && [ -s "$out/wanted" ] || { echo "readme: no program, or no output, in README.md" >&2; exit 1; }

make --no-print-directory lib
flags=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude)
"${CC:-cc}" -std=c99 "${flags[@]}" "$out/hello.c" build/libcrew.a -pthread -o "$out/hello"
"${CXX:-c++}" -std=c++11 "${flags[@]}" -x c++ "$out/hello.c" -x none build/libcrew.a -pthread -o "$out/hello-cxx"
for program in hello hello-cxx; do
    "$out/$program" | sort | diff "$out/wanted" -
done
echo "readme: the program prints what the README says"
