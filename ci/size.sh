#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The core's size on a Cortex-A9: what the linker keeps of the archive when an image calls every function of crew.h (the
# compiler's own helpers included), and what a slot of each table takes. Bytes. Fails above the limits below, and when a
# figure is more than 2 % off the golden one of the same compiler; `--write` makes these figures the golden ones. Two
# minutes on a fresh machine, seconds afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"" | --write) write=${1:-} ;;
*) echo "usage: ci/size.sh [--write]" >&2; exit 2 ;;
esac

# Promised: code and constants, a set, a worker, a job cell.
LIMITS="code 32768
set 64
worker 128
job_cell 32"

archive=build/zynq/libcrew_archive.a
image=build/zynq/size.elf
measured=build/zynq/size.txt

ci/setup.sh --zynq
make --no-print-directory --silent -C tests/zynq lib

# --- code and tables: an image with nothing else in it ---
mapfile -t functions < <(sed -n 's/^[a-z].*\b\(crew_[a-z_]*\)(.*/\1/p' include/crew.h | sort -u)
roots=()
for function in "${functions[@]}"; do roots+=(-u "$function"); done
arm-none-eabi-ld --gc-sections -e crew_boot "${roots[@]}" --defsym=abort=0 -Map="$image.map" -o "$image" "$archive"
kept=$(arm-none-eabi-nm "$image")
for function in "${functions[@]}"; do
    grep -q " T $function\$" <<<"$kept" || { echo "size: $function is not in the image" >&2; exit 1; }
done

sections() { # a pattern of section names
    arm-none-eabi-size -A "$image" | awk -v pattern="^($1)\$" '$1 ~ pattern { sum += $2 } END { print sum + 0 }'
}

# --- slots: from the types' debugging information ---
slots() {
    arm-none-eabi-readelf --debug-dump=info "$archive" 2>/dev/null | awk '
        BEGIN {
            named["Set"] = "set"; named["Worker"] = "worker"; named["JobCell"] = "job_cell"; named["PoolSlot"] = "pool"
        }
        /Abbrev Number:/ {
            depth = $1; sub(/^</, "", depth); sub(/>.*/, "", depth); depth += 0
            path[depth] = ""; is_struct = /DW_TAG_structure_type/
        }
        /DW_AT_name/ { path[depth] = $NF }
        /DW_AT_byte_size/ {
            place = path[depth - 3] "::" path[depth - 2] "::" path[depth - 1]
            if (is_struct && place == "crew::sets::slot" && path[depth] in named && !(path[depth] in seen)) {
                seen[path[depth]] = 1
                print named[path[depth]], $NF + 0
            }
        }'
}

{
    echo "compiler $(ci/build-std.sh --rustc --version)"
    text=$(sections '[.]text.*')
    constants=$(sections '[.]rodata.*|[.]ARM[.]ex.*')
    echo "code $((text + constants))"
    echo "text $text"
    echo "constants $constants"
    echo "data $(sections '[.]data.*')"
    echo "tables $(sections '[.]bss.*')"
    slots | sort
} >"$measured"
cat "$measured"

status=0
while read -r name limit; do
    value=$(awk -v name="$name" '$1 == name { print $2 }' "$measured")
    if [ -z "$value" ]; then
        echo "size: $name was not found" >&2
        status=1
    elif [ "$value" -gt "$limit" ]; then
        echo "size: $name is $value bytes, at most $limit are promised" >&2
        status=1
    fi
done <<<"$LIMITS"
ci/golden.sh $write size bench/golden/size-cortex-a9.txt "$measured" "ci/size.sh --write" || status=1
exit $status
