#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The demonstration IOC as an RTEMS image, built by EPICS's build system and booted in QEMU, with CA
# clients from here. Arguments go to tests/epics/demo_rtems.py (--short; --help). Settings:
#   EPICS_BASE     an EPICS base 7.0.4 or newer, built for this host and for EPICS_ARCH
#   RTEMS_PREFIX   the RTEMS that it was built with: compiler, kernel, BSP, rtems-libbsd
#   RTEMS_VERSION, EPICS_ARCH   7, RTEMS-xilinx_zynq_a9_qemu
# Without the first two nothing is checked, which the status 77 says. Ten minutes; --short five.
set -euo pipefail
cd "$(dirname "$0")/.."

for setting in EPICS_BASE RTEMS_PREFIX; do
    if [ -z "${!setting:-}" ]; then
        echo "EPICS on RTEMS: skipped, $setting is not set"
        exit 77
    fi
done
arch=${EPICS_ARCH:-RTEMS-xilinx_zynq_a9_qemu}
[ -d "$EPICS_BASE/lib/$arch" ] || { echo "epics-rtems: EPICS base in $EPICS_BASE is not built for $arch" >&2; exit 1; }
command -v qemu-system-arm >/dev/null || { echo "epics-rtems: no qemu-system-arm: run ci/setup.sh --zynq" >&2; exit 1; }

ci/setup.sh >/dev/null
make --no-print-directory lib
core=$PWD/build/rtems/libcrew.a
make --no-print-directory --silent -C rtems lib RTEMS_PREFIX="$RTEMS_PREFIX" RTEMS_VERSION="${RTEMS_VERSION:-7}"

stage=$(EPICS_ARCH=$arch ci/epics-stage.sh rtems "$core")
host_arch=$(perl "$EPICS_BASE/lib/perl/EpicsHostArch.pl")
programs=$stage/programs
rm -rf "$programs"
mkdir -p "$programs"
ln -s "$stage/examples/ioc-epics/bin/$arch"/* "$programs"
ln -s "$stage/examples/ioc-epics/bin/$host_arch/caclient" "$programs"
CREW_IOC_PROGRAMS=$programs exec build/venv/bin/python tests/epics/demo_rtems.py "$@"
