#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads what the benchmarks printed (one JSON object a line), prints a table for each question, and writes all
figures to RESULTS. Of a whole run, what was aimed at and seen goes into docs/performance.md.

    report.py [--record] RESULTS FILE...

Medians, with the 10th and 90th percentile of the rounds' own medians behind them. Ratios are taken within a round, and
the median of those is shown: what else the machine does meanwhile hits both sides of a ratio.
"""

import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

TOP = Path(__file__).resolve().parents[1]
DOCUMENT = TOP / "docs" / "performance.md"
SEEN = re.compile(r"(<!-- seen: written by bench/report.py -->\n).*(<!-- end -->)", re.DOTALL)
QUESTIONS = {
    "lease": "1. Borrowing an idle set and giving it back, ns",
    "round trip": "2. A job on another thread, given and waited for, ns",
    "connection": "3. A connection that needs three threads: from its first to its last, a byte handed around, ns",
    "ca server": "4. CA server: the same IOC with the drop-in and without, microseconds",
    "refusal": "5. Being refused, ns",
    "fleet": "6. Leases between processes, ns",
}
LEASE_CASE = re.compile(r"roster (\d+), capacity (\d+), threads (\d+)")
CAPACITIES = "capacities, side by side"


def quantile(values, q):
    """The value below which the share `q` of the values lies, interpolated."""
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


class Row:
    """One contestant of one case."""

    def __init__(self, line):
        self.question, self.case, self.who, self.unit = (line[key] for key in ("question", "case", "who", "unit"))
        self.rounds = line["rounds"]
        self.extra = line.get("extra", {})
        self.each = bool(self.rounds) and isinstance(self.rounds[0], list)

    def per_round(self, q=0.5):
        """One figure for each round."""
        return [quantile(turn, q) for turn in self.rounds] if self.each else self.rounds

    def figure(self, q=0.5):
        """One figure for all rounds. A far percentile needs all values at once."""
        if self.each:
            return quantile([value for turn in self.rounds for value in turn], q)
        return median(self.rounds)

    def spread(self):
        return quantile(self.per_round(), 0.1), quantile(self.per_round(), 0.9)

    def times(self, other):
        """How many times as long as `other`."""
        return median(own / its for own, its in zip(self.per_round(), other.per_round()))

    def for_json(self, reference):
        out = {"who": self.who, **self.extra}
        if self.rounds:
            low, high = self.spread()
            out.update(unit=self.unit, rounds=len(self.rounds), median=round(self.figure(), 1),
                       p10=round(low, 1), p90=round(high, 1), times=round(self.times(reference), 3))
        if self.each:
            out.update(p99=round(self.figure(0.99), 1), p999=round(self.figure(0.999), 1))
        return out


def shown(number):
    """A few significant digits, no exponent."""
    return f"{number:,.1f}" if abs(number) < 100 else f"{number:,.0f}"


def print_table(title, head, rows):
    print(f"\n  {title}")
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [str(row[0]).ljust(widths[0]), *(str(cell).rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        print("    " + "  ".join(cells).rstrip())


def print_case(case, rows):
    """Rows of one case, the first one is what the others are compared with."""
    reference = rows[0]
    head = ["", *rows[0].extra]
    if reference.rounds:
        head = ["", "median", "10 % .. 90 %", *(["p99", "p99.9"] if reference.each else []), "ratio", *rows[0].extra]
    lines = []
    for row in rows:
        line = [row.who]
        if row.rounds:
            low, high = row.spread()
            line += [shown(row.figure()), f"{shown(low)} .. {shown(high)}"]
            line += [shown(row.figure(0.99)), shown(row.figure(0.999))] if row.each else []
            line.append(f"{row.times(reference):.2f}")
        lines.append(line + [f"{value:.3g}" if isinstance(value, float) else value for value in row.extra.values()])
    print_table(case, head, lines)


def print_leases(rows):
    """One table for each number of threads: a column for each roster and capacity."""
    by_threads = {}
    for row in rows:
        roster, capacity, threads = LEASE_CASE.fullmatch(row.case).groups()
        by_threads.setdefault(threads, {}).setdefault(row.who, {})[f"{roster}/{capacity}"] = row
    for threads, by_who in by_threads.items():
        columns = list(next(iter(by_who.values())))
        reference = next(iter(by_who.values()))
        lines = []
        for who, cells in by_who.items():
            spread = median(row.spread()[1] / row.spread()[0] for row in cells.values())
            times = median(row.times(reference[column]) for column, row in cells.items())
            lines.append([who, *(shown(cells[column].figure()) for column in columns), f"{spread:.2f}", f"{times:.2f}"])
        title = f"{threads} thread{'s' if threads != '1' else ''}; columns: roles in the set / sets in the pool"
        print_table(title, ["", *columns, "90 % / 10 %", "ratio"], lines)


class Reach:
    """What was aimed at beside what was seen."""

    def __init__(self, rows):
        self.rows = {(row.question, row.case, row.who): row for row in rows}
        self.lines = []

    def row(self, question, case, who):
        return self.rows.get((question, case, who))

    def add(self, what, wanted, seen, met):
        self.lines.append({"what": what, "wanted": wanted, "seen": seen, "met": met})

    def times_as_fast(self, what, least, question, case, who, peer):
        own, other = self.row(question, case, who), self.row(question, case, peer)
        if own and other:
            times = other.times(own)
            self.add(what, f"at least {least:g} times as fast", f"{times:.2f} times", times >= least)

    def at_most_times(self, what, most, question, case, who, base, q=0.5):
        own, other = self.row(question, case, who), self.row(question, case, base)
        if own and other:
            times = own.figure(q) / other.figure(q) if q != 0.5 else own.times(other)
            self.add(what, f"at most {most:g} times", f"{times:.2f} times", times <= most)

    def leases(self):
        small = "Crew, from C, capacity 8"
        for large in ("capacity 1000", "capacity 1000, all but the last set lent"):
            self.at_most_times(f"lease, {large} against 8", 1.1, "lease", CAPACITIES, f"Crew, from C, {large}", small)
        for who in ("Crew, from C", "Crew, from Rust"):
            for threads in (1, 2, 4):
                case = f"roster 3, capacity 64, threads {threads}"
                what = f"lease, {who}, {threads} thread{'s' if threads > 1 else ''}, against its locked instructions bare"
                self.at_most_times(what, 1.5, "lease", case, who, "floor: five locked instructions")
            case, peer = "roster 3, capacity 64, threads 1", "mutex + deque, with waiting and ages"
            self.times_as_fast(f"lease, {who}, against {peer}", 2.5, "lease", case, who, peer)

    def round_trips(self):
        question, who = "round trip", "Crew, from C, POSIX port"
        case = "POSIX port, one CPU"
        self.at_most_times("round trip, against two semaphores", 1.15, question, case, who, "floor: two semaphores")
        self.at_most_times("round trip, against two semaphores with bounded waits", 1.15, question, case, who,
                           "floor: two semaphores, bounded waits")
        self.times_as_fast("round trip, against mpsc and reply", 1.3, question, case, who,
                           "std mpsc, boxed job, one-shot reply")
        self.times_as_fast("round trip, against a std::thread", 6, question, case, who, "a std::thread for each job")
        self.times_as_fast("round trip, against a pthread", 6, question, case, who, "a pthread for each job")
        who, case = "Crew, from C, EPICS port", "EPICS port, one CPU"
        self.at_most_times("round trip in an IOC, against two epicsEvents", 1.15, question, case, who,
                           "floor: two epicsEvents")
        self.times_as_fast("round trip in an IOC, against an epicsThread", 6, question, case, who,
                           "an epicsThread for each job")

    def connections(self):
        for port in ("POSIX", "EPICS"):
            case, who = f"{port} port, one CPU", f"Crew, from C, {port} port"
            floor = "floor: three threads and semaphores"
            self.at_most_times(f"connection, {port} port, against {floor[7:]}", 1.15, "connection", case, who, floor)
            if port == "POSIX":
                self.times_as_fast("connection, POSIX port, against three std::threads made", 5, "connection", case,
                                   who, "three std::threads made")
            own = self.row("connection", case, who)
            if own:
                left = own.extra["heap B left"]
                self.add(f"connection, {port} port, heap left behind", "0 B a cycle", f"{left:g} B", left == 0)

    def ca_server(self):
        for case in sorted({case for question, case, _ in self.rows if question == "ca server"}):
            own, other = self.row("ca server", case, "with Crew"), self.row("ca server", case, "without Crew")
            if "memory" in case:
                growth = own.extra["at the end"] - own.extra["warm"]
                self.add(f"CA, {case}", "flat once warm", f"{growth:+.1f} MiB resident", growth < 1)
            elif "first byte" in case:
                self.at_most_times(f"CA, {case}, median", 1, "ca server", case, own.who, other.who)
                self.at_most_times(f"CA, {case}, p99", 1, "ca server", case, own.who, other.who, 0.99)

    def fleet(self):
        for (question, case, who), row in self.rows.items():
            if question != "fleet" or who != "Crew":
                continue
            floor = next((its for q, c, its in self.rows if (q, c) == (question, case) and its.startswith("floor: ")), None)
            if floor:
                most = 1.15 if "hand-over" in floor else 1.5
                self.at_most_times(f"fleet, {case}, against {floor[7:]}", most, question, case, who, floor)
            elif case.startswith("a wake-up, two processes"):
                self.at_most_times(f"fleet, {case}, against a bare futex", 1.3, question, case, who, "bare futex")

    def print(self):
        self.leases()
        self.round_trips()
        self.connections()
        self.ca_server()
        self.fleet()
        if self.lines:
            rows = [[line["what"], line["wanted"], line["seen"], "yes" if line["met"] else "NO"] for line in self.lines]
            print("\nWhat was aimed at")
            print_table("", ["", "wanted", "seen", "met"], rows)


def write_seen(out):
    """What was aimed at and seen goes into the document, between its marks."""
    machine, rustc = out["machine"], out["versions"]["rustc"].split("(")[0].strip()
    kind = "virtual machine" if machine["virtual"] else "machine"
    lines = [
        f"A {kind} with {machine['cpus']} CPUs ({machine['cpu']}), Linux {machine['kernel']}, {rustc}, "
        f"{out['versions']['cc']}, commit {out['commit'][:12]}{' and changes since' if out['changed since'] else ''}.",
        "",
        "| what | aimed at | seen | met |",
        "|---|---|---|---|",
        *(f"| {line['what']} | {line['wanted']} | {line['seen']} | {'yes' if line['met'] else '**no**'} |"
          for line in out["reach"]),
    ]
    text = DOCUMENT.read_text()
    DOCUMENT.write_text(SEEN.sub(lambda marks: marks.group(1) + "\n".join(lines) + "\n" + marks.group(2), text))


def answer(*command):
    try:
        return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=30).stdout.strip()
    except OSError:
        return ""


def measured(name):
    """What ci/instructions.sh or ci/size-host.sh has measured: lines "<name> <number>" after one about the compiler."""
    file = TOP / "build" / "bench" / f"{name}.txt"
    lines = [line.split() for line in file.read_text().splitlines()[1:]] if file.exists() else []
    return {line[0]: int(line[1]) for line in lines}


def machine():
    cpus = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", cpus)
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in cpus,
        "kernel": platform.release().split("-")[0],
        "load before": os.environ.get("BENCH_LOAD", "?"),
        "real-time permission": os.geteuid() == 0,
    }


def versions():
    lock = (TOP / "bench" / "Cargo.lock").read_text()
    peers = dict(re.findall(r'name = "(crossbeam-queue|deadpool|rayon|threadpool)"\nversion = "([^"]+)"', lock))
    requirements = (TOP / "tests" / "epics" / "requirements.txt").read_text()
    return {
        "rustc": answer("rustc", "--version"),
        "cc": answer(os.environ.get("CC", "cc"), "--version").split("\n")[0],
        "libc": " ".join(platform.libc_ver()),
        "epicscorelibs": re.search(r"epicscorelibs==(\S+)", requirements).group(1),
        **peers,
    }


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--record"]
    results, files = Path(arguments[0]), arguments[1:]
    rows = [Row(json.loads(line)) for file in files for line in Path(file).read_text().splitlines() if line]
    tables = []
    for question, title in QUESTIONS.items():
        cases = {}
        for row in rows:
            if row.question == question:
                cases.setdefault(row.case, []).append(row)
        if cases:
            print(f"\n{title}")
        if question == "lease" and cases:
            print_leases([row for case, of_case in cases.items() if case != CAPACITIES for row in of_case])
        for case, of_case in cases.items():
            if question != "lease" or case == CAPACITIES:
                print_case(case, of_case)
            tables.append({"question": question, "case": case, "rows": [row.for_json(of_case[0]) for row in of_case]})
    reach = Reach(rows)
    reach.print()
    print("\nratio: how many times as long as the first row, the median of the rounds' own ratios.")
    out = {
        "commit": answer("git", "rev-parse", "HEAD"),
        "changed since": bool(answer("git", "status", "--porcelain", "--untracked-files=no")),
        "scale": float(os.environ.get("BENCH_SCALE", "1")),
        "machine": machine(),
        "versions": versions(),
        "tables": tables,
        "instructions": measured("instructions"),
        "bytes": measured("size"),
        "reach": reach.lines,
    }
    results.write_text(json.dumps(out, indent=1) + "\n")
    if "--record" in sys.argv:
        write_seen(out)
    print(f"All figures are in {results}.")


if __name__ == "__main__":
    main()
