#!/usr/bin/env python3
"""A strict OpenID provider on loopback, built on Authlib (grants, PKCE, private_key_jwt,
revocation) and joserfc (JOSE).  A second peer for this project, independent of its code.

  op.py --port N --jwks-file F [--issuer URL] [options]

Needs the Python packages:  authlib joserfc flask
Runs in the foreground on 127.0.0.1:N, prints one line of JSON (its metadata and the test
user) on stdout once it listens, writes the same to --info FILE, and ends on SIGTERM.  All
state is in memory.

What it enforces (the FAPI 2.0 rules for client assertions and DPoP):
  client assertion  alg ES256 or PS256 and equal to the alg of the registered key named by kid;
                    iss = sub = client_id; aud is a string equal to the issuer (an array or the
                    token endpoint's URL is invalid_client); exp a number, not past, at most
                    --max-lifetime ahead; iat and nbf, if there, not ahead; jti a string, used
                    once; no duplicate JSON members; no jwk, jku, x5c, x5u or crit header.
                    The jti is spent as soon as signature and claims hold, whatever the rest of
                    the request comes to: a nonce challenge spends it too.
  DPoP              required at the token endpoint; ES256 or PS256, htm, htu, iat, jti used once,
                    a nonce of the server (400 use_dpop_nonce); at /userinfo ath and a nonce of
                    its own (401 with WWW-Authenticate: DPoP error="use_dpop_nonce").
  PKCE              S256 only.  Codes live 60 s and are single-use; a second use revokes the session.
  refresh token     bound to the DPoP key, rotated; a second use revokes the whole family.
  POST /assertion   verifies a client assertion alone and spends its jti: 200 or 401.
Endpoints: /authorize (the test user is always signed in and consents), /par, /token, /revoke,
/userinfo, /jwks, /.well-known/openid-configuration, /.well-known/oauth-authorization-server.
"""
import argparse
import hashlib
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from urllib.parse import quote, urlsplit

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # plain http: this server is reached on loopback only

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError, InvalidGrantError, InvalidRequestError, grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, g, jsonify, request
from joserfc import jwk, jws, jwt
from joserfc.errors import JoseError
from werkzeug.serving import make_server

from op_state import (ALGS, LEEWAY, METHOD, Client, Code, Family, InvalidDpopProof, Nonces, Once, Refresh, UseDpopNonce,
                      b64, decode_strict, is_number)


