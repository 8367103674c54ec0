#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the support module and the demonstration IOC with EPICS's build system, in a copy of their
# sources below build/epics, so that the tree stays as it is. For ci/epics-module.sh and
# ci/epics-rtems.sh.
#   epics-stage.sh shared | static | rtems <libcrew.a for RTEMS>
# In the environment: EPICS_BASE; rtems: EPICS_ARCH. build/libcrew.a, the host's, has been made.
# Prints the copy's directory as its last line; the build's output goes to <copy>.log.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=$1
stage=$PWD/build/epics/$kind
mkdir -p "$stage"
tar cf - csrc include tests examples | tar xf - -C "$stage"
for top in csrc/epics examples/ioc-epics; do
    echo "EPICS_BASE = $EPICS_BASE" >"$stage/$top/configure/RELEASE.local"
    {
        echo "CREW_CORE = $PWD/build/libcrew.a"
        # Only what is asked for, whatever else base has been built for.
        echo "CROSS_COMPILER_TARGET_ARCHS = ${EPICS_ARCH:-}"
        case $kind in
        shared) echo "STATIC_BUILD = NO" ;;
        static) echo "STATIC_BUILD = YES" ;;
        rtems) echo "CREW_CORE_RTEMS = $2" ;;
        esac
    } >"$stage/$top/configure/CONFIG_SITE.local"
done
build() {
    make -j2 -C "$stage/csrc/epics" && make -j2 -C "$stage/examples/ioc-epics"
}
if ! build >"$stage.log" 2>&1; then
    grep -E "error:|undefined reference" "$stage.log" >&2 || true
    tail -5 "$stage.log" >&2
    exit 1
fi
# Linkers have opinions about other people's code; compilers name the line.
if grep -E "^[^ ]+:[0-9]+:[0-9]+: warning:" "$stage.log" | grep -v "^$EPICS_BASE" >&2; then
    echo "epics-stage: the compiler warned, see above" >&2
    exit 1
fi
echo "$stage"
