"""The client half of check.py: HTTP without redirects, a DPoP key, and where assertions come from."""
import atexit
import base64
import hashlib
import http.cookiejar
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def parts(token):
    head, body, _ = token.split(".")
    return json.loads(unb64(head)), json.loads(unb64(body))


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args, **kwargs):
        return None


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text
        try:
            self.json = json.loads(text)
        except ValueError:
            self.json = {}
        if not isinstance(self.json, dict):
            self.json = {}

    def short(self):
        error = self.json.get("error")
        return "%d%s" % (self.status, " " + error if error else "")


class Http:
    def __init__(self):
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), NoRedirect,
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def send(self, method, url, form=None, body=None, headers=None):
        data, kind = None, None
        if form is not None:
            data, kind = urllib.parse.urlencode(form).encode(), "application/x-www-form-urlencoded"
        elif body is not None:
            data, kind = json.dumps(body).encode(), "application/json"
        req = urllib.request.Request(url, data=data, method=method, headers=headers or {})
        if kind:
            req.add_header("Content-Type", kind)
        try:
            with self.opener.open(req, timeout=15) as res:
                return Answer(res.status, res.headers, res.read().decode())
        except urllib.error.HTTPError as e:
            return Answer(e.code, e.headers, e.read().decode(errors="replace"))


class Dpop:
    folder = None

    def __init__(self):
        self.key = ECKey.generate_key("P-256", private=True)
        self.jkt = self.key.thumbprint()
        self.nonce = None
        self._file = None

    def file(self):
        if self._file is None:
            if Dpop.folder is None:
                Dpop.folder = tempfile.mkdtemp(prefix="dpop-")  # readable by this user only
                atexit.register(shutil.rmtree, Dpop.folder, True)
            self._file = os.path.join(Dpop.folder, self.jkt + ".jwk")
            with open(self._file, "w", encoding="utf-8") as f:
                json.dump({k: v for k, v in self.key.as_dict(private=True).items() if k in ("kty", "crv", "x", "y", "d")}, f)
        return self._file

    def proof(self, method, url, access_token=None, **override):
        claims = {"jti": secrets.token_urlsafe(16), "htm": method, "htu": url, "iat": int(time.time())}
        if self.nonce is not None:
            claims["nonce"] = self.nonce
        if access_token is not None:
            claims["ath"] = b64(hashlib.sha256(access_token.encode()).digest())
        claims.update(override)
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.as_dict(private=False)}
        head["jwk"] = {k: head["jwk"][k] for k in ("kty", "crv", "x", "y")}
        return jwt.encode(head, claims, self.key, algorithms=["ES256"],
                          registry=jws.JWSRegistry(algorithms=["ES256"], strict_check_header=False))


class Client:
    def __init__(self, peer, args):
        self.peer, self.args = peer, args
        self.keys = None
        if args.keys:
            with open(args.keys, encoding="utf-8") as f:
                self.keys = KeySet.import_key_set(json.load(f))
        self.minted = []

    def key(self, alg):
        for k in self.keys.keys:
            if k.alg == alg or (k.alg is None and (k.key_type == "EC") == (alg == "ES256")):
                return k
        raise SystemExit("--keys holds no %s key" % alg)

    def make(self, audience, alg=None, signer=None, head=None, drop=(), **claims):
        """An assertion of our own; `claims`, `head` and `drop` bend it."""
        alg = alg or self.args.alg
        key = signer or self.key(alg)
        now = int(time.time())
        body = {"iss": self.peer["client_id"], "sub": self.peer["client_id"], "aud": audience,
                "iat": now, "exp": now + 60, "jti": secrets.token_urlsafe(16)}
        body.update(claims)
        for name in drop:
            del body[name]
        h = {"alg": alg, "kid": key.kid, "typ": "JWT"}
        h.update(head or {})
        h = {k: v for k, v in h.items() if v is not None}
        return jws.serialize_compact(h, json.dumps(body).encode(), key, algorithms=[alg])

    def mint(self, endpoint, dpop):
        audience = self.peer["issuer"] if self.args.audience == "issuer" else endpoint
        if not self.args.assertion_cmd:
            token = self.make(audience)
        else:
            env = dict(os.environ, CLIENT_ID=self.peer["client_id"], AUDIENCE=audience, DPOP_JKT=dpop.jkt,
                       DPOP_KEY_FILE=dpop.file())
            run = subprocess.run(["/bin/sh", "-c", self.args.assertion_cmd], env=env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, timeout=60)
            token = run.stdout.decode().strip()
            if run.returncode != 0 or token.count(".") != 2:
                raise SystemExit("--assertion-cmd: status %d, %d characters that are no compact JWS"
                                 % (run.returncode, len(token)))
        self.minted.append((audience, token))
        return token
