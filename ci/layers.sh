#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The arrows between modules are those of the two tables in ARCHITECTURE.md, "Layers", and no
# others: which module of src may name which (by `crate::`, `super::` or a name that lib.rs
# exports; unit tests may name any), and which file of the EPICS module may include which.
# `--print` lists the arrows that there are. Seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PY'
import pathlib
import re
import sys

RUST, C = "| module | may use |", "| file | may include |"


def table(heading):
    """The rows under a heading of ARCHITECTURE.md: names of the first column, those of the second."""
    text = pathlib.Path("ARCHITECTURE.md").read_text()
    if heading not in text:
        sys.exit(f"layers: ARCHITECTURE.md has no table '{heading}'")
    allowed = {}
    for line in text.split(heading, 1)[1].splitlines()[2:]:
        if not line.startswith("|"):
            break
        first, second = (re.findall(r"`([\w.]+)`", cell) for cell in line.split("|")[1:3])
        for name in first:
            allowed[name] = set(second)
    return allowed


def code(path):
    """The file without comments, literals and unit tests."""
    tests = r"#\[cfg\((?:test|all\(test)[^\n]*\]\s*(?:pub\(crate\) )?mod \w+ \{"
    text = re.split(tests, path.read_text())[0]
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text)


def exports():
    """Which module each name comes from that lib.rs exports."""
    found = {}
    for module, names in re.findall(r"pub use (\w+)::([^;]+);", code(pathlib.Path("src/lib.rs"))):
        for name in re.findall(r"\w+", names):
            found[name] = module
    return found


def rust_arrows():
    root = pathlib.Path("src")
    exported = exports()
    modules = {path.stem for path in root.iterdir()}
    for path in sorted(root.rglob("*.rs")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts == ("lib",) or "tests" in parts:
            continue
        depth = len(parts) - (parts[-1] == "mod")
        text = code(path)
        names = []
        for at in re.finditer(r"\bcrate::|(?:\bsuper::)+", text):
            if at.group() != "crate::" and at.group().count("super::") < depth:
                continue
            rest = text[at.end():]
            group = re.match(r"\{((?:[^{}]|\{[^{}]*\})*)\}", rest)
            if group:
                names += re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"::\{[^{}]*\}", "", group.group(1)))
            else:
                names += re.match(r"\w*", rest).group().split()
        for name in names:
            module = exported.get(name, name)
            if module in modules and module != parts[0]:
                yield str(path), parts[0], module


def c_arrows():
    for path in sorted(pathlib.Path("csrc/epics/crewApp/src").glob("*.[ch]")):
        for name in re.findall(r'#include "(crew[A-Z]\w*)\.h"', path.read_text()):
            if name != path.stem:
                yield str(path), path.name, name


wrong = 0
seen = set()
for heading, arrows in ((RUST, rust_arrows()), (C, c_arrows())):
    allowed = table(heading)
    for path, start, end in arrows:
        if "--print" in sys.argv and (start, end) not in seen:
            print(start, "->", end)
        seen.add((start, end))
        if end not in allowed.get(start, set()):
            print(f"layers: {path}: {start} must not use {end} (ARCHITECTURE.md)", file=sys.stderr)
            wrong += 1
    unused = {(start, end) for start, ends in allowed.items() for end in ends} - seen
    for start, end in sorted(unused):
        print(f"layers: ARCHITECTURE.md lets {start} use {end}, which it does not", file=sys.stderr)
        wrong += 1
print(f"layers: {len(seen)} arrows, {wrong} wrong")
sys.exit(wrong > 0)
PY
