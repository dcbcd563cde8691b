"""An outside judge of log lines: jsonschema with deploy/log-schema.json.

One {"line": text} a line; answers {"fault": null} or what is wrong with it.
"""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "log-schema.json"


def refuse_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a member stands twice")
    return dict(pairs)


schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)

for question in sys.stdin:
    line = json.loads(question)["line"]
    try:
        event = json.loads(line, object_pairs_hook=refuse_duplicates)
        faults = sorted(error.message for error in validator.iter_errors(event))
        # Which alternative was meant is told by the event's name; its own faults say more than "none matches".
        for alternative in schema["oneOf"]:
            name = alternative["properties"]["event"]
            if event.get("event") in name.get("enum", [name.get("const")]):
                faults += [e.message for e in Draft202012Validator({**alternative, "$defs": schema["$defs"]}).iter_errors(event)]
    except ValueError as error:
        faults = [str(error)]
    print(json.dumps({"fault": "; ".join(faults) or None}))