class Op:
    def __init__(self, a):
        self.a = a
        self.base = "%s://127.0.0.1:%d" % ("https" if a.tls_cert else "http", a.port)
        self.issuer = a.issuer = a.issuer or self.base
        with open(a.jwks_file, encoding="utf-8") as f:
            data = json.load(f)
        keys = {}
        for k in data["keys"]:
            if "d" in k or k.get("kty") not in ("EC", "RSA") or k.get("alg") not in ALGS or not k.get("kid"):
                raise SystemExit("op.py: each key of --jwks-file must be public, EC or RSA, with a kid and alg ES256 or PS256")
            if k["kid"] in keys:
                raise SystemExit("op.py: kid given twice")
            keys[k["kid"]] = (k["alg"], jwk.import_key(k))
        self.client = Client(a, keys)
        self.signing = jwk.ECKey.generate_key("P-256", {"alg": "ES256", "use": "sig", "kid": "op-" + secrets.token_hex(4)}, private=True)
        self.lock = threading.RLock()
        self.assertions, self.proofs = Once(), Once()
        self.nonces, self.api_nonces = Nonces(a.nonce_lifetime), Nonces(a.nonce_lifetime)
        self.codes, self.refreshes, self.pushed, self.revoked_at = {}, {}, {}, set()
        self.counts = {"assertions_ok": 0, "assertions_refused": 0}

    # -- DPoP ---------------------------------------------------------------
    def proof(self, url, nonces, access_token=None):
        """The thumbprint of the proof's key; raises InvalidDpopProof or UseDpopNonce."""
        values = request.headers.getlist("DPoP")
        if len(values) != 1:
            raise InvalidDpopProof("one DPoP header is needed")
        try:
            header, claims = decode_strict(values[0])
            public = header.get("jwk")
            if header.get("typ") != "dpop+jwt" or header.get("alg") not in ALGS or not isinstance(public, dict):
                raise ValueError("header")
            if "d" in public or public.get("kty") != {"ES256": "EC", "PS256": "RSA"}[header["alg"]]:
                raise ValueError("jwk")
            key = jwk.import_key(public)
            jwt.decode(values[0], key, algorithms=ALGS,
                       registry=jws.JWSRegistry(algorithms=ALGS, strict_check_header=False))
        except (ValueError, KeyError, TypeError, JoseError):
            raise InvalidDpopProof("not a valid proof") from None
        now = time.time()
        if claims.get("htm") != request.method or claims.get("htu") != url:
            raise InvalidDpopProof("htm or htu")
        if not is_number(claims.get("iat")) or not now - self.a.dpop_max_age <= claims["iat"] <= now + LEEWAY:
            raise InvalidDpopProof("iat")
        if not isinstance(claims.get("jti"), str) or not claims["jti"]:
            raise InvalidDpopProof("jti")
        if access_token is not None and claims.get("ath") != b64(hashlib.sha256(access_token.encode()).digest()):
            raise InvalidDpopProof("ath")
        if self.a.dpop_nonce == "on" and not nonces.good(claims.get("nonce")):
            raise UseDpopNonce()
        jkt = key.thumbprint()
        if not self.proofs.spend((jkt, claims["jti"]), now + 2 * self.a.dpop_max_age):
            raise InvalidDpopProof("jti used before")
        return jkt

    # -- tokens -------------------------------------------------------------
    def sign(self, typ, claims):
        return jwt.encode({"alg": "ES256", "kid": self.signing.kid, "typ": typ}, claims, self.signing)

    def make_tokens(self, grant_type, client, user=None, scope=None, expires_in=None, include_refresh_token=True):
        now = int(time.time())
        family = g.family
        access = self.sign("at+jwt", {
            "iss": self.issuer, "sub": user, "aud": self.a.audience, "client_id": client.client_id, "scope": scope,
            "iat": now, "exp": now + self.a.access_token_lifetime, "jti": secrets.token_urlsafe(16),
            "cnf": {"jkt": g.jkt}, "sid": family.id})
        token = {"token_type": "DPoP", "access_token": access, "expires_in": self.a.access_token_lifetime, "scope": scope}
        if "openid" in (scope or "").split():
            claims = {"iss": self.issuer, "sub": user, "aud": client.client_id, "iat": now, "exp": now + 300,
                      "auth_time": family.auth_time}
            if grant_type == "authorization_code" and family.nonce:
                claims["nonce"] = family.nonce
            token["id_token"] = self.sign("JWT", claims)
        if "offline_access" in (scope or "").split():
            value = secrets.token_urlsafe(32)
            token["refresh_token"] = value
            with self.lock:
                self.refreshes[value] = Refresh(value=value, client_id=client.client_id, user=user, scope=scope, jkt=g.jkt,
                                                family=family, until=time.time() + self.a.refresh_token_lifetime)
        return token


