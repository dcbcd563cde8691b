#!/usr/bin/env python3
"""A provider that checks client assertions by key sets it keeps for as long as their max-age says, with PyJWT.

  caching_provider.py --client-id ID --audience ISSUER --verifiers N JWKS_URL...

Holds N verifiers, each with a key set of its own, fetched from any of the URLs (a replica each). None asks for another set
before its own has run out, whatever kid it meets. Prints the port it listens on; then `POST /N?now=SECONDS` with an
assertion as the body answers {"kid": …} or {"kid": …, "refused": why}, and `GET /fetches` how often each fetched a set.
Key sets age by the `now` of the calls, so a test can let hours pass; assertions are judged by the time of day.
"""
import argparse
import json
import random
import re
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt


class Verifier:
    def __init__(self, number, options):
        self.options = options
        self.random = random.Random(number)
        self.lock = threading.Lock()
        self.keys = {}
        self.good_until = None
        self.fetches = 0
        self.seen = set()

    def check(self, assertion, now):
        with self.lock:
            if self.good_until is None or now >= self.good_until:
                self.fetch(now)
            header = jwt.get_unverified_header(assertion)
            return {"kid": header["kid"], **self.judge(assertion, header)}

    def fetch(self, now):
        url = self.random.choice(self.options.urls)
        with urllib.request.urlopen(url, timeout=60) as answer:
            age = re.search(r"max-age=(\d+)", answer.headers["Cache-Control"])
            keys = json.load(answer)["keys"]
        self.good_until = now + int(age.group(1))
        self.keys = {key["kid"]: jwt.PyJWK(key) for key in keys}
        self.fetches += 1

    def judge(self, assertion, header):
        key = self.keys.get(header["kid"])
        if key is None:
            return {"refused": "no such key in %s" % sorted(self.keys)}
        try:
            claims = jwt.decode(
                assertion, key, algorithms=[header["alg"]], audience=self.options.audience,
                issuer=self.options.client_id, options={"require": ["iss", "sub", "aud", "iat", "exp", "jti"]})
        except jwt.PyJWTError as error:
            return {"refused": type(error).__name__}
        if claims["jti"] in self.seen:
            return {"refused": "jti twice"}
        self.seen.add(claims["jti"])
        return {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    verifiers = []

    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        assertion = self.rfile.read(int(self.headers["Content-Length"])).decode("ascii")
        now = int(urllib.parse.parse_qs(url.query)["now"][0])
        self.answer(self.verifiers[int(url.path[1:])].check(assertion, now))

    def do_GET(self):
        self.answer([verifier.fetches for verifier in self.verifiers])

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--client-id", required=True)
    p.add_argument("--audience", required=True)
    p.add_argument("--verifiers", type=int, required=True)
    p.add_argument("urls", nargs="+", metavar="JWKS_URL")
    options = p.parse_args()
    Handler.verifiers = [Verifier(number, options) for number in range(options.verifiers)]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
