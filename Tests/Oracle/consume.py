"""A provider or gateway, written with nothing but Python's http.client: has an assertion consumed, twice.

Reads the assertion from standard input, calls a broker on this machine, and prints both statuses. Exit status 1 when the
answers are not what docs/integration-guide.md says.
"""
import argparse
import base64
import http.client
import json
import sys


def claims(assertion):
    part = assertion.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int, required=True)
    p.add_argument("--token", required=True)
    p.add_argument("--audience", required=True)
    a = p.parse_args()
    assertion = sys.stdin.read().strip()
    connection = http.client.HTTPConnection("127.0.0.1", a.port, timeout=30)
    answers = []
    for _ in range(2):
        connection.request("POST", "/v1/assertions/consume", json.dumps(
            {"client_assertion": assertion, "audience": a.audience, "ignored": None}),
            {"Authorization": "Bearer " + a.token, "Content-Type": "application/json"})
        answer = connection.getresponse()
        answers.append((answer.status, answer.getheader("Cache-Control"), json.loads(answer.read())))
    wanted = claims(assertion)
    first, second = answers
    if first[0] == 200 and first[2] != {
            "client_id": wanted["sub"], "jti": wanted["jti"], "audience": a.audience, "issued_at": wanted["iat"],
            "expires_at": wanted["exp"], "dpop_jkt": wanted["cnf"]["jkt"]}:
        sys.exit("the first answer does not say what the assertion says")
    if second[0] == 409 and second[2]["code"] != "already_used":
        sys.exit("another code: " + second[2]["code"])
    if {first[1], second[1]} != {"no-store"}:
        sys.exit("an answer may be cached")
    print(first[0], second[0])


main()
