#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The two-IOC example: an owner that scans on its pool's threads, and an asker that leases them."""

import argparse
import os
import re
import signal
import sys
import time
from pathlib import Path

from iocprocess import TOP, Ioc, IocError, free_port, mistake_is_told

FLEET_DIR = TOP / "examples" / "fleet"
CAPACITY = 2
GRACE_MS = 2000
# Bounds of waits; they measure nothing, since the awaited change usually comes in milliseconds.
SOON_S = 20.0
LOOK_S = 0.02
ASKS = 1000
WARM_UP = 300
# As in demo.py: malloc's own bookkeeping moves by this much between two readings of an IOC in which
# nothing changed.
HEAP_NOISE_BYTES = 4096


class Checks:
    """Prints a line for each check, and counts."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def true(self, name, right, seen=""):
        self.passed += bool(right)
        self.failed += not right
        print(f"ok {name}" if right else f"FAILED {name}: {seen}", flush=True)

    def equal(self, name, seen, wanted):
        self.true(name, seen == wanted, f"{seen!r}, not {wanted!r}")


class Fleet:
    """Where the two IOCs meet: a table's name of this run's own, and their ports."""

    def __init__(self):
        self.table = f"crew-test-{os.getpid()}"
        self.owner_port = free_port()

    def _start(self, script, port, program="fleet-ioc"):
        settings = {"FLEET": self.table, "OWNER_PORT": self.owner_port, "ASKER_PORT": port, "GRACE": GRACE_MS}
        # Glibc counts a thread's cache of freed blocks as in use, and the cache takes thousands of
        # asks to settle.
        settings["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0"
        return Ioc(program, script, settings, directory=FLEET_DIR)

    def owner(self):
        return self._start("owner.cmd", self.owner_port)

    def asker(self):
        return self._start("asker.cmd", free_port())

    def alone(self):
        return self._start("alone.cmd", self.owner_port, "fleet-alone")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        Path("/dev/shm", self.table).unlink(missing_ok=True)


def read(ioc, pv):
    """A PV's value as dbgf prints it."""
    answer = "\n".join(ioc.command(f"dbgf {pv}"))
    found = re.search(r'DBF_\w+(?:\[\d+\])?:\s+(?:"(.*)"|(\S+))', answer)
    if not found:
        raise IocError(f"dbgf {pv} printed no value:\n{answer}")
    return found.group(1) if found.group(1) is not None else found.group(2)


def eventually(look, wanted, timeout_s=SOON_S):
    """Looks until the value is as wanted, or the time is over. Returns the value seen last."""
    end = time.monotonic() + timeout_s
    seen = look()
    while not wanted(seen) and time.monotonic() < end:
        time.sleep(LOOK_S)
        seen = look()
    return seen


def wait_for(ioc, pv, wanted, timeout_s=SOON_S):
    """Waits until a PV has this value. Returns the value that it had last."""
    return eventually(lambda: read(ioc, pv), lambda seen: seen == wanted, timeout_s)


def ask(asker, channel, points):
    """Has a channel ask for a scan."""
    asker.command(f"dbpf asker:{channel}:points {points}")


def total(points):
    return points * (points + 1) // 2


def show(ioc, level=2):
    return "\n".join(ioc.command(f"crewFleetShow {level}"))


def units(ioc):
    """Reserved and active units of the resource, as the table has them; None: there is no resource.
    """
    found = re.search(r"key scan, (\d+) reserved \+ (\d+) at work of (\d+)", show(ioc, 1))
    return tuple(map(int, found.groups())) if found else None


def connect(asker):
    """Waits until the asker has reached the owner's PVs."""
    for channel in "abc":
        wait_for(asker, f"asker:{channel}:again.INAV", "Ext PV OK")
        eventually(lambda c=channel: links(asker, c), lambda seen: seen)


def links(asker, channel):
    """Whether the links of one channel to the owner are connected."""
    answer = "\n".join(asker.command(f"dbcar asker:{channel}:ask 2"))
    heard = "\n".join(asker.command(f"dbcar asker:{channel}:hear 2"))
    return all(re.search(r"\b0 not connected", text) or " 0 disconnected" in text for text in (answer, heard))


