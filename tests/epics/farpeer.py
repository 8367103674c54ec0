# SPDX-License-Identifier: MIT OR Apache-2.0
"""Clients that vanish without a FIN: on a host of their own (a network namespace), whose address is
taken away; where that is not permitted, behind a proxy on this host that falls silent.

This file is also the program that runs in that namespace.
"""

import os
import select
import socket
import subprocess
import sys
import threading
from pathlib import Path

from caclients import Circuit
from iocprocess import IocError

INSIDE = "--inside-own-network"
NEAR = "10.99.0.1"
FAR = "10.99.0.2"
# How soon the IOC's system notices that a peer is gone. The defaults are two hours, and a quarter
# of an hour.
SETTINGS = {"tcp_keepalive_time": 3, "tcp_keepalive_intvl": 1, "tcp_keepalive_probes": 3, "tcp_retries2": 3}


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def enter_own_network():
    """Runs this program again in a network namespace of its own. Returns there, or here when it is
    not permitted: whether it is in one."""
    if INSIDE in sys.argv:
        sys.argv.remove(INSIDE)
        ip("link", "set", "lo", "up")
        for name, value in SETTINGS.items():
            Path("/proc/sys/net/ipv4", name).write_text(str(value))
        return True
    for kind in (["--net"], ["--user", "--map-root-user", "--net"]):
        own = ["unshare", *kind]
        script = "ip link set lo up && ip link add near type veth peer name far && unshare --net true"
        if subprocess.run([*own, "sh", "-c", script], capture_output=True).returncode == 0:
            os.execvp("unshare", [*own, sys.executable, *sys.argv, INSIDE])
    return False


class FarHost:
    """A host of its own with CA clients on it."""

    how = "a host in a network namespace, whose address is taken away"

    def __init__(self):
        self._process = subprocess.Popen(
            ["unshare", "--net", sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._answer()
        ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(self._process.pid))
        ip("address", "add", f"{NEAR}/24", "dev", "near")
        ip("link", "set", "near", "up")
        self._ask("begin")

    def _answer(self):
        answer = self._process.stdout.readline().strip()
        if answer != "done":
            raise IocError(f"the far host says: {answer or 'nothing'}")

    def _ask(self, *words):
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        self._answer()

    def connect(self, port, pvs):
        self._ask("connect", port, *pvs)

    def vanish(self):
        self._ask("vanish")

    def come_back(self):
        """Its clients have gone meanwhile."""
        self._ask("return")

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)


class SilentProxy:
    """Passes bytes on until it is told to fall silent. The IOC cannot notice: this host still
    answers for it."""

    how = "a proxy that falls silent (no network namespace is permitted here)"

    def __init__(self):
        self._listener = None
        self._clients = []
        self._silent = threading.Event()

    def connect(self, port, pvs):
        self._silent.clear()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            for pv in pvs:
                accepting = threading.Thread(target=self._pass_on, args=(listener, port))
                accepting.start()
                self._clients.append(Circuit(listener.getsockname()[1], pv))
                accepting.join()

    def _pass_on(self, listener, port):
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", port), 10, ("127.0.3.1", 0))
        self._clients.extend((near, far))
        threading.Thread(target=self._run, args=(near, far), daemon=True).start()

    def _run(self, near, far):
        other = {near: far, far: near}
        while not self._silent.is_set():
            try:
                for ready in select.select([near, far], [], [], 0.05)[0]:
                    other[ready].sendall(ready.recv(65536))
            except (OSError, ValueError):
                return  # it has been closed

    def vanish(self):
        self._silent.set()

    def come_back(self):
        for client in self._clients:
            client.close()
        self._clients.clear()

    def close(self):
        self.come_back()


def main():
    """The far host's side."""
    clients = []
    print("done", flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word in ("begin", "return"):
            ip("address", "add", f"{FAR}/24", "dev", "far")
            ip("link", "set", "far", "up")
        elif word == "connect":
            clients.extend(Circuit(int(rest[0]), pv, FAR, NEAR) for pv in rest[1:])
        elif word == "vanish":
            ip("address", "flush", "dev", "far")
            for client in clients:
                client.close()  # what this sends goes nowhere
            clients.clear()
        print("done", flush=True)


if __name__ == "__main__":
    main()
