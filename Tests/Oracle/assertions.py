"""Makes client assertions with libraries that share no code with this project: PyJWT and joserfc.

Reads one question a line ({"library", "alg", "header", "claims"}), writes one answer a line ({"token", "jwk"}): the token,
by a new key, and that key's public JWK.
"""
import json
import sys

import jwt as pyjwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey


def make(question):
    key = ECKey.generate_key("P-256") if question["alg"] == "ES256" else RSAKey.generate_key(2048)
    public = key.as_dict(private=False)
    public.pop("kid", None)
    header = dict(question["header"], alg=question["alg"])
    if question["library"] == "joserfc":
        token = jwt.encode(header, question["claims"], key, algorithms=[question["alg"]])
    else:
        private = load_pem_private_key(key.as_pem(private=True), None)
        token = pyjwt.encode(question["claims"], private, question["alg"], headers=header)
    return {"token": token, "jwk": public}


for line in sys.stdin:
    if line.strip():
        print(json.dumps(make(json.loads(line))))
