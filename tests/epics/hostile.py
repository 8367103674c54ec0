#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The demonstration IOC under clients that do it harm: killed in the middle of monitors, vanished
without a FIN, reading nothing, flapping, scanning, sending garbage. Again and again; then an IOC
whose own threads are killed while they serve.

Prints what was seen next to what is wanted, and exits with 1 when a figure is wrong.
"""

import argparse
import random
import socket
import struct
import sys
import tempfile
import threading
import time

from caclients import Circuit, LibcaClient, probe
from demo import PV, Table, cas_pool
from farpeer import NEAR, FarHost, SilentProxy, enter_own_network
from iocprocess import BUILD, Ioc, IocError

QUIET_PV = "demo:value"
WIDE_PV = "demo:wave"
SETS = 40
PER_HOST = 16
WAIT_MS = 100
FLAPPERS = 30
SLOW_READERS = 6
SCANS = 100
# A matter of seconds, on a machine that real-time threads do not starve.
NOTICED_S = 300.0
# Some way below the 15 s for which a CA server without Crew stops accepting.
SERVED_MS = 5000.0
# Malloc's own bookkeeping and the CA server's free lists move by this much between two readings.
HEAP_NOISE_BYTES = 16384


class Tally:
    """What the clients have done, for the last lines."""

    def __init__(self):
        self.counts = {}
        self._lock = threading.Lock()

    def add(self, what, count=1):
        with self._lock:
            self.counts[what] = self.counts.get(what, 0) + count

    def print(self):
        for what, count in self.counts.items():
            print(f"  {what:<60} {count:>9}")


def eventually(condition, timeout_s):
    """Polls until the condition is true, or the time is over. Returns whether it came true."""
    end = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def killed_clients(ioc, tally, dice):
    """Client processes killed by SIGKILL: holding monitors, or anywhere in connecting and
    disconnecting."""
    holding = [LibcaClient(ioc.environment, PV, "hold", 5) for _ in range(2)]
    for client in holding:
        client.wait_for_line("holding 5")
    cycling = LibcaClient(ioc.environment, PV, "cycle", 100000)
    cycling.wait_for_line("cycle 100")
    time.sleep(dice.random() / 10)  # any moment of a cycle will do
    for client in [cycling, *holding]:
        client.kill()
    tally.add("client processes killed by SIGKILL", 3)


def flapping(ioc, tally, dice):
    """Many at once: connect, read, monitor, and go; half of them by a reset, some before they have
    said a word."""
    end = time.monotonic() + 4.0

    def flap(own):
        host = "127.0.1.1"  # which may have fewer sets than there are flappers
        while time.monotonic() < end:
            try:
                if own.random() < 0.2:
                    socket.create_connection(("127.0.0.1", ioc.port), 20, (host, 0)).close()
                    tally.add("connections that said nothing")
                    continue
                circuit = Circuit(ioc.port, PV, host)
                tally.add("flapping clients served")
            except OSError:
                tally.add("flapping clients refused")
                continue
            if own.random() < 0.5:
                circuit.reset()
            else:
                circuit.close()

    threads = [threading.Thread(target=flap, args=(random.Random(dice.random()),)) for _ in range(FLAPPERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def garbage(dice):
    """Bytes that a scanner, or a broken client, would send."""
    header = struct.Struct(">HHHHII")
    version = header.pack(0, 0, 0, 13, 0, 0)
    return dice.choice(
        (
            lambda: dice.randbytes(dice.randrange(1, 4096)),
            lambda: b"GET / HTTP/1.1\r\nHost: ioc\r\n\r\n",
            lambda: b"\x16\x03\x01\x02\x00" + dice.randbytes(512),
            lambda: header.pack(0xFFFF, 0xFFFF, 0, 0, 0, 0) + struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF),
            lambda: version + header.pack(18, 16, 0, 0, 1, 13) + b"demo:co",
            lambda: version + header.pack(dice.randrange(64), 0, dice.randrange(40), 1, 7, 7) * dice.randrange(1, 50),
            lambda: version + header.pack(1, 16, 6, 1, dice.getrandbits(32), 1) + dice.randbytes(16),
        )
    )()


def scanners(ioc, tally, dice):
    """Connections and datagrams with garbage."""
    for _ in range(SCANS):
        with socket.create_connection(("127.0.0.1", ioc.port), 20, ("127.0.2.1", 0)) as scanner:
            try:
                scanner.sendall(garbage(dice))
                if dice.random() < 0.3:
                    scanner.recv(100)
            except OSError:
                pass  # refused, or thrown out
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as scanner:
        for _ in range(SCANS):
            scanner.sendto(garbage(dice), ("127.0.0.1", ioc.port))
    tally.add("connections with garbage", SCANS)
    tally.add("datagrams with garbage", SCANS)


def slow_readers(ioc, tally):
    """Runs clients that subscribe to far more than they read. Returns whether the server's sending
    was seen to be stuck."""
    readers = [Circuit(ioc.port, PV, "127.0.2.2") for _ in range(SLOW_READERS)]
    for reader in readers:
        reader.monitor_unread(WIDE_PV, 50)
    ports = {reader.port for reader in readers}
    stuck = eventually(lambda: all(ioc.unsent().get(port, 0) > 0 for port in ports), NOTICED_S)
    served, _ = probe(ioc.port)
    tally.add("clients that read nothing", SLOW_READERS)
    for reader in readers[::2]:
        reader.close()
    for reader in readers[1::2]:
        reader.reset()
    return stuck and served


def half_open(ioc, tally, far, own_network):
    """Clients that are gone without a FIN. Whether they held exactly their sets, others were
    served, and the sets came back; seconds until then."""
    ioc.wait_for_clients(0)
    far.connect(ioc.port, [PV, QUIET_PV] * 4)
    held = eventually(lambda: cas_pool(ioc)["busy"] == 8, NOTICED_S)
    far.vanish()
    start = time.monotonic()
    held = held and cas_pool(ioc)["busy"] == 8  # it takes the system seconds to notice
    served, _ = probe(ioc.port)
    tally.add("clients that vanished without a FIN", 8)
    if not own_network:
        far.come_back()  # nothing else ends them
    back = eventually(lambda: ioc.clients() == 0, NOTICED_S)
    seconds = time.monotonic() - start
    if not back:
        print("\n".join(["  still connected:", *ioc.command("casr 2"), *ioc.sockets()]), flush=True)
    if own_network:
        far.come_back()
    return held and served and back, seconds


def fill_free_lists(ioc):
    """The CA server never gives back what it once had for its clients: as many, and as wide ones,
    as it will ever have."""
    wide = [Circuit(ioc.port, PV, f"127.0.2.{1 + i % 2}") for i in range(20)]
    for client in wide:
        client.monitor_unread(WIDE_PV, 50)
    others = [Circuit(ioc.port, PV, f"127.0.1.{1 + i % 10}") for i in range(SETS - len(wide))]
    for client in wide:
        eventually(lambda port=client.port: ioc.unsent().get(port, 0) > 0, NOTICED_S)
    for client in [*wide, *others]:
        client.close()
    ioc.wait_for_clients(0, NOTICED_S)


def turn(ioc, tally, dice, far, own_network):
    """Everything once; then what the IOC holds. Whether all was as it should be, and the slowest of
    20 clients."""
    killed_clients(ioc, tally, dice)
    right = slow_readers(ioc, tally)
    flapping(ioc, tally, dice)
    scanners(ioc, tally, dice)
    good, noticed_s = half_open(ioc, tally, far, own_network)
    ioc.wait_for_clients(0, NOTICED_S)
    right = right and good and eventually(lambda: cas_pool(ioc)["busy"] == 0, NOTICED_S)
    slowest = 0.0
    for _ in range(20):
        served, ms = probe(ioc.port)
        right = right and served
        slowest = max(slowest, ms)
    ioc.wait_for_clients(0)
    right = right and eventually(lambda: cas_pool(ioc)["busy"] == 0, NOTICED_S)
    return right, slowest, noticed_s, (ioc.heap(), ioc.files(), ioc.mutexes(), ioc.threads())


def hostile_step(table, tally, seconds, seed, own_network):
    far = FarHost() if own_network else SilentProxy()
    interfaces = f"127.0.0.1 {NEAR}" if own_network else "127.0.0.1"
    settings = {"SETS": SETS, "PERHOST": PER_HOST, "WAITMS": WAIT_MS, "BUDGET": 240, "EPICS_CAS_INTF_ADDR_LIST": interfaces}
    settings["KEEPALIVE"] = "3 1 3"  # as the far host's network
    dice = random.Random(seed)
    table.heading(f"An IOC with crewCasPool {SETS} {PER_HOST} {WAIT_MS}, sealed, for {seconds} s; vanished: {far.how}")
    with Ioc(settings=settings) as ioc:
        ioc.command(f'dbpf {WIDE_PV}.SCAN ".1 second"')
        fill_free_lists(ioc)
        turn(ioc, tally, dice, far, own_network)
        threads_made = cas_pool(ioc)["threads"]
        start = time.monotonic()
        turns = []
        while len(turns) < 2 or time.monotonic() - start < seconds:
            turns.append(turn(ioc, tally, dice, far, own_network))
            right, slowest, noticed_s, (heap, files, _, threads) = turns[-1]
            print(
                f"  {time.monotonic() - start:6.0f} s: {len(turns)} turns, heap {heap} B, {len(threads)} threads, "
                f"{files} files, slowest client {slowest:.1f} ms, vanished noticed after {noticed_s:.1f} s"
                + ("" if right else " WRONG"),
                flush=True,
            )
        quarter = max(1, len(turns) // 4)
        heaps = [reading[0] for _, _, _, reading in turns]
        growth = (sum(heaps[-quarter:]) - sum(heaps[:quarter])) // quarter
        first, last = turns[0][3], turns[-1][3]
        table.equal("turns in which every set came back and others were served", sum(t[0] for t in turns), len(turns))
        table.at_most("slowest client after a turn", max(t[1] for t in turns), SERVED_MS, " ms")
        table.at_most("heap: last quarter of the turns above the first", growth, HEAP_NOISE_BYTES, " B")
        table.equal("files and sockets, last turn above the first", last[1] - first[1], 0)
        table.equal("EPICS mutexes, last turn above the first", last[2] - first[2], 0)
        table.equal("the IOC's threads are the same ones as after the first turn", last[3] == first[3], True)
        pool = cas_pool(ioc)
        table.equal("threads made by the CAS pool meanwhile", pool["threads"] - threads_made, 0)
        table.equal("clients that got threads of their own", pool["on threads"], 0)
        table.equal("sets in use", pool["busy"], 0)
        far.connect(ioc.port, [PV, QUIET_PV])
        stuck = Circuit(ioc.port, PV)
        stuck.monitor_unread(WIDE_PV, 50)
        far.vanish()
        table.equal("exit status, with a slow reader and two that have vanished", ioc.exit(), 0)
        stuck.close()
    far.close()


def deaths_step(table, count):
    """Ends both threads that serve a client while they serve it."""
    table.heading(f"An IOC with 3 sets whose own threads end while they serve, {count} times")
    with tempfile.NamedTemporaryFile("w", suffix=".cmd") as script:
        script.write(
            f"on error break\ndlload {BUILD / 'libdie.so'}\ncrewBudget 160\ncrewCasPool 3 0 100\n"
            f'dbLoadRecords "demo.db", "P=demo:"\niocInit\n'
        )
        script.flush()
        with Ioc(script=script.name) as ioc:
            Circuit(ioc.port, PV).close()
            ioc.wait_for_clients(0)
            files = ioc.files()
            threads = len(ioc.threads())
            sets = cas_pool(ioc)["created"]
            retired = 0
            wrong = 0
            held = ioc.number("crewShow 0", r"account: (\d+) B of")
            for _ in range(count):
                victim = Circuit(ioc.port, PV)
                victim.ask_with_filter(PV, "dieEvent", monitor=True)
                seen = eventually(lambda: ioc.number("crewShow 0", r"(\d+) retired") == retired + 1, NOTICED_S)
                victim.ask_with_filter(PV, "dieClient", monitor=False)
                gone = eventually(lambda: cas_pool(ioc)["busy"] == 0, NOTICED_S)
                served = probe(ioc.port)[0]
                retired += 1
                replaced = eventually(lambda: cas_pool(ioc)["busy"] == 0, NOTICED_S)
                wrong += not (seen and gone and served and replaced)
                victim.close()
            pool = cas_pool(ioc)
            table.equal("deaths after which the next client was served", count - wrong, count)
            table.equal("sets retired", ioc.number("crewShow 0", r"(\d+) retired"), count)
            table.equal("clients that got threads of their own", pool["on threads"], 0)
            table.at_most("sets that exist", pool["created"], 3)
            now_held = ioc.number("crewShow 0", r"account: (\d+) B of")
            table.equal("bytes held, for each set that exists", now_held, held // sets * pool["created"])
            more = 2 * (pool["created"] - sets)
            table.equal("threads above the start, two for each set more", len(ioc.threads()) - threads, more)
            table.equal("sockets of the dead, which the CA server does not close", ioc.files() - files, count)
            table.equal("exit status", ioc.exit(), 0)
    return count * 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="how long the first IOC is under attack (60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="for the clients' dice")
    parser.add_argument("--no-namespace", action="store_true", help="as on a machine that permits no network namespace")
    own_network = "--no-namespace" not in sys.argv and enter_own_network()
    arguments = parser.parse_args()

    table = Table()
    tally = Tally()
    print(f"{__doc__.strip()}\nseed {arguments.seed}", flush=True)
    hostile_step(table, tally, arguments.seconds, arguments.seed, own_network)
    tally.add("server threads ended while serving", deaths_step(table, 20))
    print()
    tally.print()
    print()
    return table.sums()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except IocError as error:
        sys.exit(f"hostile: {error}")
