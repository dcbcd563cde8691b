"""The figures to reach: ratios of medians within one run."""
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Goal:
    key: str
    what: str
    bound: float
    at_least: bool = False

    def met(self, value):
        return value is not None and (value >= self.bound if self.at_least else value <= self.bound)

    def text(self):
        return f"{'≥' if self.at_least else '≤'} {self.bound:.3g}"


GOALS = [
    Goal("mints_vs_best_peer", "ES256 mints/s, 64 connections, `backend_token`, against the best peer", 6, at_least=True),
    Goal("cpu_vs_signature", "broker CPU a mint, ES256, `backend_token`, against one bare signature", 2.0),
    Goal("dpop_cpu_vs_floor", "broker CPU a mint, ES256, `dpop`, against bare signature + bare verification", 1.5),
    Goal("postgres_cpu_vs_peer", "Postgres CPU a mint against what the best peer costs it", 1 / 3),
    Goal("p50_idle_vs_floor", "p50 at one connection against one committed INSERT + one signature", 1.3),
    Goal("p99_vs_peer", "p99 at the best peer's top throughput against that peer's p99", 1 / 3),
    Goal("ps256_vs_cores", "PS256 mints/s against what the cores can sign", 0.85, at_least=True),
    Goal("history_10m_vs_empty", "mints/s over 10 million rows of history against an empty store", 0.95, at_least=True),
    Goal("rss_idle_mb", "resident memory before any load, MB", 40),
    Goal("rss_load_mb", "peak resident memory under load, MB", 120),
]


def mid(runs, name):
    """Median of one figure over the rounds; None when it was not measured."""
    values = [run[name] for run in runs or []]
    return median(values) if values else None


def best_peer(closed, connections="64"):
    """The peer with the most mints/s, or None."""
    rates = {name: mid(by_count.get(connections), "mints_per_s") for name, by_count in closed.items() if name != "broker"}
    rates = {name: rate for name, rate in rates.items() if rate}
    return max(rates, key=rates.get) if rates else None


def top(by_count):
    """(connections, mints/s) at which a server did most."""
    rates = {count: mid(runs, "mints_per_s") for count, runs in by_count.items()}
    count = max(rates, key=rates.get)
    return count, rates[count]


def ratio(a, b):
    return None if a is None or not b else a / b


def history_ratio(raw):
    """Median of the pairs' ratios: the two runs of a pair follow each other at once, the pairs do not."""
    pairs = [ratio(full["mints_per_s"], empty["mints_per_s"]) for full, empty in zip(raw["history"], raw["empty"])]
    return median(pairs) if pairs else None


def compute(raw):
    """Every key of GOALS, None where something it needs was not measured."""
    closed, floor = raw["closed"], raw["floor"]
    broker, peer = closed.get("broker", {}), closed.get(best_peer(closed), {})
    at_64, peer_64 = broker.get("64"), peer.get("64")
    signs, verifies = mid(floor, "signs_per_s"), mid(floor, "verifies_per_s")
    sign_us = 1e6 / signs if signs else None
    verify_us = 1e6 / verifies if verifies else None
    peer_top = top(peer)[0] if peer else None
    insert_us = mid(floor, "insert_us")
    # A quick run has a smaller history, which says nothing of ten million rows.
    is_whole_history = raw.get("history_rows", 0) >= 10_000_000
    values = {
        "mints_vs_best_peer": ratio(mid(at_64, "mints_per_s"), mid(peer_64, "mints_per_s")),
        "cpu_vs_signature": ratio(mid(at_64, "server_cpu_us"), sign_us),
        "dpop_cpu_vs_floor": ratio(mid(raw["dpop"], "server_cpu_us"), sign_us and sign_us + verify_us),
        "postgres_cpu_vs_peer": ratio(mid(at_64, "postgres_cpu_us"), mid(peer_64, "postgres_cpu_us")),
        "p50_idle_vs_floor": ratio(mid(broker.get("1"), "p50_us"), sign_us and insert_us + sign_us),
        "p99_vs_peer": ratio(mid(raw["at_peer_rate"], "p99_us"), mid(peer.get(peer_top), "p99_us")),
        "ps256_vs_cores": ratio(mid(raw["ps256"], "mints_per_s"), mid(floor, "all_cores_rsa_signs_per_s")),
        "history_10m_vs_empty": history_ratio(raw) if is_whole_history else None,
        "rss_idle_mb": mid(raw["memory"], "idle_mb"),
        "rss_load_mb": mid(raw["memory"], "load_mb"),
    }
    return {key: None if value is None else round(value, 3) for key, value in values.items()}
