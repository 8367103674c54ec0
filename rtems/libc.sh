#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes a copy of the libc crate that this project is locked to, for std to be compiled with: rtems/libc.sh <directory>.
# In the one that std is locked to, time_t and others have half the bits that they have on RTEMS. The newer one names the
# times of struct stat as std 1.96 does not know them yet; the copy has both times as they lie there.
set -eu
copy=$1
cd "$(dirname "$0")/.."
source=$(cargo metadata --locked --format-version 1 --filter-platform armv7-rtems-eabihf |
    sed 's/"manifest_path":"/\n/g' | sed -n 's,^\([^"]*/libc-[0-9.]*\)/Cargo.toml".*,\1,p' | head -n 1)
[ -n "$source" ] || { echo "libc.sh: cargo names no libc crate" >&2; exit 1; }
rm -rf "$copy"
mkdir -p "$copy"
cp -R "$source/." "$copy"
sed -i 's/^\( *\)pub st_\([amc]\)tim: crate::timespec,/\1pub st_\2time: crate::time_t,\n\1pub st_\2time_nsec: c_long,/' \
    "$copy/src/unix/newlib/mod.rs"
