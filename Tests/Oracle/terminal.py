"""Runs a program on a terminal of its own: terminal.py PROGRAM ARGUMENTS...

Standard input is the dialog, one JSON object a line: {"wait": PATTERN} waits for a match in what was printed after the match before,
{"send": TEXT} types. Prints what the terminal showed, then "status N". A wait that does not come within two minutes ends the program
and is status 1 of this one.
"""
import json
import os
import pty
import re
import select
import signal
import sys
import time

dialog = [json.loads(line) for line in sys.stdin if line.strip()]
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])

shown, looked, failed = "", 0, None


def read(until):
    """Reads once; False at the end of the program's output."""
    global shown
    if not select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
        return None
    try:
        octets = os.read(terminal, 65536)
    except OSError:
        return False
    shown += octets.decode("utf-8", "replace")
    return bool(octets)


for step in dialog:
    if "send" in step:
        os.write(terminal, step["send"].encode())
        continue
    deadline = time.monotonic() + 120
    while not (match := re.compile(step["wait"]).search(shown, looked)):
        if not read(deadline):
            failed = step["wait"]
            break
    if failed:
        os.kill(child, signal.SIGTERM)
        break
    looked = match.end()
end = time.monotonic() + 60
while read(end):
    pass
_, status = os.waitpid(child, 0)
print(shown)
print("status", os.waitstatus_to_exitcode(status))
if failed:
    sys.exit(f"did not come: {failed}\n{shown}")
