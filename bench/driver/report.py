"""The table for people (latest.md) and the figures for programs (latest.json)."""
import json
import os
from pathlib import Path
from statistics import median

from .ratios import GOALS, best_peer, history_ratio, mid, ratio


def document(machine, settings, plan, parts, raw, values, voids):
    whole = plan.mode == "whole"
    return {
        "mode": plan.mode,
        "parts": sorted(parts),
        "machine": machine,
        "postgres_settings": settings,
        "ratios": values,
        "goals": {g.key: {"goal": g.text(), "met": g.met(values[g.key]) if values[g.key] is not None else None} for g in GOALS},
        "best_peer": best_peer(raw["closed"]),
        "void_runs": voids,
        "plan": {"rounds": plan.rounds, "seconds_by_connections": plan.seconds, "history_rows": plan.history_rows},
        "raw": raw,
        **({} if whole else {"note": "a quick run: short, few rounds, a smaller history; only a whole run counts"}),
    }


def _spread(runs, name):
    """Median and, in brackets, the smallest and the largest of the rounds."""
    values = sorted(run[name] for run in runs)
    return f"{_number(median(values))} ({_number(values[0])} to {_number(values[-1])})"


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


COLUMNS = ["mints/s", "p50 µs", "p99 µs", "server CPU µs a mint", "Postgres CPU µs a mint", "server's peak MB"]
NAMES = ["mints_per_s", "p50_us", "p99_us", "server_cpu_us", "postgres_cpu_us", "server_peak_mb"]


def _figures(runs):
    return [_spread(runs, name) for name in NAMES]


def _goals(values):
    rows = []
    for goal in GOALS:
        value = values[goal.key]
        verdict = "not measured" if value is None else "yes" if goal.met(value) else "**no**"
        rows.append([f"`{goal.key}`", goal.what, goal.text(), "" if value is None else f"{value:.3g}", verdict])
    return _table(["key", "figure", "goal", "here", "met"], rows)


def markdown(doc):
    raw, machine = doc["raw"], doc["machine"]
    out = ["# Benchmark", "",
           f"Made by `script/bench`{' --quick' if doc['mode'] == 'quick' else ''} on {machine['time']}, commit {machine['commit'][:12]}"
           f"{' with changes' if 'with changes' in machine['commit'] else ''}. Medians of the rounds; in brackets the smallest and the "
           "largest. Load generator, Postgres and server share the machine.", ""]
    if "note" in doc:
        out += [f"This is {doc['note']}.", ""]
    out += ["## Ratios", ""] + _goals(doc["ratios"])
    if doc["best_peer"]:
        out += [f"The best peer is {doc['best_peer']}.", ""]
    if raw["closed"]:
        out += ["## ES256, `backend_token`, closed loop", ""]
        counts = list(next(iter(raw["closed"].values())))
        out += _table(["connections", "server", *COLUMNS], [
            [count, name, *_figures(raw["closed"][name][count])] for count in counts for name in raw["closed"]])
    rest = [("ES256, `dpop`, 64 connections", raw["dpop"]), ("PS256, `backend_token`, 64 connections", raw["ps256"]),
            ("ES256 at the best peer's top rate, open loop", raw["at_peer_rate"]),
            ("ES256, 64 connections, empty store", raw["empty"]),
            (f"ES256, 64 connections, {raw.get('history_rows', 0):,} rows of history", raw["history"])]
    if any(runs for _, runs in rest):
        out += ["## The broker otherwise", ""]
        out += _table(["run", *COLUMNS], [[name, *_figures(runs)] for name, runs in rest if runs])
    if raw["history"]:
        out += [f"Over {raw['history_rows']:,} rows of history it did {history_ratio(raw):.3f} of the mints/s over an empty store.", ""]
    if raw["idle_connections"]:
        runs = raw["idle_connections"]
        beside, without = ([run[name] for run in runs] for name in ("beside", "without"))
        out += [f"{runs[0]['connections']:,} idle connections cost {_spread(runs, 'octets_each')} octets each in the broker; with them it did "
                f"{ratio(mid(beside, 'mints_per_s'), mid(without, 'mints_per_s')):.3f} of the mints/s without.", ""]
    if raw["memory"]:
        out += [f"Resident memory of the broker: {_spread(raw['memory'], 'idle_mb')} MB before any load, "
                f"{_spread(raw['memory'], 'load_mb')} MB at its peak.", ""]
    if raw["floor"]:
        labels = {"signs_per_s": "ECDSA P-256 signatures/s, one core (CPU time)", "verifies_per_s": "ECDSA P-256 verifications/s, one core",
                  "all_cores_signs_per_s": "ECDSA P-256 signatures/s, all cores",
                  "all_cores_verifies_per_s": "ECDSA P-256 verifications/s, all cores",
                  "all_cores_rsa_signs_per_s": "RSA 2048 signatures/s, all cores", "insert_us": "one committed INSERT (pgbench), µs"}
        out += ["## The floor", ""] + _table(["what", "here"], [[text, _spread(raw["floor"], name)] for name, text in labels.items()])
    out += ["## Where", ""] + _table(["what", "here"], [[name.replace("_", " "), str(value)] for name, value in machine.items()])
    out += ["Postgres settings that are not the default, and those that durability depends on: "
            + ", ".join(f"`{name} = {value}`" for name, value in doc["postgres_settings"].items()) + ".", ""]
    if doc["void_runs"]:
        out += ["Void runs, made once more where that was possible:", ""] + [f"- {text}" for text in doc["void_runs"]] + [""]
    return "\n".join(out).rstrip() + "\n"


def write(doc, directory, name="latest"):
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for suffix, text in (("json", json.dumps(doc, indent=1, ensure_ascii=False) + "\n"), ("md", markdown(doc))):
        part = directory / f".{name}.{suffix}.part"
        part.write_text(text, encoding="utf-8")
        os.replace(part, directory / f"{name}.{suffix}")
    return directory / f"{name}.md"
