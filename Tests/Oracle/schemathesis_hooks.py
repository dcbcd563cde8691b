"""What script/schemathesis knows of the broker it judges and no document can say.

Which client is registered, and which audience is its issuer, is data. So a mint call that is meant to be good is made for that
client and that issuer, all but one in four, which stay with a client that does not exist. No pattern finds a key and its own
thumbprint, so an attestation is asked for a key that is put in. A client assertion is made by the broker alone: where MINT_TOKEN
is set, a consume call that is meant to be good brings one that was just minted, and each third such call the one before it again.
A security scheme has no pattern either: a DPoP field with a comma is two fields that were joined, which is no credential but
broken HTTP (400). Calls that are meant to be bad, and every check, stay as they are.
"""
import itertools
import json
import os
import ssl
import urllib.request

import schemathesis

CLIENT, ISSUER = "app_demo", "https://idp.example"
JKT = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
# The key of that thumbprint (RFC 9449 §4.1).
JWK = {"kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
       "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}
# Of the broker, its authority's certificate, and a token of the scope mint.
URL, CA, MINT_TOKEN = (os.environ.get(name) for name in ("BROKER_URL", "BROKER_CA", "MINT_TOKEN"))


def minted():
    body = json.dumps({"client_id": CLIENT, "audience": ISSUER, "dpop_jkt": JKT}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {MINT_TOKEN}"}
    request = urllib.request.Request(f"{URL}/v1/assertions", body, headers)
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=CA), timeout=20) as answer:
        return json.load(answer)["client_assertion"]


def fresh_fresh_used():
    while True:
        yield minted()
        assertion = minted()
        yield assertion
        yield assertion


assertions = fresh_fresh_used() if MINT_TOKEN else itertools.repeat(None)


@schemathesis.hook
def before_call(context, case, kwargs):
    meta, body = case.meta, case.body
    if meta is None or not meta.generation.mode.is_positive or not isinstance(body, dict):
        return
    for name, value in (case.headers or {}).items():
        if name.lower() == "dpop":
            case.headers[name] = value.replace(",", ".")
    if isinstance(body.get("client_assertion"), str):
        if assertion := next(assertions):
            case.body = {**body, "client_assertion": assertion, **({"audience": ISSUER} if "audience" in body else {})}
    elif isinstance(body.get("dpop_jkt"), str):
        if case.path == "/v1/client-attestations":
            case.body = {**body, "dpop_jkt": JKT, "jwk": JWK}
        if body.get("client_id") == CLIENT or sum(body["dpop_jkt"].encode()) % 4:
            case.body = {**case.body, "client_id": CLIENT, "audience": ISSUER}
