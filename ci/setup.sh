#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs what the build and the demonstration IOC need: compilers (as root, from the Debian-like
# distribution, if they are missing) and build/venv with EPICS base and a CA client from the Python
# registry. With --test also what only the checks need. With --zynq only what the self-test on a
# Cortex-A9 needs, with --vxworks only what the archives for VxWorks need, and nothing of EPICS.
# Cost: nothing when all is there; about a minute on a fresh machine. Needs the network only then.
# Prints the EPICS directory as its last line (not with --zynq and --vxworks).
set -eu
cd "$(dirname "$0")/.."

for_test= for_zynq= build_std=
case "${1:-}" in
"") ;;
--test) for_test=yes ;;
--zynq) for_zynq=yes build_std=yes ;;
--vxworks) build_std=yes ;;
*) echo "usage: ci/setup.sh [--test | --zynq | --vxworks]" >&2; exit 2 ;;
esac

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- packages of the distribution ---
missing=
commands="gcc:gcc make:make"
if [ -n "$for_zynq" ]; then
    commands="$commands arm-none-eabi-gcc:gcc-arm-none-eabi qemu-system-arm:qemu-system-arm"
elif [ -z "$build_std" ]; then
    commands="$commands g++:g++ python3:python3"
fi
for pair in $commands; do
    have "${pair%%:*}" || missing="$missing ${pair#*:}"
done
if [ -n "$for_zynq" ]; then
    have arm-none-eabi-gcc && echo '#include <stdlib.h>' | arm-none-eabi-gcc -E - >/dev/null 2>&1 ||
        missing="$missing libnewlib-arm-none-eabi"
elif [ -n "$build_std" ]; then
    :
elif have python3; then
    python3 -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
else
    missing="$missing python3-venv"
fi
have gcc && echo '#include <stdlib.h>' | gcc -E - >/dev/null 2>&1 || missing="$missing libc6-dev"
if [ -n "$for_test" ]; then
    have valgrind || missing="$missing valgrind libc6-dbg"
    have ip || missing="$missing iproute2"
fi
rust=
if [ -n "$build_std" ]; then
    ci/build-std.sh --rustc --version >/dev/null 2>&1 || rust="cargo rustc rust-src"
else
    have cargo || rust="cargo rustc"
fi
if [ -n "$for_test" ]; then
    have cargo-fmt || rust="$rust rustfmt"
    have cargo-clippy || rust="$rust rust-clippy"
fi

if [ -n "$missing$rust" ]; then
    [ "$(id -u)" = 0 ] || die "missing:$missing $rust. Install them, or run this as root"
    have apt-get || die "missing:$missing $rust, and there is no apt-get here: install them"
    export DEBIAN_FRONTEND=noninteractive
    say "apt-get update"
    apt-get update -qq || die "apt-get update failed: is the network there?"
    if [ -n "$rust" ]; then
        # Debian 12 keeps its current compiler under names of its own; newer releases do not.
        if apt-cache show rustc-web >/dev/null 2>&1; then
            rust=$(echo "$rust" |
                sed 's/\<rust-\(clippy\|src\)\>/rust-web-\1/g; s/\<\(cargo\|rustc\|rustfmt\)\>/\1-web/g')
        fi
        missing="$missing $rust"
    fi
    say "installing$missing"
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $missing >/dev/null || die "apt-get could not install$missing"
fi

[ -z "$build_std" ] || exit 0

# --- EPICS base and the CA client ---
venv=build/venv
wanted=tests/epics/requirements.txt
done_mark="$venv/installed-requirements.txt"
if ! cmp -s "$wanted" "$done_mark"; then
    say "making $venv"
    mkdir -p build
    python3 -m venv --clear "$venv" || die "python3 -m venv failed: install python3-venv"
    say "installing $(grep -c '==' "$wanted") Python packages (EPICS base is one of them)"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$wanted" ||
        die "pip could not install $wanted: is the network there, and is this Python ($(python3 --version)) supported by them?"
    cp "$wanted" "$done_mark"
fi
corelibs=$("$venv/bin/python" -c 'import os, epicscorelibs; print(os.path.dirname(epicscorelibs.__file__))') ||
    die "$venv is damaged: remove it and run this again"
[ -f "$corelibs/include/epicsThread.h" ] || die "no EPICS headers in $corelibs: remove $venv and run this again"
say "ready"
echo "$corelibs"