def one_scan(checks, owner, asker):
    ask(asker, "a", 10)
    outcome = eventually(lambda: read(asker, "asker:a:outcome"), lambda seen: str(total(10)) in seen)
    checks.true("a scan that the asker asked for is done", outcome.startswith(f"done {total(10)} "), outcome)
    checks.equal("its result is in the asker's record", read(asker, "asker:a:result"), str(total(10)))
    thread = outcome.rsplit(" ", 1)[-1]
    pooled = [name for name in owner.threads().values() if name.startswith("scan.")]
    checks.true("it ran on a thread of the owner's pool", thread in pooled, f"{thread} of {pooled}")
    checks.true("the asker has no such thread", thread not in asker.threads().values(), str(asker.threads()))


def both_sides(checks, owner, asker):
    for name, ioc in (("owner", owner), ("asker", asker)):
        text = show(ioc)
        for node, process in (("owner", owner), ("asker", asker)):
            line = re.search(rf"node \d+: {node}, process {process.pid}, .*alive", text)
            checks.true(f"crewFleetShow on the {name} shows that the {node} is alive", line, text)
        resource = re.search(rf"key scan, 0 reserved \+ 0 at work of {CAPACITY}", text)
        checks.true(f"crewFleetShow on the {name} shows the resource and its units", resource, text)


def capacity(checks, owner, asker):
    owner.command("dbpf owner:pause 1")
    for channel, points in (("a", 20), ("b", 21)):
        ask(asker, channel, points)
        checks.equal(f"asker {channel} of {CAPACITY} is served", read(asker, f"asker:{channel}:state"), "sent")
    working = eventually(lambda: units(asker), lambda seen: seen == (0, CAPACITY, CAPACITY))
    checks.equal("both units are at work", working, (0, CAPACITY, CAPACITY))
    ask(asker, "c", 22)
    checks.equal("one more is told to wait", read(asker, "asker:c:state"), "wait")
    owner.command("dbpf owner:pause 0")
    for channel, points in (("a", 20), ("b", 21), ("c", 22)):
        outcome = eventually(
            lambda c=channel: read(asker, f"asker:{c}:outcome"), lambda seen: str(total(points)) in seen
        )
        checks.true(f"asker {channel} has its result in the end", f"done {total(points)} " in outcome, outcome)
    idle = eventually(lambda: units(asker), lambda seen: seen == (0, 0, CAPACITY))
    checks.equal("all units are back", idle, (0, 0, CAPACITY))


def death_of_a_job(checks, asker):
    for times in range(CAPACITY + 1):
        ask(asker, "a", -1)
        outcome = wait_for(asker, "asker:a:outcome", "died")
        checks.equal(f"a job whose thread ends is told to the asker ({times + 1})", outcome, "died")
        ask(asker, "a", 30 + times)
        outcome = eventually(lambda: read(asker, "asker:a:outcome"), lambda seen: seen != "died")
        checks.true(f"and its unit serves again ({times + 1})", outcome.startswith(f"done {total(30 + times)} "), outcome)
    checks.equal("all units are back after that", units(asker), (0, 0, CAPACITY))


def a_false_lease(checks, owner):
    for text, why in (
        ("1.0.0.1:1:0.1 5", "refused"),
        ("nonsense 5", "refused"),
        ("nonsense", "refused"),
    ):
        owner.command(f'dbpf owner:c:request.VAL$ "{text}"')
        answer = read(owner, "owner:c:answer.VAL$")
        checks.true(f'the owner refuses "{text}"', why in answer, answer)


def growth(checks, owner, asker):
    def run(count, first):
        for i in range(count):
            ask(asker, "a", first + i)
            if not wait_for(asker, "asker:a:result", str(total(first + i))) == str(total(first + i)):
                raise IocError(f"ask {i} was not answered: " + read(asker, "asker:a:state"))

    run(WARM_UP, 1)
    before = owner.heap(), asker.heap(), owner.threads(), asker.threads()
    run(ASKS, 1)
    for name, ioc, heap, threads in (("owner", owner, before[0], before[2]), ("asker", asker, before[1], before[3])):
        grown = ioc.heap() - heap
        print(f"  heap of the {name}: {heap} bytes, {grown:+d} after {ASKS} asks", flush=True)
        checks.true(f"the {name}'s heap does not grow with asks", grown <= HEAP_NOISE_BYTES, f"{grown} bytes")
        checks.true(f"the {name}'s threads are the same ones", ioc.threads() == threads, str(ioc.threads()))


