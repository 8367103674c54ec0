# SPDX-License-Identifier: MIT OR Apache-2.0
"""An IOC image for RTEMS on a Zynq, booted in QEMU: its console is QEMU's standard input and
output."""

import re
import time

from iocprocess import ANSWER_TIMEOUT_S, BUILD, PROMPT, Console, IocError, free_port, private_environment

MEMORY = "256M"
# Network, DHCP and the shell: 7 s on a quiet machine.
BOOT_TIMEOUT_S = 300.0
READY = "***** Starting EPICS application *****"
HALTED = "[ RTEMS shutdown ]"
LINES_SHOWN = 20


class Image(Console):
    """A running image. `settings` go to its startup script as macros. CA is forwarded from a port
    on the loopback interface here to the same port there, so to the IOC every client comes from
    QEMU's gateway. Without a script it is no IOC but a program that ends by itself."""

    def __init__(self, program="demo-ioc", script="st.cmd", settings=None):
        self.port = free_port()
        self.environment = private_environment(self.port, free_port())
        # Searches go over TCP, which QEMU forwards with the address that answers come from.
        self.environment.update(EPICS_CA_NAME_SERVERS=f"127.0.0.1:{self.port}", EPICS_CA_ADDR_LIST="")
        forward = f"tcp:127.0.0.1:{self.port}-:{self.port}"
        super().__init__(
            [
                *("qemu-system-arm", "-M", "xilinx-zynq-a9", "-m", MEMORY, "-no-reboot", "-nographic"),
                *("-monitor", "none", "-serial", "null", "-serial", "stdio", "-nic", f"user,hostfwd={forward}"),
                *("-kernel", str(BUILD / program)),
            ]
        )
        if not self.wait_for_line(READY, BOOT_TIMEOUT_S):
            raise IocError(f"{program} has not booted:\n" + "\n".join(self.output()[-LINES_SHOWN:]))
        if script is not None:
            self._start(script, settings or {})

    def _start(self, script, settings):
        self.send("demoConsole")
        self.send(f'epicsEnvSet IOCSH_PS1 "{PROMPT}"')
        self.send(f"epicsEnvSet EPICS_CAS_SERVER_PORT {self.port}")
        macros = ",".join(f"{name}={value}" for name, value in settings.items())
        started = self.command(f'iocshLoad {script} "{macros}"', ANSWER_TIMEOUT_S)
        if any("ERROR" in line or "Error" in line for line in started):
            raise IocError(f"{script} stopped at an error:\n" + "\n".join(started))

    def memory(self):
        """Bytes of the heap that are free, and of its largest free block."""
        answer = "\n".join(self.command("demoHeap"))
        found = re.search(r"in use, (\d+) free, the largest free block (\d+)", answer)
        if not found:
            raise IocError("demoHeap printed no figures:\n" + answer)
        return int(found.group(1)), int(found.group(2))

    def settled_memory(self, timeout_s=60.0):
        """Those figures, once what is free has not changed for two seconds: the network gives back
        in its own time. (The largest block may go on moving by a few bytes: the shell keeps the
        lines that it was given.)"""
        end = time.monotonic() + timeout_s
        seen = [self.memory()]
        while len(seen) < 5 or len({free for free, _ in seen[-5:]}) > 1:
            if time.monotonic() > end:
                raise IocError(f"the heap does not settle: {seen}")
            time.sleep(0.5)
            seen.append(self.memory())
        return seen[-1]

    def threads(self):
        """The IOC's threads: name by identity."""
        found = {}
        for line in self.command("epicsThreadShowAll"):
            columns = re.match(r"\s*(\S.*?)\s+(0x[0-9a-f]+)\s", line)
            if columns:
                found[columns.group(2)] = columns.group(1)
        return found

    def exit(self):
        """Has it exit. Returns 0 when the system has shut down in good order."""
        status = super().exit()
        return status if self.wait_for_line(HALTED, 5.0) else -1
