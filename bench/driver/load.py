"""Load: wrk for closed loops, tools/openloop for a fixed rate, tools/proofs for DPoP proofs."""
import json
import math
from dataclasses import asdict, dataclass

from . import processes
from .errors import BenchError, Void


@dataclass
class Figures:
    """One run. Times are microseconds, memory is MB; CPU is user and system."""

    mints: int
    mints_per_s: float
    p50_us: float
    p99_us: float
    max_us: float
    server_cpu_us: float  # a mint
    postgres_cpu_us: float  # a mint
    server_peak_mb: float

    def json(self):
        return {name: round(value, 2) for name, value in asdict(self).items()}


class Load:
    def __init__(self, bench, binaries, scratch, postgres):
        self.bench, self.binaries, self.scratch, self.postgres = bench, binaries, scratch, postgres

    def wrk(self, server, request, connections, seconds, proofs=None):
        """A closed loop: each connection sends again as soon as it is answered. Raises Void unless every answer was 200."""
        command = ["wrk", "-s", self.bench / "mint.lua", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "10s", server.url]
        env = {**request, **({"PROOFS": str(proofs)} if proofs else {})}
        text, server_cpu, postgres_cpu = self._watched(server, command, "wrk", env, seconds)
        lines = [line for line in text.splitlines() if line.startswith("RESULT ")]
        if not lines:
            raise BenchError(f"wrk gave no result: {text[-400:]}")
        result = json.loads(lines[0][len("RESULT "):])
        if result["exhausted"]:
            raise Void(f"{server.name}: the DPoP proofs ran out before the end")
        if any(result["errors"].values()) or not result["requests"]:
            raise Void(f"{server.name}, {connections} connections: {result['requests']} answers, errors {result['errors']}")
        server.answered += result["requests"]
        return Figures(
            result["requests"], result["requests"] / result["duration_us"] * 1e6, result["p50_us"], result["p99_us"],
            result["max_us"], server_cpu / result["requests"] * 1e6, postgres_cpu / result["requests"] * 1e6,
            server.peak_mb())

    def at_rate(self, server, request, rate, connections, seconds):
        """An open loop: requests leave at this rate whatever the answers do."""
        command = [self.binaries / "openloop", "-address", server.url.split("//")[1], "-rate", f"{rate:.1f}",
                   "-connections", connections, "-warm", "1", "-seconds", seconds]
        text, server_cpu, postgres_cpu = self._watched(server, command, "openloop", request, seconds + 1)
        result = json.loads(text)
        if result["Ok"] != result["Sent"]:
            raise Void(f"{server.name} at {rate:.0f}/s: {result['Sent'] - result['Ok']} of {result['Sent']} answers were not 200")
        if result["Sent"] < 0.9 * rate * seconds:
            raise Void(f"{server.name}: only {result['Sent']} of {rate * seconds:.0f} requests were sent")
        server.answered += result["Sent"]
        # The second of warming up is in the CPU and not in the count.
        sent = result["Sent"] * (seconds + 1) / seconds
        return Figures(result["Sent"], result["Sent"] / seconds, result["P50"], result["P99"], result["Max"],
                       server_cpu / sent * 1e6, postgres_cpu / sent * 1e6, server.peak_mb())

    def _watched(self, server, command, what, env, seconds):
        server.check()
        before = processes.cpu_seconds(server.pid), processes.cpu_seconds(self.postgres.pid)
        text = processes.run(command, f"{what} against {server.name}", env, timeout=seconds + 60)
        after = processes.cpu_seconds(server.pid), processes.cpu_seconds(self.postgres.pid)
        server.check()
        return text, after[0] - before[0], after[1] - before[1]

    def proofs(self, server, nonce, seconds, floor, cores, keys=2000):
        """Fresh DPoP proofs for a run of so many seconds: more than the cores could verify in that time."""
        most = cores / (1 / floor.signs_per_s + 1 / floor.verifies_per_s)
        path = self.scratch / "proofs.txt"
        with open(path, "w") as out:
            processes.run([self.binaries / "proofs", "-count", math.ceil(most * seconds * 1.3) + 2000, "-keys", keys,
                           "-htu", server.url + "/v1/assertions", "-nonce", nonce], "making DPoP proofs",
                          stdout=out, timeout=120)
        return path
