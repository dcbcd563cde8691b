"""Carries out a plan: rounds in turn (A B C D, A B C D …), everything raw kept."""
import contextlib

from . import floor, history, idle, ratios
from .errors import Void


class Measurement:
    def __init__(self, plan, parts, broker, peers, postgres, load, progress, cores):
        self.plan, self.parts, self.broker, self.peers = plan, parts, broker, peers
        self.postgres, self.load, self.progress, self.cores = postgres, load, progress, cores
        self.raw = {"closed": {}, "dpop": [], "ps256": [], "at_peer_rate": [], "empty": [], "history": [], "idle_connections": [],
                    "memory": [], "floor": []}
        self.voids = []
        self.floors = []
        self._announce()

    # What each step was planned to take, all announced first so that the time left is known.
    def _announce(self):
        p, on = self.plan, self.parts
        self.floor_seconds = 7 * p.floor + 1.5
        self.broker_seconds = p.start + p.warm + (sum(p.seconds.values()) if "speed" in on or "tail" in on else 0) + (
            2.5 * p.main + 1 if "dpop" in on else 0) + (p.main + p.warm if "ps256" in on else 0)
        servers = len(self.peers) if "speed" in on or "tail" in on else 0
        if self.rounds_needed():
            self.progress.plan(p.rounds * (self.floor_seconds + self.broker_seconds + servers * p.turn()))
        self.pair_seconds = 2 * (p.start + 2 * p.warm + p.main)
        self.fill_seconds = p.history_rows / 100_000 + 5
        self.tail_seconds = p.start + p.main + p.warm
        self.idle_seconds = p.start + 3 * p.warm + 2 * p.main + 4
        self.progress.plan(
            ("tail" in on) * p.tail_rounds * self.tail_seconds
            + ("history" in on) * (self.fill_seconds + p.history_rounds * self.pair_seconds)
            + ("idle" in on) * p.idle_rounds * self.idle_seconds)

    def rounds_needed(self):
        return bool({"speed", "dpop", "ps256", "tail"} & self.parts)

    def run(self):
        if self.rounds_needed():
            for number in range(1, self.plan.rounds + 1):
                self._round(number)
        if "tail" in self.parts:
            self._tail()
        if "history" in self.parts:
            self._history()
        if "idle" in self.parts:
            self._idle()

    def _twice(self, attempt):
        """A void run is made once more; the second time it ends everything."""
        try:
            return attempt()
        except Void as void:
            self.voids.append(str(void))
            self.progress.say(f"void, once more: {void}")
            return attempt()

    @contextlib.contextmanager
    def _serving(self, contender, *database, clear=True):
        """Empty tables, the server started; in the end every answer's row is counted and the server stopped."""
        if clear:
            contender.clear(*database)
        server = contender.start(*database)
        try:
            yield server
            server.settle(self.postgres)
        finally:
            server.stop()

    def _round(self, number):
        p, of = self.plan, f"round {number}/{self.plan.rounds}"
        with self.progress.step(f"{of}: the floor", self.floor_seconds):
            self.floors.append(floor.measure(self.postgres, self.load.scratch, self.cores, p.floor))
            self.raw["floor"].append(self.floors[-1].json())
        with self.progress.step(f"{of}: broker", self.broker_seconds):
            self._twice(self._broker_turn)
        for peer in self.peers if {"speed", "tail"} & self.parts else []:
            with self.progress.step(f"{of}: {peer.name}", p.turn()):
                self._twice(lambda peer=peer: self._peer_turn(peer))

    def _closed(self, server, contender):
        """Runs with each number of connections; nothing is kept unless all were good."""
        request = contender.request("app_es256")
        self.load.wrk(server, request, 64, self.plan.warm)
        return {str(count): self.load.wrk(server, request, count, seconds).json() for count, seconds in self.plan.seconds.items()}

    def _keep(self, name, figures):
        for count, run in figures.items():
            self.raw["closed"].setdefault(name, {}).setdefault(count, []).append(run)

    def _peer_turn(self, peer):
        with self._serving(peer) as server:
            figures = self._closed(server, peer)
        self._keep(peer.name, figures)

    def _broker_turn(self):
        p, kept = self.plan, {}
        with self._serving(self.broker) as server:
            memory = {"idle_mb": server.resident_mb()}
            figures = self._closed(server, self.broker) if {"speed", "tail"} & self.parts else {}
            if "dpop" in self.parts:
                kept["dpop"] = self._dpop(server)
            if "ps256" in self.parts:
                server.await_mint(self.broker.request("app_ps256"))
                self.load.wrk(server, self.broker.request("app_ps256"), 64, p.warm)
                kept["ps256"] = self.load.wrk(server, self.broker.request("app_ps256"), 64, p.main)
            memory["load_mb"] = server.peak_mb()
        self._keep("broker", figures)
        for name, run in kept.items():
            self.raw[name].append(run.json())
        self.raw["memory"].append({name: round(value, 2) for name, value in memory.items()})

    def _dpop(self, server):
        """Warms up and runs on proofs made just before, each sent once."""
        for seconds in (self.plan.warm, self.plan.main):
            proofs = self.load.proofs(server, self.broker.nonce(server), seconds, self.floors[-1], self.cores)
            run = self.load.wrk(server, self.broker.request("app_dpop"), 64, seconds, proofs)
        return run

    def _tail(self):
        """The broker at the best peer's top throughput, open loop."""
        p, closed = self.plan, self.raw["closed"]
        connections, rate = ratios.top(closed[ratios.best_peer(closed)])

        def turn():
            with self._serving(self.broker) as server:
                self.load.wrk(server, self.broker.request("app_es256"), 64, p.warm)
                return self.load.at_rate(server, self.broker.request("app_es256"), rate, int(connections), p.main)

        for number in range(1, p.tail_rounds + 1):
            with self.progress.step(f"tail {number}/{p.tail_rounds}: broker at {rate:.0f}/s", self.tail_seconds):
                self.raw["at_peer_rate"].append(self._twice(turn).json())

    def _history(self):
        p = self.plan
        with self.progress.step(f"history: adding {p.history_rows:,} rows", self.fill_seconds):
            history.drop(self.postgres)
            history.fill(self.broker, self.postgres, p.history_rows, self.cores)

        def turn(database, clear):
            with self._serving(self.broker, database, clear=clear) as server:
                # Twice as long as elsewhere: the first change of each page after a checkpoint costs a whole page of WAL.
                self.load.wrk(server, self.broker.request("app_es256"), 64, 2 * p.warm)
                return self.load.wrk(server, self.broker.request("app_es256"), 64, p.main)

        for number in range(1, p.history_rounds + 1):
            with self.progress.step(f"history {number}/{p.history_rounds}: empty store, full store", self.pair_seconds):
                # Each goes first every other time: what drifts on the machine meanwhile then weighs on both alike.
                order = [("empty", "broker", True), ("history", history.DATABASE, False)]
                for name, database, clear in order if number % 2 else reversed(order):
                    self.raw[name].append(self._twice(lambda: turn(database, clear)).json())
        rows = history.count(self.postgres)
        if rows < p.history_rows:
            # This figure is lost; those that took the time before it are not.
            self.voids.append(f"not measured: the history lost rows before the end, {rows:,} of {p.history_rows:,} were left")
            self.progress.say(self.voids[-1])
            self.raw["empty"], self.raw["history"] = [], []
        self.raw["history_rows"] = rows
        history.drop(self.postgres)

    def _idle(self):
        p, request = self.plan, self.broker.request("app_es256")

        def turn():
            with self._serving(self.broker) as server:
                self.load.wrk(server, request, 64, p.warm)
                without = self.load.wrk(server, request, 64, p.main)
                before = server.resident_mb()
                with idle.connections(server.url, p.idle_connections):
                    octets = (server.resident_mb() - before) * 1e6 / p.idle_connections
                    self.load.wrk(server, request, 64, p.warm)
                    beside = self.load.wrk(server, request, 64, p.main)
                return {"connections": p.idle_connections, "octets_each": round(octets), "without": without.json(),
                        "beside": beside.json()}

        for number in range(1, p.idle_rounds + 1):
            with self.progress.step(f"idle {number}/{p.idle_rounds}: {p.idle_connections:,} connections", self.idle_seconds):
                self.raw["idle_connections"].append(self._twice(turn))
