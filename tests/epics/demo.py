#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The demonstration: a CA server on a pool of thread sets, and clients that try to exhaust it.

Prints what was seen next to what is wanted, and exits with 1 when a figure is wrong.
"""

import argparse
import re
import sys
import tempfile
import time
from contextlib import ExitStack

from caclients import Circuit, LibcaClient, probe
from iocprocess import BUILD, Ioc, IocError, mistake_is_told

PV = "demo:count"
SETS = 40
WAIT_MS = 100
# A strictly sequential client's next connection comes before the last set is back: up to 5 sets at
# once were seen.
SEQUENTIAL_SETS = 6
WARM_UP = 500
# Time for two thread switches and a TCP handshake on a busy machine. A refused client waits WAIT_MS
# besides; an IOC with a broken accept loop would answer after 15 s.
SLACK_MS = 100.0
# Malloc's own bookkeeping moves by this much between two readings of an IOC in which nothing
# changed.
HEAP_NOISE_BYTES = 4096


class Table:
    """Prints the figures as the steps find them, and counts those that are right."""

    WIDTHS = (66, 12, 18)

    def __init__(self):
        self.right = 0
        self.wrong = 0

    def _row(self, what, seen, wanted, verdict):
        texts = [{"True": "yes", "False": "no"}.get(str(text), str(text)) for text in (what, seen, wanted)]
        columns = [text.ljust(width) for text, width in zip(texts, self.WIDTHS)]
        print("  " + "  ".join([*columns, verdict]).rstrip(), flush=True)

    def heading(self, text):
        print(f"\n{text}", flush=True)
        self._row("", "seen", "wanted", "")

    def check(self, what, seen, right, wanted):
        self.right += right
        self.wrong += not right
        self._row(what, seen, wanted, "ok" if right else "WRONG")

    def equal(self, what, seen, wanted):
        self.check(what, seen, seen == wanted, wanted)

    def at_most(self, what, seen, most, unit=""):
        shown = f"{seen:.1f}" if isinstance(seen, float) else seen
        self.check(what, f"{shown}{unit}", seen <= most, f"at most {most:g}{unit}")

    def sums(self):
        """Prints the last line. Returns the exit status."""
        print(f"{self.right} passed, {self.wrong} failed")
        return 0 if self.wrong == 0 else 1

    def verdict(self, which, report, start):
        """Prints the report of an IOC, then the verdict and the time since `start`. Returns the
        exit status."""
        print(f"\nThe {which} IOC's own report at its end (crewShow 1):")
        print("\n".join("  | " + line for line in report))
        verdict = "all figures are right" if self.wrong == 0 else f"{self.wrong} figures are WRONG"
        print(f"\n{verdict} ({time.monotonic() - start:.0f} s)")
        return self.sums()


def progress(text):
    if sys.stdout.isatty():
        print(f"\r  ... {text}\x1b[K", end="\r", flush=True)


CAS_FIGURES = {
    "busy": r"pool CAS: (\d+) busy",
    "idle": r"pool CAS: \d+ busy \+ (\d+) idle",
    "refused": r"pool CAS: .*, (\d+) refused",
    "threads": r"pool CAS: .*\n.*threads ever created (\d+)",
    "on sets": r"clients: (\d+) on sets",
    "on threads": r"clients: \d+ on sets, (\d+) on threads",
}


def cas_pool(ioc):
    """The CAS pool's figures from crewShow 1."""
    text = "\n".join(ioc.command("crewShow 1"))
    figures = {}
    for key, pattern in CAS_FIGURES.items():
        found = re.search(pattern, text)
        if not found:
            raise IocError(f'crewShow 1 has no "{pattern}":\n{text}')
        figures[key] = int(found.group(1))
    figures["created"] = figures["busy"] + figures["idle"]
    return figures


def run_sequence(ioc, count, done, total):
    """Connects `count` clients one after the other. Returns how many were served."""
    served = 0
    for _ in range(count):
        try:
            Circuit(ioc.port, PV).close()
            served += 1
        except OSError:
            pass
        if (done + served) % 100 == 0:
            progress(f"{done + served} of {total} connections")
    ioc.wait_for_clients(0)
    return served


