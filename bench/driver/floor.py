"""What nobody gets below, measured beside the servers: OpenSSL's bare signature, and one committed INSERT by pgbench."""
from dataclasses import asdict, dataclass
from statistics import median

from . import processes
from .errors import BenchError


@dataclass
class Floor:
    """Operations a second on one core and on all of them, and the median of a committed INSERT in microseconds."""

    signs_per_s: float
    verifies_per_s: float
    all_cores_signs_per_s: float
    all_cores_verifies_per_s: float
    all_cores_rsa_signs_per_s: float
    insert_us: float

    def json(self):
        return {name: round(value, 2) for name, value in asdict(self).items()}


def _speed(seconds, algorithms, *options):
    """(signs, verifies) a second of each algorithm: "ecdsap256", "rsa2048"."""
    rates = {}
    command = ["openssl", "speed", "-mr", "-seconds", seconds, *options, *algorithms]
    for line in processes.run(command, "openssl speed").splitlines():
        # "+F4:index:bits:signs:verifies" for ECDSA, F2 for RSA; the parts of -multi have "Got: " in front.
        if line.startswith(("+F4:", "+F2:")):
            kind, _, _, signs, verifies = line.split(":")[:5]
            rates["ecdsap256" if kind == "+F4" else "rsa2048"] = float(signs), float(verifies)
    if set(rates) != set(algorithms):
        raise BenchError("cannot read what `openssl speed -mr` prints")
    return rates


def _insert(postgres, scratch, seconds):
    """Median of one prepared INSERT and its commit on one connection, from pgbench's log of every transaction."""
    script = scratch / "insert.sql"
    script.write_text("INSERT INTO floor_jti VALUES (gen_random_uuid()::text, 'client', 'jkt', now());\n")
    postgres.sql("CREATE TABLE IF NOT EXISTS floor_jti "
                 "(jti text PRIMARY KEY, client text NOT NULL, jkt text NOT NULL, exp timestamptz NOT NULL)", "peers")
    postgres.clear("peers", "floor_jti")
    for old in scratch.glob("pgbench_log*"):
        old.unlink()
    processes.run(["pgbench", "-n", "-c1", "-j1", "-T", seconds, "-M", "prepared", "-f", script, "-l", "--log-prefix",
                   scratch / "pgbench_log", "peers"], "pgbench", postgres.environment("peers"))
    times = [float(line.split()[2]) for log in scratch.glob("pgbench_log*") for line in log.read_text().splitlines()]
    return median(times)


def measure(postgres, scratch, cores, seconds):
    # One core is counted in its CPU time, so that others on the machine do not matter; all cores in real time, since that is
    # what they can do.
    one = _speed(seconds, ["ecdsap256"])
    every = _speed(seconds, ["ecdsap256", "rsa2048"], "-elapsed", *(["-multi", cores] if cores > 1 else []))
    return Floor(*one["ecdsap256"], *every["ecdsap256"], every["rsa2048"][0], _insert(postgres, scratch, seconds + 1))
