"""An outside judge of answers: jsonschema with docs/openapi.json.

One answer a line: {"method", "path", "status", "headers": [[name, value], ...], "body": text}; answers {"fault": null} or what
the document does not allow. With a FILE of such lines as argument: prints each fault, and how many answers of which status were
judged for each call; exit status 1 when there is a fault or nothing to judge.
"""
import collections
import functools
import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

DOCUMENT = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8"))
REGISTRY = Registry().with_resource("urn:openapi", Resource.from_contents(DOCUMENT, default_specification=DRAFT202012))
# What comes with every answer and is HTTP's own business.
UNLISTED = {"date", "content-length", "content-type", "connection", "x-content-type-options", "strict-transport-security"}


class Fault(Exception):
    pass


def step(pointer, *names):
    return pointer + "".join("/" + str(n).replace("~", "~0").replace("/", "~1") for n in names)


@functools.cache
def resolve(pointer):
    """The value at a pointer into the document, and the pointer of what it refers to."""
    value = DOCUMENT
    for name in pointer.split("/")[1:]:
        value = value[name.replace("~1", "/").replace("~0", "~")]
    if isinstance(value, dict) and "$ref" in value and "/schemas/" not in value["$ref"]:
        return resolve(value["$ref"][1:])
    return value, pointer


@functools.cache
def validator(pointer):
    return Draft202012Validator({"$ref": "urn:openapi#" + pointer}, registry=REGISTRY)


def check(pointer, value, what):
    for error in validator(pointer).iter_errors(value):
        raise Fault(f"{what}: {error.message}")


@functools.cache
def template(path):
    """The path of the document that a request's path is an instance of, if any."""
    for known in DOCUMENT["paths"]:
        if re.fullmatch(re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", re.escape(known)), path):
            return known
    return None


def response_pointer(answer):
    path, method, status = template(answer["path"]), answer["method"].lower(), str(answer["status"])
    if path is None:
        # Nothing is at such a path, but HTTP may have refused the message before that was seen.
        pointer = step("", "components", "responses", "NotFound") if status == "404" else step(
            "", "paths", "/healthz", "get", "responses", status)
    elif method in DOCUMENT["paths"][path]:
        pointer = step("", "paths", path, method, "responses", status)
    elif status in ("405", "501"):
        name = {"405": "MethodNotAllowed", "501": "NotImplemented"}[status]
        pointer = step("", "components", "responses", name)
    else:
        raise Fault(f"{status} for a method the path does not have")
    try:
        return resolve(pointer)
    except KeyError:
        raise Fault(f"status {status} is not described") from None


def check_headers(answer, response, pointer):
    described = {name.lower(): name for name in response.get("headers", {})}
    present = collections.defaultdict(list)
    for name, value in answer["headers"]:
        present[name.lower()].append(value)
    for name, values in present.items():
        if name in UNLISTED:
            continue
        if name not in described:
            raise Fault(f"field {name} is not described")
        header, at = resolve(step(pointer, "headers", described[name]))
        for value in values:
            number = header["schema"].get("type") == "integer" and re.fullmatch("[0-9]+", value)
            check(step(at, "schema"), int(value) if number else value, name)
    for lower, name in described.items():
        if resolve(step(pointer, "headers", name))[0].get("required") and lower not in present:
            raise Fault(f"field {lower} is missing")


def refuse_duplicates(pairs):
    if len(pairs) != len({name for name, _ in pairs}):
        raise Fault("a member stands twice")
    return dict(pairs)


def check_content(answer, response, pointer):
    if answer["method"] == "HEAD" or "content" not in response:
        if answer["body"]:
            raise Fault("there is a body")
        return
    types = [value for name, value in answer["headers"] if name.lower() == "content-type"]
    if len(types) != 1 or types[0] not in response["content"]:
        raise Fault(f"content type {types} is not described")
    body = json.loads(answer["body"], object_pairs_hook=refuse_duplicates)
    check(step(pointer, "content", types[0], "schema"), body, "body")


def fault(answer):
    try:
        response, pointer = response_pointer(answer)
        check_headers(answer, response, pointer)
        check_content(answer, response, pointer)
    except (Fault, ValueError) as error:
        return f"{answer['method']} {answer['path']} {answer['status']}: {error}"
    return None


def judge_file(name):
    seen, faults = collections.Counter(), set()
    with open(name, encoding="utf-8") as lines:
        for answer in map(json.loads, lines):
            seen[answer["method"], template(answer["path"]) or "(another path)", answer["status"]] += 1
            faults.add(fault(answer))
    faults.discard(None)
    for (method, path, status), count in sorted(seen.items()):
        print(f"{count:7}  {status} {method} {path}")
    print(f"{sum(seen.values())} answers judged by docs/openapi.json, {len(faults)} kinds of fault")
    for line in sorted(faults):
        print(line)
    return 1 if faults or not seen else 0


if len(sys.argv) > 1:
    sys.exit(judge_file(sys.argv[1]))
for question in sys.stdin:
    print(json.dumps({"fault": fault(json.loads(question))}))