def heap_growth(ioc, total):
    """Measures by how many bytes the IOC's heap grows from the WARM_UP-th to the last of `total`
    sequential connections.

    The warm-up ends with as many clients at once as a sequential client can ever need, so that how
    many sets there are does not depend on how busy this machine is.
    """
    warm_up = min(WARM_UP, total // 2)
    served = run_sequence(ioc, warm_up, 0, total)
    together = [Circuit(ioc.port, PV) for _ in range(SEQUENTIAL_SETS)]
    for client in together:
        client.close()
    ioc.wait_for_clients(0)
    before = ioc.heap(), ioc.threads()
    served += run_sequence(ioc, total - warm_up, warm_up, total)
    return served, ioc.heap() - before[0], before


def sequence_step(table, ioc, total):
    table.heading(f"{total} clients one after the other: connect, read, monitor, disconnect")
    with Ioc("demo-ioc", "plain.cmd") as plain:
        progress("the same IOC without Crew, to compare")
        _, plain_growth, _ = heap_growth(plain, total)
        plain.exit()
    served, growth, (heap, threads) = heap_growth(ioc, total)
    pool = cas_pool(ioc)
    table.equal("connections served", served, total)
    table.at_most("thread sets that this took (two threads each)", pool["created"], SEQUENTIAL_SETS)
    table.equal("threads made by the CAS pool since the start", pool["threads"], 2 * pool["created"])
    table.equal("clients that got threads of their own", pool["on threads"], 0)
    table.equal("the IOC's threads are the same ones as after the warm-up", ioc.threads() == threads, True)
    print(f"  heap in use: {heap} bytes after the warm-up, {heap + growth} at the end", flush=True)
    most = max(plain_growth, 0) + HEAP_NOISE_BYTES
    table.at_most(f"its growth; without Crew it was {plain_growth} B", growth, most, " B")


def crowd_step(table, ioc):
    table.heading("30 clients at once, as 3 processes on base's own client library")
    with ExitStack() as stack:
        crowd = [LibcaClient(ioc.environment, PV, "hold", 10) for _ in range(3)]
        for client in crowd:
            stack.callback(client.finish)
        for client in crowd:
            client.wait_for_line("holding 10")
        table.equal("clients that casr shows", ioc.clients(), 30)
        table.equal("busy sets", cas_pool(ioc)["busy"], 30)
        lines = [line for line in ioc.command("crewShow 2") if line.startswith("  set ")]
        whole = r"  set \d+: leased, \d+ s, for 127\.0\.0\.1:\d+, CAS-client 0x\w+ CAS-event 0x\w+$"
        named = [line for line in lines if re.match(whole, line)]
        table.equal("lines of crewShow 2, each a set with age, client and threads", (len(lines), len(named)), (30, 30))
    ioc.wait_for_clients(0)


def full_house_step(table, ioc, slack_ms=SLACK_MS):
    table.heading(f"A full house: {SETS} clients, then one more")
    threads_before = ioc.threads()
    held = [Circuit(ioc.port, PV) for _ in range(SETS)]
    grown = len(ioc.threads()) - len(threads_before)
    table.equal("clients that casr shows", ioc.clients(), SETS)
    served, ms = probe(ioc.port)
    table.equal("one more is served", served, False)
    table.at_most("it was told after", ms, WAIT_MS + slack_ms, " ms")
    told = ioc.wait_for_line(f"refused: all {SETS} sets of pool CAS are in use")
    table.equal("the log says who was refused, and why", told, True)
    held.pop().close()
    ioc.wait_for_clients(SETS - 1)
    served, ms = probe(ioc.port)
    table.equal("a client after one has left is served", served, True)
    table.at_most("it was served after (15 s where the accept loop stalls)", ms, slack_ms, " ms")
    for client in held:
        client.close()
    ioc.wait_for_clients(0)
    threads = cas_pool(ioc)["threads"]
    again = [Circuit(ioc.port, PV) for _ in range(SETS)]
    table.equal(f"threads made by a second full house (the first made {grown})", cas_pool(ioc)["threads"] - threads, 0)
    for client in again:
        client.close()
    ioc.wait_for_clients(0)


def refusals_step(table, count):
    table.heading(f"A small IOC: 4 sets, all made by crewSeal, 2 per host; {count} refusals in a row")
    small = {"SETS": 4, "PERHOST": 2, "WAITMS": 5, "CLIENT_STACK": 131072, "EVENT_STACK": 65536}
    with Ioc(settings=small) as ioc:
        threads = ioc.threads()
        table.equal("sets made before the first client", cas_pool(ioc)["idle"], 4)
        held = [Circuit(ioc.port, PV) for _ in range(2)]
        table.equal("a third client of one host is served", probe(ioc.port)[0], False)
        held += [Circuit(ioc.port, PV, "127.0.0.2") for _ in range(2)]
        table.equal("two clients of another host are", ioc.clients(), 4)
        mutexes = ioc.mutexes()
        slowest = 0.0
        refused = 0
        for i in range(count):
            served, ms = probe(ioc.port, "127.0.0.3")
            refused += not served
            slowest = max(slowest, ms)
            if i % 50 == 0:
                progress(f"{i} of {count} refusals")
        table.equal("refused", refused, count)
        table.at_most("the slowest of them was told after", slowest, 5 + SLACK_MS, " ms")
        table.equal("EPICS mutexes left behind (one per refusal in the stock server)", ioc.mutexes() - mutexes, 0)
        lines = [line for line in ioc.output() if "refused: all 4 sets" in line]
        table.at_most("log lines about it", len(lines), 3 + count // 50)
        table.equal("the IOC's threads are those that it had after crewSeal", ioc.threads() == threads, True)
        table.equal("exit status, with the four clients connected", ioc.exit(), 0)
        for client in held:
            client.close()


def normal_ioc_step(table, ioc, host="127.0.0.1"):
    table.heading("It is a normal IOC")
    circuit = Circuit(ioc.port, PV)
    casr = ioc.command("casr 2")
    table.equal("casr names the client", any(f"TCP client at {host}:" in line for line in casr), True)
    table.equal("casr names its channel", any("demo:count" in line for line in casr), True)
    threads = ioc.command("epicsThreadShowAll")
    clients = [line for line in threads if line.split()[:1] == ["CAS-client"]]
    running = bool(clients) and "SUSPEND" not in str(clients)
    table.equal("epicsThreadShowAll shows the members, none suspended", running, True)
    watched = ioc.command("taskwdShow 1")
    states = [line.split()[1] for line in watched if "CAS-client" in line]
    table.equal("taskwdShow shows the client's thread, alive", states == ["Ok"], True)
    table.equal("dbior shows Crew", any("drvCrew" in line for line in ioc.command("dbior")), True)
    circuit.close()
    ioc.wait_for_clients(0)


def preload_step(table):
    table.heading("A stock IOC, not linked with Crew, with libcrewCas.so preloaded")
    settings = {"LD_PRELOAD": BUILD / "libcrewCas.so", "CREW_CAS_POOL": "10 0 100"}
    with Ioc("plain-ioc", "plain.cmd", settings) as ioc:
        served = run_sequence(ioc, 100, 0, 100)
        pool = cas_pool(ioc)
        table.equal("connections served", served, 100)
        table.at_most("thread sets that this took", pool["created"], SEQUENTIAL_SETS)
        table.equal("clients that got threads of their own", pool["on threads"], 0)
        table.equal("exit status", ioc.exit(), 0)


MISTAKES = (
    ("crewBudget", "say how many MiB"),
    ("crewBudget lots", "must be a positive whole number of MiB"),
    ("crewCasPool", "say capacity, perHost, waitMs"),
    ("crewCasPool 0 0 100", "capacity must be 1 to"),
    ("crewCasPool 4 x", 'perHost "x" is no whole number'),
    ("crewCasPool 4 0 100ms", 'waitMs "100ms" is no whole number'),
    ("var crewCasClientStack -1\ncrewCasPool 4 0 100", "crewCasClientStack (-1) and crewCasEventStack (0) must be"),
    ("var crewCasEventStack 100\ncrewCasPool 4 0 100", "crewCasEventStack (100) must be"),
    ("crewCasKeepalive", "say idle and interval in s"),
    ("crewCasKeepalive 30", "say idle and interval in s"),
    ("crewCasPool 4 9", "perHost must be 0 (no limit) to the capacity"),
    ("crewCasPool 4 0 99999", "waitMs must be 0 to 10000"),
    ("crewPoolOpen", "say name, roles and capacity"),
    ('crewPoolOpen p "conn:big" 1', 'role 1 "conn:big" is not name:stack:priority'),
    ('crewPoolOpen p "a:big:1 b:tiny:1" 1', 'role 2 "b:tiny:1": stack "tiny" must be small, medium, big'),
    ('crewPoolOpen p "a:64k:100" 1', 'role 1 "a:64k:100": priority "100" must be 0 to 99'),
    ('crewPoolOpen p "" 1', "no roles"),
    ('crewPoolOpen p "a:big:1" 0', "capacity must be 1 to"),
    ('crewPoolOpen p "a:big:1" 300', "capacity must be 1 to"),
    ("crewTrim", "say which pool"),
    ("crewTrim nobody", "no pool of that name"),
    ("crewSeal", "nothing to seal"),
    ("crewCasPool 4\ncrewBudget 100", "comes too late, the budget is in force"),
    ("crewCasPool 4\ncrewCasPool 4", "the CA server has its pool: say it once"),
    ("crewBudget 8\ncrewCasPool 4 0 0 4", "needs 12.00 MiB, 0.00 of the budget's 8.00 MiB are held: raise crewBudget"),
    (
        "crewBudget 8\ncrewCasPool 4 0 0\niocInit\ncrewSeal",
        "not sealed: pool CAS has 2 of the 4 sets that it keeps, and holds these. For one more: pool CAS needs 3.00 MiB, "
        "6.00 of the budget's 8.00 MiB are held: raise crewBudget (and have the RAM); or lower its capacity",
    ),
    ("iocInit\ncrewCasPool 4", "must be called before iocInit"),
)


# What is told while the script goes on.
TOLD = (
    ("crewCasPool 4", "perHost was not said: one host may take all 4 sets"),
    ("crewCasPool 4 2", "waitMs was not said: a connection waits up to 100 ms for a set"),
    ("crewBudget 8\ncrewCasPool 4 0 100", "4 sets need 12.00 MiB, the budget is 8.00 MiB and has room for 2"),
    ('crewBudget 8\ncrewPoolOpen p "a:big:1" 5 1', "5 sets need 10.00 MiB, the budget is 8.00 MiB and has room for 4"),
    ("crewCasPool 4 0 100\niocInit\ncrewSeal\ncrewSeal", "crewSeal: sealed already, nothing has changed"),
)
FEW_FILES = ("sh", "-c", 'ulimit -n 40; exec "$0" "$@"')


def told_step(table):
    table.heading("What looks like a mistake and may be none is told at its line, and the script goes on")
    cases = [(*case, ()) for case in TOLD]
    text = "30 CA clients need as many files and the IOC some 16 more, this process may open 40"
    cases.append(("crewCasPool 30 0 100", text, FEW_FILES))
    for commands, text, wrapper in cases:
        with tempfile.NamedTemporaryFile("w", suffix=".cmd") as script:
            script.write(f"on error break\n{commands}\necho reached\n")
            script.flush()
            with Ioc(script=script.name, wrapper=wrapper) as ioc:
                told = ioc.wait_for_line(text, 0.0) and ioc.wait_for_line("reached", 0.0)
                if not told:
                    print("\n".join("  | " + line for line in ioc.output()))
                table.equal(commands.replace("\n", "; "), told, True)
                ioc.exit()


def variable_step(table):
    table.heading("CREW_CAS_POOL with a text that is no number")
    settings = {"LD_PRELOAD": BUILD / "libcrewCas.so"}
    for value in ("40 0 soon", "40 0 100 0 1", "40x"):
        with Ioc("plain-ioc", "plain.cmd", {**settings, "CREW_CAS_POOL": value}) as ioc:
            told = ioc.wait_for_line(f'CREW_CAS_POOL="{value}" opened no pool')
            table.equal(f'"{value}" opens no pool, which is told', told, True)
            table.equal("clients are served as by a stock IOC", run_sequence(ioc, 2, 0, 2), 2)


def mistakes_step(table):
    table.heading("Mistakes in a startup script: each is told, and stops a script that says \"on error break\"")
    for commands, text in MISTAKES:
        told, output = mistake_is_told(commands, text)
        if not told:
            print("\n".join("  | " + line for line in output))
        table.equal(commands.replace("\n", "; "), told, True)


def bypass_step(table):
    table.heading("An IOC that loads Crew too late, so that base does not call it")
    with tempfile.NamedTemporaryFile("w", suffix=".cmd") as script:
        script.write(f"dlload {BUILD / 'libcrewCas.so'}\nvar crewCasClientStack 65536\ncrewCasPool 4\niocInit\n")
        script.flush()
        with Ioc("plain-ioc", script.name) as ioc:
            told = ioc.wait_for_line("the CA server bypasses Crew: epicsThreadCreateOpt is taken from libCom")
            table.equal("the self-test fails and says what to change", told, True)
            served, _ = probe(ioc.port)
            table.equal("clients are served as by a stock IOC", served, True)
            table.equal("exit status", ioc.exit(), 0)


def late_step(table):
    table.heading("An IOC that was linked with Crew behind libCom, so that base does not call it")
    settings = {"SETS": 4, "PERHOST": 0, "PRESTART": 1}
    with Ioc("late-ioc", settings=settings) as ioc:
        told = ioc.wait_for_line("the CA server bypasses Crew: epicsThreadCreateOpt is taken from libCom")
        table.equal("the self-test fails and says what to change", told, True)
        table.equal("crewSeal makes the sets all the same", cas_pool(ioc)["idle"], 4)
        served = run_sequence(ioc, 20, 0, 20)
        table.equal("clients are served as by a stock IOC", served, 20)
        table.equal("exit status", ioc.exit(), 0)


def twice_step(table):
    table.heading("An IOC that is linked with Crew, with libcrewCas.so preloaded as well")
    settings = {"SETS": 4, "PERHOST": 0, "LD_PRELOAD": BUILD / "libcrewCas.so"}
    with Ioc(settings=settings) as ioc:
        told = ioc.wait_for_line("take libcrewCas.so out of LD_PRELOAD")
        table.equal("it says what to change", told, True)
        served = run_sequence(ioc, 20, 0, 20)
        pool = cas_pool(ioc)
        table.equal("connections served", served, 20)
        table.equal("clients on sets, and on threads of their own", (pool["on sets"], pool["on threads"]), (20, 0))
        table.equal("exit status", ioc.exit(), 0)


def interfaces_step(table):
    count = 18
    table.heading(f"A CA server that listens on {count} interfaces; the drop-in serves 16")
    hosts = [f"127.0.0.{i}" for i in range(1, count + 1)]
    settings = {"SETS": count, "PERHOST": 0, "SEAL": "#", "EPICS_CAS_INTF_ADDR_LIST": " ".join(hosts)}
    with Ioc(settings=settings) as ioc:
        circuits = [Circuit(ioc.port, PV, server=host) for host in hosts]
        pool = cas_pool(ioc)
        table.equal("clients on sets, and on threads of their own", (pool["on sets"], pool["on threads"]), (16, 2))
        told = ioc.wait_for_line("the CA server listens on more than 16 interfaces")
        table.equal("the log says so", told, True)
        shown = "\n".join(ioc.command("crewShow 1") + ioc.output())
        table.equal("the self-test stands", "self-test: passed" in shown and "bypasses" not in shown, True)
        for circuit in circuits:
            circuit.close()
        ioc.wait_for_clients(0)
        table.equal("exit status", ioc.exit(), 0)


def valgrind_step():
    """Does a short run under memcheck. Returns the exit status."""
    wrapper = ("valgrind", "--quiet", "--error-exitcode=9", "--fair-sched=yes")
    print("A short run under valgrind (memcheck)", flush=True)
    with Ioc(settings={"SETS": 6, "PERHOST": 2, "WAITMS": 20, "PRESTART": 1, "SEAL": "#"}, wrapper=wrapper) as ioc:
        for _ in range(20):
            Circuit(ioc.port, PV).close()
        ioc.wait_for_clients(0)
        held = [Circuit(ioc.port, PV) for _ in range(2)]
        served, _ = probe(ioc.port)
        ioc.command("crewShow 2")
        for client in held:
            client.close()
        ioc.wait_for_clients(0)
        ioc.command("crewTrim stream 0")
        status = ioc.exit()
        errors = [line for line in ioc.output() if line.startswith("==")]
    print("\n".join(errors))
    print(f"  memcheck's exit status {status} (9: errors), refusal {'seen' if not served else 'MISSING'}")
    return 0 if status == 0 and not served else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="300 connections and 60 refusals instead of 2,000 and 500")
    parser.add_argument(
        "--static", action="store_true", help="the IOCs are static: leave out what takes libcrewCas.so"
    )
    parser.add_argument("--valgrind", action="store_true", help="only a short run, under valgrind's memcheck")
    arguments = parser.parse_args()
    if arguments.valgrind:
        return valgrind_step()

    start = time.monotonic()
    table = Table()
    print(__doc__.strip(), flush=True)
    table.heading(f"An IOC with crewCasPool {SETS} 0 {WAIT_MS}: {SETS} thread sets for CA clients, {WAIT_MS} ms wait")
    with Ioc(settings={"SETS": SETS, "PERHOST": 0, "WAITMS": WAIT_MS, "SEAL": "#"}) as ioc:
        table.equal("the CA server's calls come through Crew (self-test)", ioc.wait_for_line("self-test: passed"), True)
        sequence_step(table, ioc, 300 if arguments.short else 2000)
        crowd_step(table, ioc)
        full_house_step(table, ioc)
        normal_ioc_step(table, ioc)
        shown = ioc.command("crewShow 1")
        table.equal("exit status", ioc.exit(), 0)
    refusals_step(table, 60 if arguments.short else 500)
    if arguments.static:
        print(
            "\nLeft out, because these IOCs are static: libcrewCas.so, preloaded, loaded too late, and linked as well",
            flush=True,
        )
    else:
        preload_step(table)
        bypass_step(table)
        late_step(table)
        twice_step(table)
        variable_step(table)
    interfaces_step(table)
    mistakes_step(table)
    told_step(table)
    return table.verdict("first", shown, start)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except IocError as error:
        sys.exit(f"demo: {error}")
