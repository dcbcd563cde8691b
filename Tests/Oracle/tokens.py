"""Judges transport tokens and client attestations with libraries that share no code with this project: PyJWT and joserfc.

Reads one question a line ({"kind", "token", "now"} and "secret" or "jwk", what the token is checked with), writes one answer a
line: {"header", "claims"} and, for an attestation, {"thumbprint"} of the key it names; or {"fault"}.
"""
import json
import sys

import jwt as pyjwt
from joserfc import jwk, jwt
from joserfc.errors import JoseError

from jws_parts import Fault, no_duplicates, part, require


def check_signature(token, algorithm, ours, theirs):
    try:
        jwt.decode(token, ours, algorithms=[algorithm])
    except (JoseError, ValueError) as e:
        raise Fault("joserfc: %s" % type(e).__name__) from None
    unchecked = {name: False for name in ("verify_exp", "verify_iat", "verify_nbf", "verify_aud")}
    try:
        pyjwt.decode(token, theirs, algorithms=[algorithm], options=unchecked)
    except pyjwt.PyJWTError as e:
        raise Fault("PyJWT: %s" % type(e).__name__) from None


def transport_token(question, header, claims):
    """flows.md R-003-01 and R-003-24."""
    require(header == {"alg": "HS256", "typ": "JWT"}, "header")
    check_signature(question["token"], "HS256", jwk.import_key(question["secret"], "oct"), question["secret"])
    require(set(claims) == {"cid", "iss", "aud", "jti", "iat", "exp"}, "claims")
    require(all(type(claims[name]) is str for name in ("cid", "iss", "aud", "jti")), "a claim is no string")
    require(claims["exp"] - claims["iat"] <= 60, "lives longer than 60 seconds")
    return {}


def client_attestation(question, header, claims):
    """draft-ietf-oauth-attestation-based-client-auth-10."""
    key = question["jwk"]
    require(header.get("typ") == "oauth-client-attestation+jwt", "typ")
    require(header.get("alg") in ("ES256", "PS256"), "not signed with a key pair")
    require(set(header) == {"alg", "kid", "typ"}, "header")
    check_signature(question["token"], header["alg"], jwk.import_key(key), pyjwt.PyJWK(key, header["alg"]))
    require(set(claims) == {"sub", "jti", "iat", "exp", "cnf"}, "claims")
    require(set(claims["cnf"]) == {"jwk"}, "cnf")
    named = claims["cnf"]["jwk"]
    members = {"EC": {"kty", "crv", "x", "y"}, "RSA": {"kty", "n", "e"}}[named["kty"]]
    require(set(named) == members, "cnf.jwk holds more than the public key")
    return {"thumbprint": jwk.import_key(named).thumbprint()}


KINDS = {"transport_token": transport_token, "client_attestation": client_attestation}


def judge(question):
    try:
        pieces = question["token"].split(".")
        require(len(pieces) == 3, "not a compact JWS")
        header, claims = (json.loads(part(x), object_pairs_hook=no_duplicates) for x in pieces[:2])
        more = KINDS[question["kind"]](question, header, claims)
        require(type(claims["iat"]) is int and type(claims["exp"]) is int, "iat and exp are whole numbers")
        require(claims["iat"] <= question["now"] < claims["exp"], "not valid now")
        require(len(part(claims["jti"])) >= 16, "jti has less than 128 bits")
        return {"header": header, "claims": claims, **more}
    except Fault as e:
        return {"fault": str(e)}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        return {"fault": "malformed (%s)" % type(e).__name__}


for line in sys.stdin:
    if line.strip():
        print(json.dumps(judge(json.loads(line))))
