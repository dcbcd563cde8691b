"""An outside judge of rate limits: token buckets in exact integers, where the broker keeps one timestamp a key (GCRA).

A line is {"policies": {"install"|"client"|"tenant": [burst, step]}, "mints": [[at, tenant, client, install], ...]}, times in
microseconds; the answer says for each mint which limit refuses it, or null: {"refused": [null, "install", ...]}.
"""
import json
import sys


class Bucket:
    """Holds up to burst tokens; one comes back every step. `level` counts tokens times step."""

    def __init__(self, burst, step):
        self.size, self.step = burst * step, step
        self.level, self.seen = self.size, None

    def refill(self, at):
        if self.seen is not None:
            self.level = min(self.size, self.level + at - self.seen)
        self.seen = at

    def wait(self):
        return max(0, self.step - self.level)


def judge(question):
    buckets, refused = {}, []
    # The widest first: of equal waits it is named.
    order = [name for name in ("tenant", "client", "install") if name in question["policies"]]
    for at, tenant, client, install in question["mints"]:
        keys = {"tenant": (tenant,), "client": (tenant, client), "install": (tenant, client, install)}
        mine = {}
        for name in order:
            bucket = buckets.setdefault((name, keys[name]), Bucket(*question["policies"][name]))
            bucket.refill(at)
            mine[name] = bucket
        longest = max(bucket.wait() for bucket in mine.values())
        if longest:
            refused.append(next(name for name in order if mine[name].wait() == longest))
        else:
            for bucket in mine.values():
                bucket.level -= bucket.step
            refused.append(None)
    return refused


for line in sys.stdin:
    print(json.dumps({"refused": judge(json.loads(line))}))
