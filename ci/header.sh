#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The committed header is what src/ffi generates. `--write` makes it so. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

generated=$(cargo build --quiet --locked --lib --message-format=json |
    sed -n 's|.*"reason":"build-script-executed".*"out_dir":"\([^"]*/crew-[0-9a-f]*/out\)".*|\1|p' |
    tail -n 1)/crew.h
if [ ! -f "$generated" ]; then
    echo "header: build.rs left no crew.h (looked for $generated)" >&2
    exit 1
fi
if [ "${1:-}" = --write ]; then
    cp "$generated" include/crew.h
    echo "header: include/crew.h written"
elif ! diff -u include/crew.h "$generated"; then
    echo "header: include/crew.h is not what src/ffi generates; run: make header" >&2
    exit 1
else
    echo "header: include/crew.h is up to date"
fi
