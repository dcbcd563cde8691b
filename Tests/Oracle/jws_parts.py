"""Reads the parts of a compact JWS strictly, for the judges beside this file."""
import base64
import re


class Fault(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Fault(what)


def no_duplicates(pairs):
    """For json.loads(object_pairs_hook=)."""
    names = [name for name, _ in pairs]
    require(len(names) == len(set(names)), "a JSON member stands twice")
    return dict(pairs)


def part(text):
    """One part of a compact JWS, read apart from both libraries: canonical base64url."""
    require(re.fullmatch(r"[A-Za-z0-9_-]+", text), "a part is not base64url")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64.urlsafe_b64encode(raw).rstrip(b"=").decode() == text, "a part is not canonical base64url")
    return raw
