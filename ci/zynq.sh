#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The self-test without an operating system: the core on a Cortex-A9, in QEMU. Two minutes on a
# fresh machine, seconds afterwards. Its instruction counts are compared with the golden ones;
# `--write` makes these the golden ones.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"" | --write) write=${1:-} ;;
*) echo "usage: ci/zynq.sh [--write]" >&2; exit 2 ;;
esac

image=build/zynq/selftest.elf
output=build/zynq/output.txt
measured=build/zynq/instructions.txt

ci/setup.sh --zynq
make --no-print-directory --silent -C tests/zynq image

# The core's atomics must be the processor's own, and not calls of functions that no library here
# has.
code=$(arm-none-eabi-objdump -d "$image")
for instruction in ldrex strex dmb; do
    grep -q "[[:space:]]$instruction" <<<"$code" || { echo "zynq: there is no $instruction in $image" >&2; exit 1; }
done
if arm-none-eabi-nm build/zynq/libcrew_archive.a 2>/dev/null | grep -E ' U (__sync_|__atomic_)'; then
    echo "zynq: the core calls functions for its atomics" >&2
    exit 1
fi

make --no-print-directory --silent -C tests/zynq run | tee "$output"

{
    echo "compiler $(ci/build-std.sh --rustc --version), $(arm-none-eabi-gcc --version | sed -n 1p)"
    sed -n 's/^count //p' "$output"
} >"$measured"
ci/golden.sh $write instructions bench/golden/instructions-cortex-a9.txt "$measured" "ci/zynq.sh --write"
