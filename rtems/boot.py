#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Boots an image in QEMU, types a command whenever it prompts, and judges what it prints.

usage: boot.py SECONDS [--type COMMAND]... -- QEMU-COMMAND...

Without --type nothing is typed, and the image runs its fixed script. Succeeds when within SECONDS the last line of sums
is "N passed, 0 failed", no line begins with FAILED, and RTEMS has shut down by itself.
"""
import re
import subprocess
import sys
import threading

PROMPT = b"crew> "


def main(arguments):
    seconds = float(arguments[0])
    split = arguments.index("--")
    typed = [word for word in arguments[1:split] if word != "--type"]
    machine = subprocess.Popen(arguments[split + 1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    late = threading.Timer(seconds, machine.kill)
    late.start()
    line = b""
    sums = ""
    failed = shut_down = False
    while byte := machine.stdout.read(1):
        line += byte
        if line.endswith(PROMPT) and typed:
            machine.stdin.write(typed.pop(0).encode() + b"\n")
            machine.stdin.flush()
        if byte == b"\n":
            text = line.decode(errors="replace").rstrip()
            print(text, flush=True)
            failed |= text.startswith("FAILED")
            shut_down |= text.startswith("[ RTEMS shutdown ]")
            if re.fullmatch(r"\d+ passed, \d+ failed", text):
                sums = text
            line = b""
    machine.wait()
    in_time = late.is_alive()
    late.cancel()
    if not in_time:
        print(f"boot: not done within {seconds:g} s", file=sys.stderr)
    if not shut_down:
        print("boot: RTEMS did not shut down", file=sys.stderr)
    if not sums:
        print("boot: there is no line of sums", file=sys.stderr)
    return 0 if in_time and shut_down and not failed and re.fullmatch(r"[1-9]\d* passed, 0 failed", sums) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
