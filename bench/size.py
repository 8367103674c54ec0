#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What Crew takes in an image: size.py MAP DEBUG_ARCHIVE

MAP is the linker's map of an image that uses libcrew.a; DEBUG_ARCHIVE an archive of the core with debugging information.
Prints lines "<name> <bytes>": code and data that the linker kept of the core and of its C files, and what a
slot of each table takes.
"""

import re
import subprocess
import sys

# The core is one object; what else is in the archive is the compiler's own library, or C.
PARTS = {"core": r"crew_archive-", "c": r"(worker|port_posix|call_cxx|fleet_acquire|fleet_shm)\.o", "compiler": r"."}
SECTIONS = {"text": r"\.text", "rodata": r"\.rodata|\.data\.rel\.ro", "data": r"\.data", "bss": r"\.bss|\.tbss"}
SLOTS = {"PoolSlot": "pool", "SetSlot": "set", "WorkerSlot": "worker", "JobCell": "job_cell"}

# " .text.name   0x0000000000001234   0x56 libcrew.a(member.o)"; a long name has a line of its own.
INPUT_SECTION = re.compile(r"^ (\.\S+)\s+0x[0-9a-f]+\s+(0x[0-9a-f]+)\s+\S*libcrew\.a\((\S+)\)$", re.MULTILINE)


def first(patterns, text):
    return next((name for name, pattern in patterns.items() if re.match(pattern, text)), None)


def kept(map_text):
    """Bytes by part and section."""
    body = map_text[map_text.index("Linker script and memory map"):]
    body = re.sub(r"^ (\.\S+)\n\s+", r" \1 ", body, flags=re.MULTILINE)
    sums = {f"{part}_{section}": 0 for part in PARTS for section in SECTIONS}
    for section, size, member in INPUT_SECTION.findall(body):
        kind, part = first(SECTIONS, section), first(PARTS, member)
        if kind:
            sums[f"{part}_{kind}"] += int(size, 16)
    return sums


def slots(archive):
    """Bytes of a slot of each table, from crew::sets::slot in the debugging information."""
    dump = subprocess.run(["readelf", "--debug-dump=info", archive], capture_output=True, text=True, check=False).stdout
    path, found, is_struct, depth = {}, {}, False, 0
    for line in dump.splitlines():
        entry = re.match(r"\s*<([0-9a-f]+)><[0-9a-f]+>: Abbrev Number: \d+ \((\w+)\)", line)
        if entry:
            depth = int(entry.group(1), 16)
            path[depth] = ""
            is_struct = entry.group(2) == "DW_TAG_structure_type"
        elif "DW_AT_name" in line:
            path[depth] = line.split()[-1]
        elif "DW_AT_byte_size" in line and is_struct:
            place = [path.get(depth - up) for up in (3, 2, 1)]
            if place == ["crew", "sets", "slot"] and path[depth] in SLOTS:
                found[SLOTS[path[depth]]] = int(line.split()[-1], 0)
    return found


def main():
    map_file, archive = sys.argv[1:]
    with open(map_file, encoding="utf-8") as file:
        figures = {**kept(file.read()), **slots(archive)}
    missing = set(SLOTS.values()) - set(figures)
    if missing or figures["core_text"] == 0:
        sys.exit(f"size.py: not found: {', '.join(sorted(missing)) or 'the core in the map'}")
    for name, value in figures.items():
        print(name, value)


if __name__ == "__main__":
    main()