def death_of_the_asker(checks, owner, asker):
    held = [asker.command("fleetHold")[-1] for _ in range(CAPACITY)]
    checks.true("the asker holds leases", all(re.fullmatch(r"[\d.]+:\d+:[\d.]+", text) for text in held), str(held))
    text = show(owner)
    named = len(re.findall(r"reserved by .* ms ago", text))
    checks.equal("crewFleetShow names who holds them, and since when", named, CAPACITY)
    ask(asker, "c", 1)
    checks.equal("nobody else gets one", read(asker, "asker:c:state"), "wait")
    os.kill(asker.pid, signal.SIGKILL)
    back = eventually(lambda: units(owner), lambda seen: seen == (0, 0, CAPACITY))
    checks.equal("the owner takes the dead asker's units back", back, (0, 0, CAPACITY))
    checks.true("and says so", owner.wait_for_line("were not brought within", SOON_S), "\n".join(owner.output()[-5:]))
    checks.true("crewFleetShow does not show the asker any more", " asker," not in show(owner), show(owner))


def death_of_the_asker_of_a_job(checks, owner, asker):
    owner.command("dbpf owner:pause 1")
    ask(asker, "a", 50)
    working = eventually(lambda: units(owner), lambda seen: seen == (0, 1, CAPACITY))
    checks.equal("a job of the asker is at work", working, (0, 1, CAPACITY))
    os.kill(asker.pid, signal.SIGKILL)
    asker.wait()
    gone = eventually(lambda: show(owner), lambda text: " asker," not in text)
    checks.true("the owner sees that the asker has ended", " asker," not in gone, gone)
    checks.equal("its job goes on, and keeps its unit", units(owner), (0, 1, CAPACITY))
    owner.command("dbpf owner:pause 0")
    back = eventually(lambda: units(owner), lambda seen: seen == (0, 0, CAPACITY))
    checks.equal("the unit is back when the job has ended", back, (0, 0, CAPACITY))


def death_of_the_owner(checks, owner, asker):
    """Kills the owner while one of its units is leased."""
    held = asker.command("fleetHold")[-1]
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    ask(asker, "a", 3)
    state = read(asker, "asker:a:state")
    checks.equal("the next ask finds nobody", state, "nobody offers it")
    text = show(asker)
    checks.true("crewFleetShow says that a node has ended", "noticed here: 1 nodes have ended" in text, text)
    checks.true("and nothing of the owner is left", " owner," not in text and "resource" not in text.replace("0 resources", ""), text)
    return held


def owner_again(checks, owner, asker, held):
    """The asker's database asks again for a scan that no owner offered at first."""
    outcome = eventually(lambda: read(asker, "asker:a:outcome"), lambda seen: str(total(3)) in seen)
    checks.true("who was told that nobody offers it is served now", outcome.startswith(f"done {total(3)} "), outcome)
    one_scan(checks, owner, asker)
    owner.command(f'dbpf owner:c:request.VAL$ "{held} 5"')
    answer = read(owner, "owner:c:answer.VAL$")
    checks.true("a lease of the owner's former life is refused", answer.startswith(f"{held} refused"), answer)
    checks.equal("and changes nothing", units(owner), (0, 0, CAPACITY))


def orderly_ends(checks, owner, asker):
    checks.equal("exit status of the asker", asker.exit(), 0)
    left = eventually(lambda: show(owner), lambda text: " asker," not in text)
    checks.true("an asker that exits leaves the table", " asker," not in left, left)
    text = show(owner, 0)
    checks.true("nobody takes that for a death", "noticed here: 0 nodes" in text, text)
    checks.equal("exit status of the owner", owner.exit(), 0)


