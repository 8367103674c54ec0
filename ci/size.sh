#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The core's size on a Cortex-A9: what the linker keeps of the archive when an image calls every function of the generated
# headers but those of fleet leases (the compiler's own helpers included), what it keeps more when it calls those too, and
# what a slot of each table takes. Bytes. Fails above the limits below, and when a figure is more than 2 % off the golden
# one of the same compiler; `--write` makes these figures the golden ones. Two minutes on a fresh machine, seconds
# afterwards.
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
measured=build/zynq/size.txt

ci/setup.sh --zynq
make --no-print-directory --silent -C tests/zynq lib

# --- code and tables: an image with nothing else in it ---
headers=$(grep -l '^/[*] Generated from src/ffi' include/*.h)
mapfile -t functions < <(sed -n '/^typedef/!s/^[a-z].*\b\(crew_[a-z_]*\)(.*/\1/p' $headers | sort -u)
mapfile -t without_fleets < <(printf '%s\n' "${functions[@]}" | grep -vE '^crew_(fleet|resource)_')

link() { # image, functions...
    local image=$1 function kept roots=()
    shift
    for function in "$@"; do roots+=(-u "$function"); done
    arm-none-eabi-ld --gc-sections -e crew_boot "${roots[@]}" --defsym=abort=0 -Map="$image.map" -o "$image" "$archive"
    kept=$(arm-none-eabi-nm "$image")
    for function in "$@"; do
        grep -q " T $function\$" <<<"$kept" || { echo "size: $function is not in $image" >&2; exit 1; }
    done
    # Every call of a fleet enters by one of these; the names of what stands between differ with the compiler.
    if [ "$#" -lt "${#functions[@]}" ] && grep -q ' T crew_fleet_' <<<"$kept"; then
        echo "size: $image has functions of fleet leases" >&2
        exit 1
    fi
}

sections() { # image, a pattern of section names
    arm-none-eabi-size -A "$1" | awk -v pattern="^($2)\$" '$1 ~ pattern { sum += $2 } END { print sum + 0 }'
}
CODE='[.]text.*|[.]rodata.*|[.]ARM[.]ex.*'
pools=build/zynq/size.elf
all=build/zynq/size-fleets.elf
link $pools "${without_fleets[@]}"
link $all "${functions[@]}"

# --- slots: from the types' debugging information ---
slots() {
    arm-none-eabi-readelf --debug-dump=info "$archive" 2>/dev/null | awk '
        BEGIN {
            named["SetSlot"] = "set"; named["WorkerSlot"] = "worker"; named["JobCell"] = "job_cell"; named["PoolSlot"] = "pool"
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
    code=$(sections $pools "$CODE")
    echo "code $code"
    echo "text $(sections $pools '[.]text.*')"
    echo "constants $(sections $pools '[.]rodata.*|[.]ARM[.]ex.*')"
    echo "data $(sections $pools '[.]data.*')"
    echo "tables $(sections $pools '[.]bss.*')"
    echo "fleet_code $(($(sections $all "$CODE") - code))"
    echo "fleet_tables $(($(sections $all '[.]bss.*') - $(sections $pools '[.]bss.*')))"
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
