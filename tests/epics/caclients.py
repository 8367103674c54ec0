# SPDX-License-Identifier: MIT OR Apache-2.0
"""CA clients: circuits of the Python library caproto, processes on base's libca, and bare TCP
probes."""

import signal
import socket
import struct
import subprocess
import time

import caproto

from iocprocess import BUILD, IocError

TIMEOUT_S = 100.0


class Circuit:
    """One TCP circuit with one channel: connected, read and monitored. caproto speaks the protocol.
    """

    def __init__(self, port, pv, source="127.0.0.1", server="127.0.0.1", timeout_s=TIMEOUT_S):
        self._protocol = caproto.VirtualCircuit(our_role=caproto.CLIENT, address=(server, port), priority=0)
        self._socket = socket.create_connection((server, port), timeout_s, (source, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            channel = self._channel(pv, first=True)
            self._send(channel.read())
            self.value = self._receive(caproto.ReadNotifyResponse).data[0]
            self._send(channel.subscribe())
            self._receive(caproto.EventAddResponse)
        except BaseException:
            self._socket.close()
            raise

    def _channel(self, pv, first=False):
        channel = caproto.ClientChannel(pv, self._protocol)
        if first:
            self._send(channel.version(), channel.host_name("demo"), channel.client_name("demo"))
        self._send(channel.create())
        self._receive(caproto.CreateChanResponse)
        return channel

    def monitor_unread(self, pv, count):
        """Subscribes so often, and then reads nothing."""
        channel = self._channel(pv)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._send(*(channel.subscribe() for _ in range(count)))

    def ask_with_filter(self, pv, name, monitor):
        """Creates a channel with a filter that only the IOC knows; subscribes to it, if `monitor`.
        Waits for no more."""
        channel = caproto.ClientChannel(pv, self._protocol)
        channel.name = f'{pv}.{{"{name}":{{}}}}'
        self._send(channel.create())
        if monitor:
            self._receive(caproto.CreateChanResponse)
            self._send(channel.subscribe())

    @property
    def port(self):
        """The client's own port."""
        return self._socket.getsockname()[1]

    def reset(self):
        """Ends it with a reset instead of an orderly close."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _send(self, *commands):
        self._socket.sendall(b"".join(bytes(part) for part in self._protocol.send(*commands)))

    def _receive(self, kind):
        while True:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError("the server closed the circuit")
            answer = None
            for command in self._protocol.recv(data)[0]:
                self._protocol.process_command(command)
                if isinstance(command, kind):
                    answer = command
            if answer is not None:
                return answer

    def close(self):
        self._socket.close()


def probe(port, source="127.0.0.1"):
    """Connects and waits for the server's first byte or its closing. (True if served,
    milliseconds)."""
    start = time.monotonic()
    try:
        with socket.create_connection(("127.0.0.1", port), TIMEOUT_S, (source, 0)) as connection:
            served = bool(connection.recv(1))
    except ConnectionResetError:  # on a busy machine even before connect has returned
        served = False
    return served, (time.monotonic() - start) * 1e3


class LibcaClient:
    """A caclient process. `arguments`: "cycle" or "hold", and how many connections."""

    def __init__(self, environment, pv, *arguments):
        self._process = subprocess.Popen(
            [str(BUILD / "caclient"), *map(str, arguments), pv],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for_line(self, start):
        """Reads lines until one begins with `start`."""
        for line in self._process.stdout:
            if line.startswith(start):
                return line
        raise IocError("caclient: " + self._process.stderr.read())

    def kill(self):
        """Ends it by SIGKILL, in the middle of its work."""
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=60)

    def finish(self):
        """Ends its input, so that it lets go of what it holds; waits for its end."""
        _, errors = self._process.communicate(timeout=60)
        if self._process.returncode != 0:
            raise IocError("caclient: " + errors)
