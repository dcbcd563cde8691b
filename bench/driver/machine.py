"""On what machine it ran."""
import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path


def _first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return ((done.stdout or done.stderr).strip().splitlines() or ["unknown"])[0]


def _cpu_model():
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else platform.machine()


def _system():
    found = re.search(r'^PRETTY_NAME="?([^"\n]+)', Path("/etc/os-release").read_text(), re.MULTILINE)
    return found.group(1) if found else "unknown"


def describe(root, data_directory, postgres_version):
    git = ["git", "-C", str(root)]
    dirty = bool(subprocess.run([*git, "status", "--porcelain", "--", "Sources", "Package.swift", "migrations"],
                                capture_output=True, text=True).stdout.strip())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": _first_line(*git, "rev-parse", "HEAD") + (" with changes" if dirty else ""),
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _cpu_model(),
        "memory_gb": round(memory / 1e9, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "system": _system(),
        "kernel": platform.release(),
        "filesystem": _first_line("stat", "-f", "-c", "%T", str(data_directory)),
        "postgres": postgres_version,
        "openssl": _first_line("openssl", "version"),
        "swift": _first_line("swift", "--version"),
        "go": _first_line("go", "version"),
        "node": _first_line("node", "--version"),
        "python": platform.python_version(),
    }
