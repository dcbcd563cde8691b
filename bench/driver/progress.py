"""Progress on standard error: seconds since the start, what is going on, about how long it still takes."""
import sys
import time


class Progress:
    def __init__(self):
        self.started = time.monotonic()
        self.planned = 0.0  # seconds of all steps announced so far
        self.done = 0.0
        self.stretch = 1.0  # how much longer steps take than planned

    def plan(self, seconds):
        self.planned += seconds

    def say(self, text):
        left = max(0.0, self.planned - self.done) * self.stretch
        minutes, seconds = divmod(int(left), 60)
        print(f"[bench {time.monotonic() - self.started:4.0f}s, {minutes}:{seconds:02d} left] {text}", file=sys.stderr, flush=True)

    def step(self, text, seconds):
        """Announces a step that was planned to take so long; used as a context."""
        self.say(text)
        return _Step(self, seconds)


class _Step:
    def __init__(self, progress, seconds):
        self.progress, self.seconds = progress, seconds

    def __enter__(self):
        self.began = time.monotonic()

    def __exit__(self, *_):
        p = self.progress
        p.done += self.seconds
        # The last step says most about the next, the machine being as busy as it is.
        p.stretch = 0.8 * p.stretch + 0.2 * (time.monotonic() - self.began) / self.seconds
        return False
