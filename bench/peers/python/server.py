"""Peer: what a tenant would write on Python, without a framework's cost: ASGI on uvicorn (uvloop, httptools), asyncpg, orjson,
cryptography. Run as `uvicorn server:app --workers N`."""
import os
import secrets
import time
from base64 import urlsafe_b64encode

import asyncpg
import orjson
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key


def read(name):
    with open(os.environ[name], "rb") as file:
        return file.read()


def b64url(data):
    return urlsafe_b64encode(data).rstrip(b"=")


KEY = load_pem_private_key(read("KEY"), None)
SQL = read("MINT_SQL").decode()
ALGORITHM = ECDSA(SHA256())
HEADER = b64url(orjson.dumps({"alg": "ES256", "typ": "JWT", "kid": "k1"})) + b"."
JSON = (b"content-type", b"application/json")
pool = None


async def lifespan(receive, send):
    global pool
    await receive()
    size = int(os.environ["POOL"])
    # The socket's directory comes from PGHOST, as for every libpq-like client.
    pool = await asyncpg.create_pool(min_size=size, max_size=size)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await pool.close()
    await send({"type": "lifespan.shutdown.complete"})


async def answer(send, status, body=b""):
    headers = [JSON, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    body, more = b"", True
    while more:
        part = await receive()
        body, more = body + part.get("body", b""), part.get("more_body", False)
    ask = orjson.loads(body)
    client, jkt = ask["client_id"], ask["dpop_jkt"]
    now, jti = int(time.time()), secrets.token_urlsafe(16)
    if not await pool.fetchval(SQL, client, jkt, jti):
        return await answer(send, 429)
    claims = {"iss": client, "sub": client, "aud": ask["audience"], "iat": now, "exp": now + 60, "jti": jti, "cnf": {"jkt": jkt}}
    signed = HEADER + b64url(orjson.dumps(claims))
    r, s = decode_dss_signature(KEY.sign(signed, ALGORITHM))
    assertion = signed + b"." + b64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    await answer(send, 200, orjson.dumps({"client_assertion": assertion.decode(), "jti": jti, "expires_in": 60}))
