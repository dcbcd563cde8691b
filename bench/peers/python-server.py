"""Peer: FastAPI + PyJWT + asyncpg, run as `uvicorn python-server:app --workers 2`."""
import os, secrets, time
import asyncpg, jwt
from contextlib import asynccontextmanager
from fastapi import FastAPI, Response
from pydantic import BaseModel
from cryptography.hazmat.primitives.serialization import load_pem_private_key

KEY = load_pem_private_key(open(os.environ["KEY"], "rb").read(), None)

class Ask(BaseModel):
    client_id: str
    audience: str
    dpop_jkt: str

@asynccontextmanager
async def life(app):
    app.pool = await asyncpg.create_pool(min_size=16, max_size=16)
    yield

app = FastAPI(lifespan=life)

@app.post("/v1/assertions")
async def mint(ask: Ask):
    now, jti = int(time.time()), secrets.token_urlsafe(16)
    async with app.pool.acquire() as c:
        ok = await c.fetchval("select peer_mint($1,$2,$3,interval '1 s',interval '1 hour')", ask.client_id, ask.dpop_jkt, jti)
    if not ok:
        return Response(status_code=429)
    token = jwt.encode({"iss": ask.client_id, "sub": ask.client_id, "aud": ask.audience, "iat": now, "exp": now + 60, "jti": jti}, KEY, "ES256", {"kid": "k1"})
    return {"client_assertion": token, "expires_in": 60}