def death_of_all(checks, fleet):
    with fleet.owner() as owner, fleet.asker() as asker:
        connect(asker)
        checks.true("a lease is out", asker.command("fleetHold"), "")
        for ioc in (owner, asker):
            os.kill(ioc.pid, signal.SIGKILL)
            ioc.wait()
    with fleet.owner() as owner:
        text = show(owner)
        checks.true("who opens the table of a dead fleet is alone in it", "1 of 16 nodes, 1 resources" in text, text)
        checks.equal("and nothing is held", units(owner), (0, 0, CAPACITY))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--without-image", action="store_true", help="there is no fleet-alone among the programs")
    arguments = parser.parse_args()
    start = time.monotonic()
    checks = Checks()
    with Fleet() as fleet:
        with fleet.owner() as owner, fleet.asker() as asker:
            connect(asker)
            one_scan(checks, owner, asker)
            both_sides(checks, owner, asker)
            capacity(checks, owner, asker)
            a_false_lease(checks, owner)
            death_of_a_job(checks, asker)
            growth(checks, owner, asker)
            death_of_the_asker(checks, owner, asker)
            with fleet.asker() as asker:
                connect(asker)
                death_of_the_asker_of_a_job(checks, owner, asker)
            with fleet.asker() as asker:
                connect(asker)
                held = death_of_the_owner(checks, owner, asker)
                with fleet.owner() as owner:
                    connect(asker)
                    owner_again(checks, owner, asker, held)
                    orderly_ends(checks, owner, asker)
        death_of_all(checks, fleet)
        mistakes(checks, fleet)
        if arguments.without_image:
            print("left out: fleet-alone, an IOC with the table in its own memory, is not among these programs")
        else:
            with fleet.alone() as ioc:
                connect(ioc)
                alone(checks, ioc)
    print(f"({time.monotonic() - start:.0f} s)\n{checks.passed} passed, {checks.failed} failed")
    return 0 if checks.failed == 0 else 1


def alone(checks, ioc):
    """Owner and asker in one IOC, with the table in its own memory."""
    ask(ioc, "a", 40)
    outcome = eventually(lambda: read(ioc, "asker:a:outcome"), lambda seen: str(total(40)) in seen)
    checks.true("an IOC alone asks itself", outcome.startswith(f"done {total(40)} "), outcome)
    capacity(checks, ioc, ioc)
    text = show(ioc)
    checks.true("crewFleetShow shows it alone", re.search(r"1 of 1 nodes", text) and " alone," in text, text)
    checks.equal("its exit status", ioc.exit(), 0)


MISTAKES = (
    ("crewFleetOpen", "say the table's name"),
    ("crewFleetOpen a/b", "without /"),
    ("crewFleetOpen $(FLEET) -1", "must not be negative"),
    ("crewFleetOpen $(FLEET)\ncrewFleetOpen $(FLEET)", "is open already"),
    ("crewFleetOpen $(FLEET)\ncrewFleetOpen other", "has kind 1 already"),
    ("crewFleetOpen $(FLEET) 1 32", "it has nodes 16, not 32; say"),
    ("crewFleetOpen $(FLEET) 2 0 0 32", "it has kind 1, not 2, keys 64, not 32; say"),
    ("crewFleetOpen $(FLEET) 1 0 100", "power of two"),
    ("iocInit\ncrewFleetOpen $(FLEET)", "must be called before iocInit"),
    ("crewFleetShow 1 other", "no fleet of that name"),
    ("crewFleetPublish scan scan", "crewFleetOpen first"),
    ("crewFleetOpen $(FLEET)\ncrewFleetPublish scan scan", "crewPoolOpen first"),
    ('crewFleetOpen $(FLEET)\ncrewPoolOpen s "a:small:1" 1\ncrewFleetPublish s 12345678901234567', "1 to 16"),
    ('crewFleetOpen $(FLEET)\ncrewPoolOpen s "a:small:1" 1\ncrewFleetPublish s s other', "no fleet of that name"),
    ('crewFleetOpen $(FLEET)\ncrewPoolOpen s "a:small:1" 1\ncrewFleetPublish s s\ncrewFleetPublish s t', "already"),
    ("crewFleetOpen $(FLEET)\ncrewCasPool 4\ncrewFleetPublish CAS cas", "the CA server's"),
)


def mistakes(checks, fleet):
    # The owner makes the table first, with the usual numbers.
    with fleet.owner():
        for commands, text in MISTAKES:
            settings = {"FLEET": fleet.table}
            told, output = mistake_is_told(
                commands, text, program="fleet-ioc", settings=settings, directory=FLEET_DIR
            )
            checks.true(f"told: {commands}".replace("\n", "; "), told, "\n".join(output))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except IocError as error:
        sys.exit(f"fleet: {error}")
