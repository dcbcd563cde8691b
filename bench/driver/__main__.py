"""`python3 -m driver`, started by script/bench, which has installed and built everything."""
import argparse
import contextlib
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from . import idle, machine, measure, plan, processes, ratios, report
from .errors import BenchError, Missing
from .load import Load
from .postgres import Postgres
from .progress import Progress
from .servers import Broker, peers

PROGRAMS = ("wrk", "openssl", "psql", "pgbench", "node", "setpriv")


def arguments():
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--broker", type=Path, required=True)
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=plan.PARTS, default=[])
    return parser.parse_args()


def interrupted(*_):
    # Once: what follows must not be cut short by a second Ctrl-C.
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextlib.contextmanager
def workplace(root):
    """A directory of this run on a real disk, gone at the end with everything in it."""
    parent = root / ".dev"
    parent.mkdir(exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="bench.", dir=parent))
    scratch.chmod(0o711)  # Postgres's own user must get through to its data
    try:
        yield scratch
    finally:
        # The cluster's parts may lie elsewhere, behind links, where that user can reach them.
        for part in ("data", "run"):
            link = scratch / "postgres" / part
            if link.is_symlink():
                shutil.rmtree(link.resolve(), ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)


def bench(options, progress):
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        raise Missing(f"not installed: {', '.join(missing)} (script/setup --bench)")
    chosen = plan.QUICK if options.quick else plan.WHOLE
    parts = set(options.only or plan.PARTS)
    if "idle" in parts:
        idle.require_descriptors(chosen.idle_connections)
    cores, bench_dir = len(os.sched_getaffinity(0)), options.root / "bench"
    with workplace(options.root) as scratch:
        postgres = Postgres(options.root, scratch / "postgres", cores)
        try:
            postgres.start()
            broker = Broker(options.root, options.broker, scratch, postgres)
            broker.prepare()
            others = peers(options.root, options.binaries, scratch, postgres, broker.keys["app_es256"], cores)
            where = machine.describe(options.root, scratch, postgres.version())
            load = Load(bench_dir, options.binaries, scratch, postgres)
            measurement = measure.Measurement(chosen, parts, broker, others, postgres, load, progress, cores)
            measurement.run()
            settings = postgres.settings()
        finally:
            for service in reversed(list(processes.Service.running)):
                service.stop()
            postgres.stop()
    doc = report.document(where, settings, chosen, parts, measurement.raw, ratios.compute(measurement.raw), measurement.voids)
    # A part of the figures does not replace all of them.
    if options.only:
        return report.write(doc, options.root / ".dev/bench/results", "-".join(sorted(parts)))
    return report.write(doc, bench_dir / "results")


def main():
    options = arguments()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, interrupted)
    progress = Progress()
    try:
        path = bench(options, progress)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("bench: interrupted; everything it started is stopped", file=sys.stderr)
        return 130
    print(path.read_text(encoding="utf-8"))
    progress.say(f"written: {path} and {path.with_suffix('.json').name}")
    return 0


sys.exit(main())
