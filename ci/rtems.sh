#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The application on RTEMS, in QEMU: two images, built with a site's own RTEMS. Needs RTEMS_PREFIX
# (and RTEMS_VERSION, BSP where they are not 7 and arm/xilinx_zynq_a9_qemu); without it nothing is
# checked, which the status 77 says. About three minutes, most of it for the two Rust libraries the
# first time.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${RTEMS_PREFIX:-}" ]; then
    echo "RTEMS: skipped, no BSP (set RTEMS_PREFIX)"
    exit 77
fi

# Upper limits: instructions of a lease (what the project wants), and percent of the floor beside it
# for the others (what was reached, and a tenth). docs/targets.md has the figures.
LEASE=400
JOB_PERCENT=187
CONNECTION_PERCENT=15

ci/setup.sh --zynq
output=build/rtems/output.txt
mkdir -p build/rtems
make --no-print-directory --silent -C rtems all
make --no-print-directory --silent -C rtems qemu | tee "$output"

awk -v lease=$LEASE -v job=$JOB_PERCENT -v connection=$CONNECTION_PERCENT '
    $1 == "count" { count[$2] = $3 }
    function limit(name, most) {
        if (!(name in count)) { print "RTEMS: " name " was not counted"; wrong = 1 }
        else if (count[name] > most) {
            printf "RTEMS: %s takes %d instructions, at most %d are allowed\n", name, count[name], most
            wrong = 1
        }
    }
    END {
        limit("acquire_release", lease)
        limit("job_below", count["semaphores_below"] * job / 100)
        limit("job_above", count["semaphores_above"] * job / 100)
        limit("connection_on_a_set", count["connection_on_threads"] * connection / 100)
        exit wrong
    }' "$output" >&2
