# SPDX-License-Identifier: MIT OR Apache-2.0
"""An IOC as a child process, on ports of its own; tests type at its shell."""

import os
import re
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# Where the IOCs, the client and the preloadable drop-in are; the environment can name another
# build.
BUILD = Path(os.environ.get("CREW_IOC_PROGRAMS") or TOP / "build" / "ioc")
IOC_DIR = TOP / "examples" / "ioc"
PROMPT = "ioc> "
DECORATION = re.compile(rf"\x1b\[[0-9;]*m|^(?:{PROMPT})+")
START_TIMEOUT_S = 300.0
ANSWER_TIMEOUT_S = 300.0
EXIT_TIMEOUT_S = 300.0


class IocError(Exception):
    """The IOC did not do what it was asked."""


def free_port():
    """A port that is free for TCP and UDP on the loopback interface at the moment."""
    for _ in range(50):
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            port = tcp.getsockname()[1]
            try:
                udp.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise IocError("no free port on 127.0.0.1")


def private_environment(port, repeater_port):
    """This process's environment, with CA confined to the loopback interface and these ports."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("EPICS_CA", "CREW_", "LD_PRELOAD"))}
    environment.update(
        EPICS_CA_SERVER_PORT=str(port),
        EPICS_CAS_SERVER_PORT=str(port),
        EPICS_CAS_INTF_ADDR_LIST="127.0.0.1",
        EPICS_CAS_AUTO_BEACON_ADDR_LIST="NO",
        EPICS_CAS_BEACON_ADDR_LIST="127.0.0.1",
        EPICS_CA_ADDR_LIST="127.0.0.1",
        EPICS_CA_AUTO_ADDR_LIST="NO",
        EPICS_CA_REPEATER_PORT=str(repeater_port),
        EPICS_CAS_BEACON_PORT=str(repeater_port),
        IOCSH_PS1=PROMPT,
        EPICS_IOCSH_HISTFILE="",
    )
    return environment


class Console:
    """An IOC behind its shell. A subclass starts the process and reads its figures."""

    def __init__(self, command, **process):
        self.lines = []
        self._arrived = threading.Condition()
        self._ended = False
        self._marks = 0
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            bufsize=1,
            **process,
        )
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self):
        for line in self._process.stdout:
            with self._arrived:
                self.lines.append(DECORATION.sub("", line.rstrip("\r\n")))
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()

    def output(self):
        """Everything that it has printed so far."""
        with self._arrived:
            return list(self.lines)

    def send(self, text):
        """Types a line."""
        try:
            self._process.stdin.write(f"{text}\n")
            self._process.stdin.flush()
        except OSError as error:
            raise IocError("the IOC has ended:\n" + "\n".join(self.output()[-20:])) from error

    def command(self, text, timeout_s=ANSWER_TIMEOUT_S):
        """Has the shell run one command and returns the lines that it printed meanwhile."""
        self._marks += 1
        # Another thread of the IOC may have left its line unfinished.
        mark = re.compile(rf"(?<!echo )mark-{self._marks}$")
        with self._arrived:
            start = len(self.lines)
        self.send(f"{text}\necho mark-{self._marks}")

        def end():
            return next((i for i, line in enumerate(self.lines[start:], start) if mark.search(line)), None)

        with self._arrived:
            self._arrived.wait_for(lambda: self._ended or end() is not None, timeout_s)
            if end() is None:
                raise IocError(f'no answer to "{text}" in {timeout_s:.0f} s:\n' + "\n".join(self.lines[-20:]))
            return [line for line in self.lines[start : end()] if not line.startswith("echo mark-")]

    def wait_for_line(self, text, timeout_s=5.0):
        """Whether the IOC has printed a line that contains `text`, or does so within the time."""
        with self._arrived:

            def printed():
                return any(text in line for line in self.lines)

            self._arrived.wait_for(lambda: self._ended or printed(), timeout_s)
            return printed()

    def wait_for_match(self, pattern, timeout_s):
        """The first printed line that matches, as soon as there is one within the time; else None.
        """

        def look():
            return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

        with self._arrived:
            self._arrived.wait_for(lambda: self._ended or look(), timeout_s)
            return look()

    def number(self, text, pattern):
        """The number that `pattern` captures in the answer to a command."""
        answer = self.command(text)
        for line in answer:
            found = re.search(pattern, line)
            if found:
                return int(found.group(1))
        raise IocError(f'"{text}" printed no "{pattern}":\n' + "\n".join(answer))

    def heap(self):
        """Bytes that the IOC holds from malloc."""
        return self.number("demoHeap", r"demoHeap: (\d+)")

    def mutexes(self):
        """EPICS mutexes that exist in the IOC."""
        return self.number("epicsMutexShowAll 1 0", r"mutexList\) (\d+)")

    def clients(self):
        """CA clients, as casr counts them."""
        answer = "\n".join(self.command("casr 0"))
        found = re.search(r"(\d+) clients? connected", answer)
        return int(found.group(1)) if found else 0

    def wait_for_clients(self, count, timeout_s=10.0):
        """Waits until casr shows this many clients."""
        end = time.monotonic() + timeout_s
        while self.clients() != count:
            if time.monotonic() > end:
                raise IocError(f"casr shows {self.clients()} clients, not {count}, after {timeout_s:.0f} s")
            time.sleep(0.02)

    def exit(self):
        """Has it exit. Returns the exit status."""
        self._process.stdin.write("exit\n")
        self._process.stdin.close()
        return self._process.wait(EXIT_TIMEOUT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(EXIT_TIMEOUT_S)


class Ioc(Console):
    """A running IOC. `settings` go to its startup script through the environment. Unless told not
    to, waits until the script has run."""

    def __init__(
        self, program="demo-ioc", script="st.cmd", settings=None, wrapper=(), waits=True, directory=IOC_DIR
    ):
        self.port = free_port()
        self.environment = private_environment(self.port, free_port())
        self.environment.update({k: str(v) for k, v in (settings or {}).items()})
        super().__init__([*wrapper, str(BUILD / program), script], cwd=directory, env=self.environment)
        if waits:
            self.command("", START_TIMEOUT_S)

    @property
    def pid(self):
        return self._process.pid

    def wait(self):
        """Waits for its end. Returns the exit status."""
        return self._process.wait(EXIT_TIMEOUT_S)

    def threads(self):
        """The IOC's threads: name by system id."""
        found = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                found[int(task.name)] = (task / "comm").read_text().strip()
            except OSError:
                continue  # it has ended meanwhile
        return found

    def files(self):
        """How many files and sockets the IOC has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def sockets(self):
        """The IOC's TCP connections, as its system shows them."""
        lines = Path(f"/proc/{self.pid}/net/tcp").read_text().splitlines()[1:]
        return [line for line in lines if int(line.split()[1].split(":")[1], 16) == self.port]

    def unsent(self):
        """Bytes that the IOC's system has not been able to send, by the client's port."""
        found = {}
        for line in self.sockets():
            remote, queues = line.split()[2], line.split()[4]
            found[int(remote.split(":")[1], 16)] = int(queues.split(":")[0], 16)
        return found

    def started_wrongly(self, text):
        """Whether it ended by itself, with status 1, having printed `text`."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._ended, START_TIMEOUT_S)
        return self._process.wait(EXIT_TIMEOUT_S) == 1 and self.wait_for_line(text, 0.0)


def mistake_is_told(commands, text, **ioc):
    """Whether a startup script of these commands prints `text` and ends there, and all that its IOC
    printed."""
    with tempfile.NamedTemporaryFile("w", suffix=".cmd") as script:
        script.write(f"on error break\n{commands}\necho not reached\n")
        script.flush()
        with Ioc(script=script.name, waits=False, **ioc) as started:
            told = started.started_wrongly(text) and not started.wait_for_line("not reached", 0.0)
            return told, started.output()
