"""Processes this benchmark starts, and what /proc says of them and of their children."""
import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .errors import BenchError

TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Stat:
    parent: int
    session: int
    state: str
    cpu: float  # seconds, user and system, with the children that ended and were waited for


def _stat(pid):
    """None when the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name in brackets may hold anything; what follows its last bracket starts with field 3.
    fields = text[text.rindex(")") + 2 :].split()
    return Stat(int(fields[1]), int(fields[3]), fields[0], sum(map(int, fields[11:15])) / TICK)


def _all():
    stats = {int(name): _stat(name) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: stat for pid, stat in stats.items() if stat}


def tree(root):
    """Process ids of root and all that descend from it."""
    children = {}
    for pid, stat in _all().items():
        children.setdefault(stat.parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(root):
    """CPU of the whole tree, ended children included, in seconds; the kernel counts in hundredths."""
    return sum(stat.cpu for stat in map(_stat, tree(root)) if stat)


def memory_mb(root, field):
    """`VmRSS` or `VmHWM` of the whole tree, in MB (10^6 octets)."""
    total = 0
    for pid in tree(root):
        with contextlib.suppress(OSError, StopIteration):
            status = Path(f"/proc/{pid}/status").read_text().splitlines()
            total += int(next(line for line in status if line.startswith(field + ":")).split()[1])
    return total * 1024 / 1e6


class Service:
    """A program in the background, in a session of its own, so that Ctrl-C reaches this driver alone."""

    running = []

    def __init__(self, name, command, log, env):
        self.name, self.log = name, Path(log)
        # Should the driver be killed, the kernel sends SIGTERM.
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *map(str, command)], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, env={**os.environ, **env}, start_new_session=True)
        self.pid = self.process.pid
        Service.running.append(self)

    def check(self):
        if self.process.poll() is not None:
            raise BenchError(f"{self.name} ended with status {self.process.returncode}: {self.tail()}")

    def tail(self):
        return self.log.read_text(errors="replace")[-600:].strip() or "no output"

    def await_(self, ready, seconds=20):
        deadline = time.monotonic() + seconds
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise BenchError(f"{self.name} was not ready within {seconds} s: {self.tail()}")
            time.sleep(0.02)

    def stop(self):
        """SIGTERM, then SIGKILL for whatever of its session is left after 10 seconds."""
        if self not in Service.running:
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        deadline = time.monotonic() + 10
        while left := [pid for pid, s in _all().items() if s.session == self.pid and s.state != "Z"]:
            if time.monotonic() > deadline:
                for pid in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        self.process.wait()
        Service.running.remove(self)


def run(command, what, env=None, timeout=600, **more):
    """Output of a command that must succeed; its last words are in the error."""
    try:
        # A session of its own, as above; subprocess.run kills it when this driver is interrupted.
        done = subprocess.run(
            list(map(str, command)), env={**os.environ, **(env or {})}, stdin=more.pop("stdin", subprocess.DEVNULL),
            capture_output="stdout" not in more, text=True, timeout=timeout, start_new_session=True, **more)
    except FileNotFoundError as error:
        raise BenchError(f"{what}: {error.filename} is not installed (script/setup --bench)") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"{what}: no end within {timeout} s") from None
    if done.returncode != 0:
        words = f"{done.stderr or ''}{done.stdout or ''}".strip()
        raise BenchError(f"{what} failed with status {done.returncode}: {words[-600:]}")
    return done.stdout
