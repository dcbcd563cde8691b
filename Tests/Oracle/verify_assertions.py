#!/usr/bin/env python3
"""Judge client assertions with two libraries that share no code with this project: PyJWT and joserfc.

  verify_assertions.py --jwks FILE --client-id ID --audience ISSUER [--jkt JKT] [--lifetime SECONDS] [--typ TYP]

Reads one assertion a line from standard input and prints its jti, a line each, when everything holds: the signature
under the key that `kid` names, by both libraries; header and claims as RFC 7523 and FAPI 2.0 want them; no jti twice.
Exit status: 0 all held; 1 one did not (the first fault is on standard error, without the assertion); 2 wrong usage.
"""
import argparse
import json
import sys
import time

import jwt as pyjwt
from joserfc import jwk, jwt
from joserfc.errors import JoseError

from jws_parts import Fault, no_duplicates, part, require

ALGORITHMS = {"ES256": "EC", "PS256": "RSA"}
PUBLIC_MEMBERS = {"EC": {"kty", "crv", "x", "y"}, "RSA": {"kty", "n", "e"}}


def read_keys(path):
    with open(path, encoding="utf-8") as f:
        keys = json.load(f, object_pairs_hook=no_duplicates)["keys"]
    require(keys, "the key set is empty")
    by_kid = {}
    for key in keys:
        require(set(key) <= PUBLIC_MEMBERS[key["kty"]] | {"kid", "use", "alg"}, "the key set holds more than public members")
        require(key["kid"] not in by_kid, "a kid stands twice in the key set")
        by_kid[key["kid"]] = (key["alg"], jwk.import_key(key), pyjwt.PyJWK(key))
    return by_kid


def verify(token, keys, a):
    pieces = token.split(".")
    require(len(pieces) == 3, "not a compact JWS")
    header, claims = (json.loads(part(x), object_pairs_hook=no_duplicates) for x in pieces[:2])
    require(header.get("alg") in ALGORITHMS, "alg")
    require(header.get("kid") in keys, "kid is not in the key set")
    alg, joserfc_key, pyjwt_key = keys[header["kid"]]
    require(header["alg"] == alg, "alg is not the key's")
    require(header.get("typ") == a.typ, "typ")
    if alg == "ES256":
        require(len(part(pieces[2])) == 64, "an ES256 signature has 64 bytes")
    try:
        jwt.decode(token, joserfc_key, algorithms=[alg])
    except (JoseError, ValueError) as e:
        raise Fault("joserfc: %s" % type(e).__name__) from None
    try:
        pyjwt.decode(token, pyjwt_key, algorithms=[alg], audience=a.audience, issuer=a.client_id,
                     options={"require": ["iss", "sub", "aud", "iat", "exp", "jti"]})
    except pyjwt.PyJWTError as e:
        raise Fault("PyJWT: %s" % type(e).__name__) from None
    require(claims["iss"] == a.client_id and claims["sub"] == a.client_id, "iss or sub")
    require(claims["aud"] == a.audience, "aud is not the issuer, one string")
    require(type(claims["iat"]) is int and type(claims["exp"]) is int, "iat and exp are whole numbers")
    require(claims["iat"] <= time.time() < claims["exp"], "not valid now")
    require(claims["exp"] - claims["iat"] == a.lifetime, "lifetime is %d" % (claims["exp"] - claims["iat"]))
    require("nbf" not in claims or claims["nbf"] <= claims["iat"], "nbf")
    require(len(part(claims["jti"])) >= 16, "jti has less than 128 bits")
    if a.jkt:
        require(claims.get("cnf") == {"jkt": a.jkt}, "cnf.jkt")
    return claims["jti"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--jwks", required=True, help="the client's public key set, as the broker serves it")
    p.add_argument("--client-id", required=True)
    p.add_argument("--audience", required=True)
    p.add_argument("--jkt", help="the thumbprint each assertion must carry as cnf.jkt")
    p.add_argument("--lifetime", type=int, default=60, help="exp - iat, in seconds")
    p.add_argument("--typ", default="client-authentication+jwt")
    a = p.parse_args()
    seen = set()
    try:
        keys = read_keys(a.jwks)
        for number, line in enumerate(sys.stdin, 1):
            try:
                jti = verify(line.rstrip("\n"), keys, a)
                require(jti not in seen, "jti was seen before")
            except Fault as e:
                raise Fault("assertion %d: %s" % (number, e)) from None
            except (ValueError, KeyError, TypeError, AttributeError) as e:
                raise Fault("assertion %d: malformed (%s)" % (number, type(e).__name__)) from None
            seen.add(jti)
            print(jti)
        require(seen, "no assertion came in")
    except Fault as e:
        sys.exit("verify_assertions.py: %s" % e)


if __name__ == "__main__":
    main()
