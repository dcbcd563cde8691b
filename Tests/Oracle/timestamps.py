"""An outside judge of timestamps: Python's datetime. One {"microseconds": n} a line, n since 1970 UTC."""
import datetime
import json
import sys

EPOCH = datetime.datetime(1970, 1, 1)

for line in sys.stdin:
    moment = EPOCH + datetime.timedelta(microseconds=json.loads(line)["microseconds"])
    print(json.dumps({"text": moment.isoformat(timespec="microseconds").rjust(26, "0") + "Z"}))
