"""Runs a program under the system call filter of a systemd unit: under_unit.py UNIT-FILE PROGRAM ARGUMENTS...

What the filter means is systemd's own word (systemd-analyze syscall-filter, systemd.exec(5)); the kernel enforces it. A system call
that the unit does not allow ends the program with SIGSYS, or fails with the unit's SystemCallErrorNumber.
"""
import ctypes
import errno
import os
import platform
import re
import struct
import subprocess
import sys

MACHINES = {"x86_64": (0xC000003E, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
            "aarch64": (0xC00000B7, "/usr/include/asm-generic/unistd.h")}
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def settings(unit, name):
    with open(unit, encoding="utf-8") as lines:
        return [line.split("=", 1)[1].strip() for line in lines if line.startswith(name + "=")]


def expanded(name):
    """The calls that a name of a filter stands for."""
    if not name.startswith("@"):
        return {name}
    listed = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
    names = [line.strip() for line in listed.splitlines()[1:]]
    return set().union(*(expanded(n) for n in names if n and not n.startswith("#")))


def allowed(unit):
    calls = set()
    for value in settings(unit, "SystemCallFilter"):
        listed = set().union(*(expanded(name) for name in value.lstrip("~").split()))
        calls = calls - listed if value.startswith("~") else calls | listed
    return calls


def numbers(header):
    with open(header, encoding="utf-8") as text:
        return {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text.read())}


def program(unit):
    """As BPF: each instruction is code, jump if true, jump if false, operand."""
    machine, header = MACHINES[platform.machine()]
    failures = settings(unit, "SystemCallErrorNumber")
    otherwise = FAIL | getattr(errno, failures[-1]) if failures else KILL
    known = numbers(header)
    steps = [(0x20, 0, 0, 4), (0x15, 1, 0, machine), (0x06, 0, 0, KILL), (0x20, 0, 0, 0)]
    for call in sorted(allowed(unit) & known.keys()):
        steps += [(0x15, 0, 1, known[call]), (0x06, 0, 0, ALLOW)]
    return steps + [(0x06, 0, 0, otherwise)]


def confine(steps):
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filters = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    for arguments in [(no_new_privileges, 1, 0, 0, 0), (seccomp, by_filter, ctypes.create_string_buffer(filters), 0, 0)]:
        if libc.prctl(*arguments) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


if not settings(sys.argv[1], "SystemCallFilter"):
    sys.exit("the unit has no SystemCallFilter")
confine(program(sys.argv[1]))
os.execvp(sys.argv[2], sys.argv[2:])
