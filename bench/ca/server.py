#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Question 4: what does a CA client notice, and what does the IOC hold, with the drop-in and without?

The same IOC, three times at once, each turn of clients going to one after the other. Prints JSON for report.py.
"""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "epics"))

from caclients import Circuit  # noqa: E402
from iocprocess import Ioc, IocError  # noqa: E402

PROGRAMS = TOP / "build" / "bench"
PV = "demo:count"
# One more than these at once may find the queue of base's listening socket full (it holds 20), when the accepting thread
# does not run at once, and then waits a second for TCP to try again: with or without Crew.
CROWD_THAT_FITS = 20
CROWD = 30
SCALE = float(os.environ.get("BENCH_SCALE", "1"))
WITHOUT = "without Crew"
WITH = "with Crew"
SMALL = "with Crew, stacks of 128 and 64 KiB"
POOL = {"SETS": 40, "PERHOST": 0, "WAITMS": 100, "SEAL": "#"}
IOCS = {
    WITH: ("st.cmd", POOL),
    WITHOUT: ("plain.cmd", {}),
    SMALL: ("st.cmd", {**POOL, "CLIENT_STACK": 131072, "EVENT_STACK": 65536}),
}


def scaled(n, least):
    return max(least, int(n * SCALE))


def first_bytes(ioc, clients, cycles):
    """Per cycle: its microseconds, and each client's to its first byte."""
    command = [PROGRAMS / "first-byte", str(ioc.port), str(clients), str(cycles)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise IocError(done.stderr.strip())
    lines = [[float(number) for number in line.split()] for line in done.stdout.splitlines()]
    ioc.wait_for_clients(0)
    return [line[0] for line in lines], [us for line in lines for us in line[1:]]


def caproto_cycles(ioc, count):
    """Microseconds that a client takes to connect, read, monitor and disconnect, each time."""
    cycles = []
    for _ in range(count):
        start = time.monotonic()
        Circuit(ioc.port, PV).close()
        cycles.append((time.monotonic() - start) * 1e6)
    ioc.wait_for_clients(0)
    return cycles


def memory_mib(ioc, field):
    text = Path(f"/proc/{ioc.pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text).group(1)) / 1024


def tell(case, who, unit, rounds, extra=None):
    line = {"question": "ca server", "case": case, "who": who, "unit": unit, "rounds": rounds}
    print(json.dumps({**line, "extra": extra or {}}))


def contest(iocs, case, rounds, measure, names):
    """Each round every IOC has one turn; `measure` answers one list of microseconds for each of `names`."""
    seen = {who: [] for who in iocs}
    order = list(iocs)
    for i in range(rounds):
        for who in order[i % len(order):] + order[:i % len(order)]:
            seen[who].append(measure(iocs[who]))
    for position, name in enumerate(names):
        for who in iocs:
            tell(f"{case}: {name}", who, "us", [turn[position] for turn in seen[who]])


def clients_of_all_kinds(ioc, crowd):
    """So that what is made once is made: the crowd's sets, malloc's arenas, the CA server's free lists."""
    for _ in range(3):
        first_bytes(ioc, crowd, 1)
    first_bytes(ioc, 1, scaled(100, 20))
    caproto_cycles(ioc, scaled(100, 20))


def compare(permission, crowd, wrapper):
    with ExitStack() as stack:
        counter = {"LD_PRELOAD": PROGRAMS / "count-threads.so"}
        iocs = {
            who: stack.enter_context(Ioc("demo-ioc", script, {**settings, **counter}, wrapper))
            for who, (script, settings) in IOCS.items()
        }
        started = {who: memory_mib(ioc, "VmRSS") for who, ioc in iocs.items()}
        for ioc in iocs.values():
            clients_of_all_kinds(ioc, crowd)
        warm = {who: (memory_mib(ioc, "VmRSS"), ioc.heap()) for who, ioc in iocs.items()}
        names = ("whole cycle", "first byte")
        contest(iocs, f"{permission}, one client after the other", scaled(20, 2),
                lambda ioc: first_bytes(ioc, 1, scaled(250, 20)), names)
        contest(iocs, f"{permission}, {crowd} clients at once", scaled(40, 3),
                lambda ioc: first_bytes(ioc, crowd, 1), names)
        contest(iocs, f"{permission}, connect, read, monitor, disconnect with caproto", scaled(10, 2),
                lambda ioc: (caproto_cycles(ioc, scaled(50, 20)),), ("whole cycle",))
        for who, ioc in iocs.items():
            end, peak, heap = memory_mib(ioc, "VmRSS"), memory_mib(ioc, "VmHWM"), ioc.heap()
            if ioc.exit() != 0 or not ioc.wait_for_line("threads made: "):
                raise IocError(f"{who}: did not end as it should")
            threads = re.search(r"threads made: (\d+)", "\n".join(ioc.output())).group(1)
            tell(f"{permission}, memory and threads", who, "MiB", [], {
                "resident at start": round(started[who], 1),
                "warm": round(warm[who][0], 1),
                "at the end": round(end, 1),
                "peak": round(peak, 1),
                "heap growth B": heap - warm[who][1],
                "threads made": int(threads),
            })


def main():
    # With real-time permission base locks its memory, so that a new thread's whole stack is touched when it is made.
    if os.geteuid() == 0:
        compare("with real-time permission", CROWD, ())
        without = ("setpriv", "--bounding-set=-sys_nice,-ipc_lock")
    else:
        without = ()
    compare("without real-time permission", CROWD_THAT_FITS, without)


if __name__ == "__main__":
    try:
        main()
    except (IocError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"server.py: {error}")
