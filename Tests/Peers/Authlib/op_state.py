"""What op.py keeps and decides without a request at hand: strict decoding, single use, nonces, and its records."""
import base64
import hashlib
import hmac
import json
import secrets
import threading
import time

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion

ALGS = ["ES256", "PS256"]
METHOD = JWTBearerClientAssertion.CLIENT_AUTH_METHOD
LEEWAY = 5


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def no_duplicates(pairs):
    out = {}
    for k, v in pairs:
        if k in out:
            raise ValueError("duplicate member")
        out[k] = v
    return out


def decode_strict(token):
    """Header and payload of a compact JWS, read apart from the library: canonical base64url
    without padding, JSON objects without duplicate members.  Raises ValueError."""
    if not isinstance(token, str) or token.count(".") != 2:
        raise ValueError("not a compact JWS")
    raw = []
    for part in token.split("."):
        data = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
        if b64(data) != part:
            raise ValueError("base64url is not canonical")
        raw.append(data)
    header, claims = (json.loads(x.decode("utf-8"), object_pairs_hook=no_duplicates) for x in raw[:2])
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise ValueError("not a JSON object")
    for name in ("jwk", "jku", "x5c", "x5u", "crit"):
        if name in header and not (name == "jwk" and header.get("typ") == "dpop+jwt"):
            raise ValueError("header member not allowed")
    return header, claims


class Once:
    """Values seen, until they cannot be valid any more."""

    def __init__(self):
        self.lock, self.seen = threading.Lock(), {}

    def spend(self, value, until):
        now = time.time()
        with self.lock:
            if len(self.seen) > 10000:
                self.seen = {k: t for k, t in self.seen.items() if t > now}
            if self.seen.get(value, 0) > now:
                return False
            self.seen[value] = until
            return True


class Nonces:
    """Server nonces: HMAC over a time slot; the current and the previous slot are good."""

    def __init__(self, lifetime):
        self.key, self.lifetime = secrets.token_bytes(32), lifetime

    def _at(self, slot):
        return b64(hmac.new(self.key, b"%d" % slot, hashlib.sha256).digest()[:18])

    def current(self):
        return self._at(int(time.time() // self.lifetime))

    def good(self, nonce):
        slot = int(time.time() // self.lifetime)
        return isinstance(nonce, str) and any(hmac.compare_digest(nonce.encode(), self._at(s).encode())
                                              for s in (slot, slot - 1))


class InvalidDpopProof(OAuth2Error):
    error = "invalid_dpop_proof"


class UseDpopNonce(OAuth2Error):
    error = "use_dpop_nonce"

    def get_body(self):
        return [("error", self.error), ("error_description", "a nonce of this server is required")]


class Client:
    def __init__(self, a, keys):
        self.client_id, self.redirect_uris, self.scope, self.keys = a.client_id, a.redirect_uri, a.scope, keys

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(s for s in (scope or "").split() if s in self.scope.split())

    def check_redirect_uri(self, uri):
        return uri in self.redirect_uris

    def check_client_secret(self, _):
        return False

    def check_endpoint_auth_method(self, method, endpoint):
        return method == METHOD

    def check_response_type(self, t):
        return t == "code"

    def check_grant_type(self, t):
        return t in ("authorization_code", "refresh_token")


class Code:
    def __init__(self, **kw):
        self.__dict__.update(kw)
        self.family = None

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Refresh:
    def __init__(self, **kw):
        self.__dict__.update(kw)
        self.spent = False

    def check_client(self, client):
        return client.client_id == self.client_id

    def get_scope(self):
        return self.scope


class Family:
    """Everything one authorization led to."""

    def __init__(self, nonce):
        self.live, self.nonce, self.auth_time = True, nonce, int(time.time())
        self.id = secrets.token_urlsafe(16)
