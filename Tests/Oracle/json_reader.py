"""An outside judge of JSON texts: Python's reader, held to what RFC 8259 and the house rules add.

Reads one base64url text a line as {"text": …}, answers {"accepted": …, "value": …} where the value is written
in one plain form: no blanks, numbers as they stood, every character beyond printable ASCII as \\uXXXX.
"""
import base64
import json
import sys

MAXIMUM_DEPTH = 16


class Number(str):
    pass


def members(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("duplicate member")
    return dict(pairs)


def refuse_constant(name):
    raise ValueError(name)


def plain(value, depth=0):
    if isinstance(value, (dict, list)):
        depth += 1
        if depth > MAXIMUM_DEPTH:
            raise ValueError("too deep")
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        value.encode("utf-8")  # refuses lone surrogates
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{" + ",".join(
            plain(name) + ":" + plain(member, depth) for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(plain(element, depth) for element in value) + "]"
    return json.dumps(value)


def judge(octets):
    try:
        text = octets.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=members, parse_int=Number, parse_float=Number,
            parse_constant=refuse_constant)
        return {"accepted": True, "value": plain(value)}
    except (ValueError, RecursionError):
        return {"accepted": False}


for line in sys.stdin:
    if line.strip():
        text = json.loads(line)["text"]
        print(json.dumps(judge(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))))
