#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The demonstration on RTEMS: IOC images booted in QEMU, whose CA server runs on a pool of thread
sets or on threads of its own, and real CA clients on this machine that try to exhaust them.

Prints what was seen next to what is wanted, and exits with 1 when a figure is wrong.
"""

import argparse
import re
import sys
import time

from caclients import Circuit, LibcaClient, probe
from demo import PV, SEQUENTIAL_SETS, WAIT_MS, Table, cas_pool, full_house_step, normal_ioc_step, run_sequence
from fleet import CAPACITY, ask, connect, total, units, wait_for
from iocimage import Image
from iocprocess import IocError

SETS = 40
# Stacks for a CA client's two threads: they were seen to use 2 to 24 KB.
SMALL_STACKS = {"CLIENT_STACK": 131072, "EVENT_STACK": 65536}
# Bytes beyond its stacks that an image needs for a client that is connected, has read and monitors:
# 42,659 B were seen.
BESIDE_STACKS = 65536
# The heap gives a remainder that is too small for a block along with its neighbour: a few steps of
# 8 bytes, either way.
ROUNDING_BYTES = 64
# The emulated machine shares this one's processors with its clients.
SLOW_MS = 2000.0
# The stock accept loop pauses for 15 s when accept fails.
NOT_SERVED_S = 5.0
PAUSE_S = 60.0
TEST_TIMEOUT_S = 600.0
ANSWER_S = 60.0


def drift(ioc, total):
    """Returns how many bytes of free heap each of `total` sequential connections costs for good,
    and how many were served."""
    warm_up = [Circuit(ioc.port, PV) for _ in range(SEQUENTIAL_SETS)]
    for client in warm_up:
        client.close()
    run_sequence(ioc, 100, 0, total)
    before, _ = ioc.settled_memory()
    served = run_sequence(ioc, total, 0, total)
    after, _ = ioc.settled_memory()
    return (before - after) / total, served


def house(ioc, clients):
    """Bytes of free heap that each of so many clients takes while it is connected, and the largest
    free block then."""
    before, _ = ioc.settled_memory()
    held = [Circuit(ioc.port, PV) for _ in range(clients)]
    during, largest = ioc.settled_memory()
    for client in held:
        client.close()
    ioc.wait_for_clients(0, 60.0)
    return (before - during) / clients, largest


def fill(ioc):
    """Connects clients until one is not served. How many were, and how long it then takes, although
    all of them leave, until a client is served again, in ms."""
    held = []
    while True:
        start = time.monotonic()
        try:
            held.append(Circuit(ioc.port, PV, timeout_s=NOT_SERVED_S))
        except OSError:
            break
    for client in held:
        client.close()
    Circuit(ioc.port, PV, timeout_s=PAUSE_S).close()
    return len(held), (time.monotonic() - start) * 1e3


def memory_rows(table, ioc, connections, stock_loss=None):
    """The heap's rows, beside what a stock IOC loses per connection. What a client takes, and what
    is lost."""
    free, largest = ioc.settled_memory()
    print(f"  heap after iocInit: {free} bytes free, the largest block {largest}", flush=True)
    each, largest = house(ioc, SETS)
    print(f"  {SETS} clients connected: {each:.0f} bytes each; the largest free block is then {largest}", flush=True)
    lost, served = drift(ioc, connections)
    table.equal("sequential connections served", served, connections)
    by_events = ioc.number("demoEvents", r"demoEvents: (\d+) bytes lost")
    if stock_loss is None:
        print(f"  heap lost per connection: {lost:.2f} bytes", flush=True)
    elif by_events == 0:
        total = round(lost * connections)
        right = abs(total) <= ROUNDING_BYTES
        wanted = f"{ROUNDING_BYTES} B either way"
        table.check(f"heap lost by {connections} connections", f"{total} B", right, wanted)
    else:
        # Two of the five events of a connection belong to its threads, which are made once here.
        print(f"  this base loses {by_events / 100:.0f} bytes or more with every event that it destroys", flush=True)
        table.at_most(f"heap lost per connection; stock: {stock_loss:.2f} B", lost, 0.8 * stock_loss, " B")
    return each, lost


def stock_step(table, connections):
    table.heading("A stock IOC: each CA client gets threads of its own")
    with Image("plain-ioc", "plain.cmd") as ioc:
        _, lost = memory_rows(table, ioc, connections)
        held, pause_ms = fill(ioc)
        print(f"  {held} clients are served at once: then it can open no more files", flush=True)
        print(f"  ... and the accept loop pauses: the next that it serves has waited {pause_ms:.0f} ms", flush=True)
        table.equal("exit status", ioc.exit(), 0)
    return lost


def pool_step(table, connections, stock_loss):
    table.heading(f"An IOC with crewCasPool {SETS} 0 {WAIT_MS}: {SETS} thread sets for CA clients, {WAIT_MS} ms wait")
    with Image(settings={"SETS": SETS, "PERHOST": 0, "WAITMS": WAIT_MS, "SEAL": "#"}) as ioc:
        table.equal("the CA server's calls come through Crew (self-test)", ioc.wait_for_line("self-test: passed"), True)
        served = run_sequence(ioc, connections, 0, connections)
        pool = cas_pool(ioc)
        table.equal("connections served", served, connections)
        table.at_most("thread sets that this took (two threads each)", pool["created"], SEQUENTIAL_SETS)
        table.equal("threads made by the CAS pool since the start", pool["threads"], 2 * pool["created"])
        table.equal("clients that got threads of their own", pool["on threads"], 0)
        memory_rows(table, ioc, connections, stock_loss)
        crowd(table, ioc)
        full_house_step(table, ioc, SLOW_MS)
        normal_ioc_step(table, ioc, "10.0.2.2")
        shown = ioc.command("crewShow 1")
        table.equal("exit status", ioc.exit(), 0)
    return shown


def crowd(table, ioc):
    clients = LibcaClient(ioc.environment, PV, "hold", 10)
    clients.wait_for_line("holding 10")
    table.equal("10 clients on base's own client library: busy sets", cas_pool(ioc)["busy"], 10)
    clients.finish()
    ioc.wait_for_clients(0, 60.0)


def sealed_step(table, connections, refusals, stock_loss):
    stacks = sum(SMALL_STACKS.values())
    table.heading(f"The same with stacks of {stacks >> 10} KiB a client, sealed: all sets are made at boot")
    settings = {"SETS": SETS, "PERHOST": 0, "WAITMS": 20, **SMALL_STACKS}
    with Image(settings=settings) as ioc:
        table.equal("sets made before the first client", cas_pool(ioc)["idle"], SETS)
        threads = ioc.threads()
        each, _ = memory_rows(table, ioc, connections, stock_loss)
        table.at_most("bytes that a client takes when its set is there", each, BESIDE_STACKS, " B")
        held = [Circuit(ioc.port, PV) for _ in range(SETS)]
        mutexes = ioc.mutexes()
        before, _ = ioc.settled_memory()
        refused = sum(not probe(ioc.port)[0] for _ in range(refusals))
        after, _ = ioc.settled_memory()
        table.equal(f"refused, of {refusals} more", refused, refusals)
        # The network has 64 sockets: were they not free again at once, most would be turned away
        # unseen.
        table.equal("refused by Crew, and not by the network", cas_pool(ioc)["refused"], refusals)
        table.equal("EPICS mutexes left behind (one per refusal in the stock server)", ioc.mutexes() - mutexes, 0)
        table.equal("heap lost by the refusals, in bytes", before - after, 0)
        held.pop().close()
        ioc.wait_for_clients(SETS - 1)
        table.equal("a client after one has left is served", probe(ioc.port)[0], True)
        table.equal("the IOC's threads are those that it had after crewSeal", ioc.threads() == threads, True)
        table.equal("exit status, with all clients connected", ioc.exit(), 0)
        for client in held:
            client.close()


def run_asks(ioc, count):
    """Asks for so many scans, one after the other. Returns how many were answered rightly."""
    answered = 0
    for points in range(1, count + 1):
        ask(ioc, "a", points)
        answered += wait_for(ioc, "asker:a:result", str(total(points)), ANSWER_S) == str(total(points))
    return answered


def fleet_step(table, asks):
    table.heading("A fleet in the image's own memory: the IOC is owner and asker (examples/fleet)")
    with Image("fleet-ioc", "alone.cmd") as ioc:
        connect(ioc)
        run_asks(ioc, 20)
        before, _ = ioc.settled_memory()
        table.equal("leases asked for, whose jobs ran and were answered", run_asks(ioc, asks), asks)
        after, _ = ioc.settled_memory()
        table.at_most("free heap lost by that", before - after, ROUNDING_BYTES, " B")
        table.equal("units reserved, at work, in all", units(ioc), (0, 0, CAPACITY))
        table.equal("exit status", ioc.exit(), 0)


def test_image_step(table, program):
    """Runs a test program that is an image of its own; prints its lines, and its sum as a row of
    the table."""
    with Image(program, None) as image:
        found = image.wait_for_match(r"^(\d+) passed, (\d+) failed$", TEST_TIMEOUT_S)
        if not found:
            raise IocError(f"{program} printed no sum:\n" + "\n".join(image.output()[-40:]))
        for line in image.output():
            if line.startswith(("ok ", "FAILED ")):
                print("  | " + line)
        table.equal(f"{program}: passed, failed", f"{found.group(1)}, {found.group(2)}", f"{found.group(1)}, 0")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--short", action="store_true", help="100 connections, 20 refusals and 50 asks instead of 600, 200 and 200"
    )
    arguments = parser.parse_args()
    connections, refusals = (100, 20) if arguments.short else (600, 200)

    start = time.monotonic()
    table = Table()
    print(__doc__.strip(), flush=True)
    table.heading("Test programs, each an image of its own")
    test_image_step(table, "conformance")
    test_image_step(table, "castest")
    stock_loss = stock_step(table, connections)
    shown = pool_step(table, connections, stock_loss)
    sealed_step(table, connections, refusals, stock_loss)
    fleet_step(table, 50 if arguments.short else 200)
    return table.verdict("second", shown, start)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except IocError as error:
        sys.exit(f"demo_rtems: {error}")