def build(a):
    op = Op(a)
    app = Flask("op")
    server = AuthorizationServer(app, query_client=lambda cid: op.client if cid == op.client.client_id else None,
                                 save_token=lambda token, req: None)
    server.register_token_generator("default", op.make_tokens)

    class Assertion(JWTBearerClientAssertion):
        def __call__(self, query_client, req):
            form = request.form
            if len(form.getlist("client_assertion")) != 1 or len(form.getlist("client_assertion_type")) != 1:
                raise InvalidClientError("exactly one client assertion is needed", status_code=401)
            if "client_secret" in form or request.authorization is not None:
                raise InvalidClientError("more than one client authentication", status_code=401)
            try:
                client = super().__call__(query_client, req)
                if client is None:
                    raise InvalidClientError("unknown client_assertion_type")
                if "client_id" in form and form["client_id"] != client.client_id:
                    raise InvalidClientError("client_id is not the subject of the assertion")
            except InvalidClientError as e:
                op.counts["assertions_refused"] += 1
                e.status_code = 401
                e.get_headers = lambda: [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
                raise
            op.counts["assertions_ok"] += 1
            return client

        def get_audiences(self):
            return [op.issuer]

        def resolve_client_public_key(self, client):
            try:
                header, _ = decode_strict(request.form["client_assertion"])
            except (ValueError, UnicodeDecodeError):
                raise InvalidClientError("malformed assertion") from None
            known = client.keys.get(header.get("kid")) if isinstance(header.get("kid"), str) else None
            if known is None:
                raise InvalidClientError("kid is not registered")
            if header.get("alg") != known[0]:
                raise InvalidClientError("alg is not the registered one")
            if header.get("typ") not in (None, "JWT", "client-authentication+jwt"):
                raise InvalidClientError("typ")
            return known[1]

        def process_assertion_claims(self, assertion, key):
            try:
                token = jwt.decode(assertion, key, algorithms=ALGS)
            except (JoseError, ValueError):
                raise InvalidClientError("signature") from None
            claims, now = token.claims, time.time()
            if not isinstance(claims.get("aud"), str) or claims["aud"] != op.issuer:
                raise InvalidClientError("aud must be the issuer, a string")
            if not is_number(claims.get("exp")) or claims["exp"] <= now:
                raise InvalidClientError("exp")
            if claims["exp"] > now + a.max_lifetime + LEEWAY:
                raise InvalidClientError("exp is too far ahead")
            for name in ("iat", "nbf"):
                if name in claims and not (is_number(claims[name]) and claims[name] <= now + LEEWAY):
                    raise InvalidClientError(name)
            if not isinstance(claims.get("jti"), str) or not 1 <= len(claims["jti"]) <= 256:
                raise InvalidClientError("jti")
            self.verify_claims(claims)  # Authlib's own checks; spends the jti last
            return claims

        def validate_jti(self, claims, jti):
            return op.assertions.spend((claims["sub"], jti), claims["exp"] + self.leeway + LEEWAY)

    server.register_client_auth_method(METHOD, Assertion(validate_jti=True, leeway=LEEWAY))

    class DpopGrant:
        TOKEN_ENDPOINT_AUTH_METHODS = [METHOD]

        def authenticate_token_endpoint_client(self):
            client = super().authenticate_token_endpoint_client()  # spends the assertion
            g.jkt = op.proof(op.base + "/token", op.nonces)
            return client

    class CodeGrant(DpopGrant, grants.AuthorizationCodeGrant):
        def save_authorization_code(self, code, req):
            p = g.params
            with op.lock:
                op.codes[code] = Code(code=code, client_id=req.client.client_id, redirect_uri=req.payload.redirect_uri,
                                      scope=req.client.get_allowed_scope(req.payload.scope), user=a.user, nonce=p.get("nonce"),
                                      challenge=p.get("code_challenge"), method=p.get("code_challenge_method"),
                                      jkt=p.get("dpop_jkt"), until=time.time() + a.code_lifetime, used=False)

        def query_authorization_code(self, code, client):
            with op.lock:
                c = op.codes.get(code)
                if c is None or c.client_id != client.client_id or c.until < time.time():
                    return None
                if c.used:
                    if c.family:
                        c.family.live = False
                    return None
            if c.jkt and c.jkt != g.jkt:
                raise InvalidGrantError("dpop_jkt")
            return c

        def validate_token_request(self):
            super().validate_token_request()
            c = self.request.authorization_code
            # PKCE runs as a hook after this method; the code is spent in authenticate_user below.
            g.family = Family(c.nonce)

        def authenticate_user(self, c):
            with op.lock:
                if c.used:
                    c.family.live = False
                    raise InvalidGrantError("code used before")
                c.used, c.family = True, g.family
            return c.user

        def delete_authorization_code(self, c):
            pass  # kept, so that a second use is noticed

    class S256(CodeChallenge):
        SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]
        DEFAULT_CODE_CHALLENGE_METHOD = "S256"

        def get_authorization_code_challenge(self, c):
            return c.challenge

        def get_authorization_code_challenge_method(self, c):
            return c.method

    class RefreshGrant(DpopGrant, grants.RefreshTokenGrant):
        INCLUDE_NEW_REFRESH_TOKEN = True

        def authenticate_refresh_token(self, value):
            with op.lock:
                r = op.refreshes.get(value)
                if r is None or r.until < time.time() or not r.family.live:
                    return None
                if r.jkt != g.jkt:
                    raise InvalidGrantError("bound to another DPoP key")
                if r.spent:
                    r.family.live = False
                    return None
                r.spent = True  # before the successor exists: two requests at once cannot both win
            g.family = r.family
            return r

        def authenticate_user(self, r):
            return r.user

        def revoke_old_credential(self, r):
            pass

    server.register_grant(CodeGrant, [S256(required=True)])
    server.register_grant(RefreshGrant)

    class Revoke(RevocationEndpoint):
        CLIENT_AUTH_METHODS = [METHOD]

        def query_token(self, value, hint):
            return op.refreshes.get(value)

        def revoke_token(self, token, req):
            token.family.live = False

    server.register_endpoint(Revoke)

    @app.after_request
    def headers(res):
        res.headers.setdefault("Cache-Control", "no-store")
        if request.path in ("/token", "/par") and a.dpop_nonce == "on":
            res.headers["DPoP-Nonce"] = op.nonces.current()
        return res

    def client_only(endpoint):
        req = server.create_oauth2_request(None)
        return server.authenticate_client(req, [METHOD], endpoint)

    def refusal(e):
        status, body, hdrs = e()
        return server.handle_response(status, dict(body), hdrs)

    @app.post("/token")
    def token():
        return server.create_token_response()

    @app.post("/revoke")
    def revoke():
        return server.create_endpoint_response("revocation")

    @app.post("/assertion")
    def assertion():
        try:
            return jsonify(client_id=client_only("assertion").client_id)
        except OAuth2Error as e:
            return refusal(e)

    @app.post("/par")
    def par():
        try:
            client_only("par")
            params = {k: v for k, v in request.form.items() if k not in ("client_assertion", "client_assertion_type")}
            if "request_uri" in params:
                raise InvalidRequestError("request_uri")
            if "DPoP" in request.headers:
                jkt = op.proof(op.base + "/par", op.nonces)
                if params.setdefault("dpop_jkt", jkt) != jkt:
                    raise InvalidDpopProof("dpop_jkt")
        except OAuth2Error as e:
            return refusal(e)
        uri = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(24)
        with op.lock:
            op.pushed[uri] = (time.time() + 60, params)
        return jsonify(request_uri=uri, expires_in=60), 201

    @app.get("/authorize")
    def authorize():
        args = request.args.to_dict()
        if "request_uri" in args:
            with op.lock:
                until, params = op.pushed.pop(args["request_uri"], (0, None))
            if params is None or until < time.time() or params.get("client_id") != args.get("client_id"):
                return jsonify(error="invalid_request", error_description="request_uri"), 400
            g.params = params
            # hand the pushed parameters to Authlib as if they had come in the query
            with app.test_request_context("/authorize", query_string=params):
                g.params = params
                return finish(params)
        if a.par == "required":
            return jsonify(error="invalid_request", error_description="pushed authorization requests only"), 400
        g.params = args
        return finish(args)

    def finish(params):
        # Authlib asks only public clients for a challenge; here every client needs one.
        if params.get("code_challenge_method") != "S256" or not params.get("code_challenge") or not params.get("redirect_uri"):
            return jsonify(error="invalid_request", error_description="PKCE with S256 and redirect_uri are required"), 400
        try:
            grant = server.get_consent_grant(end_user=a.user)
        except OAuth2Error as e:
            return refusal(e)
        res = server.create_authorization_response(grant_user=a.user, grant=grant)
        where = res.headers.get("Location")
        if where:  # RFC 9207
            res.headers["Location"] = where + ("&" if urlsplit(where).query else "?") + "iss=" + quote(op.issuer, safe="")
        return res

    @app.route("/userinfo", methods=["GET", "POST"])
    def userinfo():
        def challenge(error):
            res = jsonify(error=error)
            res.status_code = 401
            res.headers["WWW-Authenticate"] = 'DPoP error="%s", algs="ES256 PS256"' % error
            if a.dpop_nonce == "on":
                res.headers["DPoP-Nonce"] = op.api_nonces.current()
            return res
        scheme, _, value = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "dpop":
            return challenge("invalid_token")
        try:
            claims = jwt.decode(value, op.signing, algorithms=["ES256"]).claims
        except (JoseError, ValueError):
            return challenge("invalid_token")
        with op.lock:
            live = any(r.family.id == claims.get("sid") and r.family.live for r in op.refreshes.values()) or \
                any(c.family is not None and c.family.id == claims.get("sid") and c.family.live for c in op.codes.values())
        if claims["exp"] <= time.time() or not live:
            return challenge("invalid_token")
        try:
            jkt = op.proof(op.base + "/userinfo", op.api_nonces, value)
        except OAuth2Error as e:
            return challenge(e.error)
        if jkt != claims["cnf"]["jkt"]:
            return challenge("invalid_dpop_proof")
        res = jsonify(sub=claims["sub"])
        if a.dpop_nonce == "on":
            res.headers["DPoP-Nonce"] = op.api_nonces.current()
        return res

    @app.get("/jwks")
    def jwks():
        return jsonify(keys=[op.signing.as_dict(private=False)])

    metadata = {
        "issuer": op.issuer,
        "authorization_endpoint": op.base + "/authorize", "token_endpoint": op.base + "/token",
        "pushed_authorization_request_endpoint": op.base + "/par", "revocation_endpoint": op.base + "/revoke",
        "userinfo_endpoint": op.base + "/userinfo", "jwks_uri": op.base + "/jwks",
        "response_types_supported": ["code"], "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"], "scopes_supported": a.scope.split(),
        "id_token_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ALGS,
        "revocation_endpoint_auth_methods_supported": ["private_key_jwt"],
        "dpop_signing_alg_values_supported": ALGS,
        "authorization_response_iss_parameter_supported": True,
        "require_pushed_authorization_requests": a.par == "required",
    }

    @app.get("/.well-known/openid-configuration")
    @app.get("/.well-known/oauth-authorization-server")
    def discovery():
        return jsonify(metadata)

    @app.get("/counts")
    def counts():
        return jsonify(op.counts)

    return op, app, metadata


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--port", type=int, required=True, help="0: any free one")
    p.add_argument("--tls-cert", help="PEM file; the server then speaks TLS")
    p.add_argument("--tls-key", help="PEM file")
    p.add_argument("--jwks-file", required=True, help="the client's public keys, each with kid and alg")
    p.add_argument("--issuer", help="issuer identifier; any URL, it need not be this server's address, which is the default")
    p.add_argument("--client-id", default="app1")
    p.add_argument("--redirect-uri", action="append")
    p.add_argument("--user", default="alice")
    p.add_argument("--scope", default="openid offline_access")
    p.add_argument("--audience", default="https://api.example.test", help="aud of the access tokens")
    p.add_argument("--max-lifetime", type=int, default=300, help="seconds an assertion's exp may be ahead")
    p.add_argument("--dpop-nonce", choices=("on", "off"), default="on")
    p.add_argument("--nonce-lifetime", type=int, default=30, help="seconds; the previous nonce is still good")
    p.add_argument("--dpop-max-age", type=int, default=60)
    p.add_argument("--par", choices=("required", "allowed"), default="allowed")
    p.add_argument("--code-lifetime", type=int, default=60)
    p.add_argument("--access-token-lifetime", type=int, default=120)
    p.add_argument("--refresh-token-lifetime", type=int, default=3600)
    p.add_argument("--info", help="write the printed JSON to this file as well")
    p.add_argument("--verbose", action="store_true", help="log requests to stderr")
    a = p.parse_args()
    a.redirect_uri = a.redirect_uri or ["https://app.example.test/cb"]
    if not a.verbose:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
    listening = socket.create_server(("127.0.0.1", a.port))
    a.port = listening.getsockname()[1]
    op, app, metadata = build(a)
    import authlib
    httpd = make_server("127.0.0.1", a.port, app, threaded=True, fd=listening.fileno(),
                        ssl_context=(a.tls_cert, a.tls_key) if a.tls_cert else None)
    info = dict(metadata, kind="strict", client_id=a.client_id, redirect_uris=a.redirect_uri, scope=a.scope, user=a.user,
                discovery=op.base + "/.well-known/openid-configuration", assertion_endpoint=op.base + "/assertion",
                dpop="required", dpop_nonce=a.dpop_nonce, par=a.par, signing_alg="ES256",
                max_assertion_age=a.max_lifetime, version="authlib " + authlib.__version__, pid=os.getpid())
    if a.info:
        with open(a.info + ".part", "w", encoding="utf-8") as f:
            json.dump(info, f, indent=2)
        os.replace(a.info + ".part", a.info)
    print(json.dumps(info), flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        httpd.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
