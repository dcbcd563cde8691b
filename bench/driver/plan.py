"""What is measured, in which order, and for how long."""
from dataclasses import dataclass

PARTS = ("speed", "dpop", "ps256", "tail", "history", "idle")


@dataclass(frozen=True)
class Plan:
    """Seconds and numbers of rounds. A round runs every server once, in turn."""

    mode: str
    rounds: int
    warm: int
    seconds: dict  # a run, by number of connections
    main: int  # a run of dpop, ps256, tail, history, idle
    floor: int
    tail_rounds: int
    history_rounds: int
    history_rows: int
    idle_rounds: int
    idle_connections: int = 10_000
    start: float = 1.5  # to start, clear and stop a server

    def turn(self):
        return self.start + self.warm + sum(self.seconds.values())


WHOLE = Plan("whole", rounds=4, warm=2, seconds={1: 2, 32: 2, 64: 4, 256: 2}, main=4, floor=1,
             tail_rounds=3, history_rounds=4, history_rows=10_000_000, idle_rounds=2)
QUICK = Plan("quick", rounds=2, warm=1, seconds={1: 1, 32: 1, 64: 2, 256: 1}, main=2, floor=1,
             tail_rounds=1, history_rounds=1, history_rows=1_000_000, idle_rounds=1)
