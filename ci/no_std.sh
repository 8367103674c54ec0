#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The core builds without std, with and without defmt, names neither std nor alloc nor a 64-bit
# atomic, and only the std port names libc. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo check --quiet --locked --no-default-features --lib
cargo check --quiet --locked --no-default-features --features defmt --lib
status=0
forbid() { # what, pattern, files...
    local what=$1 pattern=$2
    shift 2
    if grep -nE "$pattern" "$@"; then
        echo "no_std: $what" >&2
        status=1
    fi
}
# Not the std port; the plan and its command, which run on hosts; nor tests.
mapfile -t core < <(find src -name '*.rs' ! -path 'src/shim/*' ! -path 'src/plan/*' ! -path 'src/bin/*' \
    ! -path 'src/models/*' ! -path 'src/sync/loom.rs' ! -path '*/tests/*')
forbid "the core must have no alloc" '\balloc::|extern crate alloc' "${core[@]}"
forbid "64-bit atomics do not exist on every target" 'Atomic(U|I)64' "${core[@]}"
forbid "libc belongs to the std port" '\blibc::' "${core[@]}"
# std may be named only where it is in tests or behind the feature.
while IFS= read -r file; do
    python3 - "$file" <<'PY' || status=1
import re, sys
text = open(sys.argv[1]).read().split("#[cfg(test)]")[0]
text = re.sub(r'#\[cfg\(feature = "std"\)\]\s*(\{.*?\n    \}|[^;]*;)', "", text, flags=re.S)
code = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
named = [line for line in code if re.search(r"\bstd::", line)]
if named:
    sys.exit(f"no_std: {sys.argv[1]} names std: {named[0].strip()}")
PY
done < <(printf '%s\n' "${core[@]}")
exit $status
