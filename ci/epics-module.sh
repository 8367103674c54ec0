#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The support module and the demonstration IOC built by EPICS's own build system, twice: with shared
# libraries, and static with --wrap. Both builds pass what ci/ioc-test.sh and ci/fleet-ioc.sh ask of
# the plain one. Needs EPICS_BASE, a built EPICS base 7.0.4 or newer for this host; without it
# nothing is checked, which the status 77 says. Four minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${EPICS_BASE:-}" ]; then
    echo "EPICS module by EPICS's build system: skipped, EPICS_BASE is not set"
    exit 77
fi
[ -f "$EPICS_BASE/configure/CONFIG_BASE" ] || { echo "epics-module: $EPICS_BASE is no EPICS base" >&2; exit 1; }
host_arch=$(perl "$EPICS_BASE/lib/perl/EpicsHostArch.pl")

ci/setup.sh >/dev/null
make --no-print-directory lib

for libraries in shared static; do
    echo "--- $libraries"
    stage=$(EPICS_ARCH= ci/epics-stage.sh "$libraries")
    programs=$stage/programs
    rm -rf "$programs"
    mkdir -p "$programs"
    ln -s "$stage/examples/ioc-epics/bin/$host_arch"/* "$programs"
    static=--static
    if [ "$libraries" = shared ]; then
        # The directory of the core's archive is a build's, and no place to load from.
        for library in "$stage/csrc/epics/lib/$host_arch"/*.so; do
            if readelf -d "$library" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p' | tr ':' '\n' | grep -Fxq "$PWD/build"; then
                echo "epics-module: $library is told to look into $PWD/build" >&2
                exit 1
            fi
        done
        ln -s "$stage/csrc/epics/lib/$host_arch/libcrewCas.so" "$programs"
        static=
    fi
    "$programs/conformance"
    "$programs/castest"
    "$programs/castest" hosts
    # shellcheck disable=SC2086
    CREW_IOC_PROGRAMS=$programs build/venv/bin/python tests/epics/demo.py --short $static
    CREW_IOC_PROGRAMS=$programs build/venv/bin/python tests/epics/demo.py --valgrind
    CREW_IOC_PROGRAMS=$programs build/venv/bin/python tests/epics/fleet.py --without-image
    # What make deletes is what it has made.
    for target in uninstall distclean; do
        make -C "$stage/csrc/epics" "$target" >>"$stage.log" 2>&1
        if diff -rq csrc/epics "$stage/csrc/epics" | grep "^Only in csrc" >&2; then
            echo "epics-module: make $target has deleted these of the module's own files" >&2
            exit 1
        fi
    done
done
