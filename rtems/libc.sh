#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Where cargo keeps the source of the libc crate that this project is locked to. std is compiled with an older one, in which
# time_t and others have half the bits that they have on RTEMS.
set -eu
cd "$(dirname "$0")/.."
cargo metadata --locked --format-version 1 --filter-platform armv7-rtems-eabihf |
    sed 's/"manifest_path":"/\n/g' | sed -n 's,^\([^"]*/libc-[0-9.]*\)/Cargo.toml".*,\1,p' | head -n 1
