"""Makes access tokens and DPoP proofs with libraries that share no code with this project: PyJWT and joserfc.

Reads one question a line, writes one answer a line. Keys have names, live as long as this process, and are made when they are first
named: p256:NAME, p384:NAME, rsa:NAME. For HS256 the secret is the key's public half as PEM.
  {"jwks": [KEY, ...]}          {"keys": [...]}, each with its name as kid
  {"library", "token", "proof"} {"token", "proof"}; token and proof are {"key", "alg", "header", "claims"}
In claims and header, "@jkt KEY" stands for a thumbprint, "@jwk KEY" for a public key, "@private KEY" for a whole one, and "@ath" for the
hash of the token.
"""
import base64
import hashlib
import hmac
import json
import sys

import jwt as pyjwt
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

CURVES = {"p256": "P-256", "p384": "P-384"}
keys = {}


def key(name):
    if name not in keys:
        kind = name.split(":")[0]
        keys[name] = ECKey.generate_key(CURVES[kind]) if kind in CURVES else RSAKey.generate_key(2048)
    return keys[name]


def public(name):
    members = key(name).as_dict(private=False)
    return {k: v for k, v in members.items() if k != "kid"}


def filled(value, token):
    if isinstance(value, dict):
        return {k: filled(v, token) for k, v in value.items()}
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    what, _, name = value[1:].partition(" ")
    if what == "jkt":
        return key(name).thumbprint()
    if what == "jwk":
        return public(name)
    if what == "private":
        return key(name).as_dict(private=True)
    return encoded(hashlib.sha256(token.encode()).digest())


def encoded(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def by_hand(header, claims, what):
    """What both libraries rightly refuse to make: no signature, or a public key as the secret."""
    text = ".".join(encoded(json.dumps(x).encode()) for x in (header, claims))
    secret = key(what["key"]).as_pem(private=False)
    mac = b"" if what["alg"] == "none" else hmac.new(secret, text.encode(), "sha256").digest()
    return text + "." + encoded(mac)


def joserfc_made(header, claims, what):
    registry = JWSRegistry(algorithms=[what["alg"]])
    registry.max_header_length = 4096
    registry.strict_check_header = False
    return jwt.encode(header, claims, key(what["key"]), registry=registry)


def pyjwt_made(header, claims, what):
    return pyjwt.encode(claims, key(what["key"]).private_key, algorithm=what["alg"], headers=header)


def make(library, what, token):
    header = {"alg": what["alg"], **filled(what["header"], token)}
    claims = filled(what["claims"], token)
    if what["alg"] in ("none", "HS256"):
        return by_hand(header, claims, what)
    return {"PyJWT": pyjwt_made, "joserfc": joserfc_made}[library](header, claims, what)


def answer(question):
    if "jwks" in question:
        return {"keys": [{**public(name), "kid": name} for name in question["jwks"]]}
    token = make(question["library"], question["token"], "")
    return {"token": token, "proof": make(question["library"], question["proof"], token)}


for line in sys.stdin:
    if line.strip():
        print(json.dumps(answer(json.loads(line))))
