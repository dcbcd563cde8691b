#!/usr/bin/env python3
"""Act as an OAuth client against a peer: Glewlwyd as `Glewlwyd/up` started it, or Authlib/op.py.

  check.py --dir DIR --keys PRIVATE_JWKS [--alg ES256|PS256]
  check.py --dir DIR --assertion-cmd CMD
  check.py --peer FILE ...          FILE: the JSON that up or op.py printed

With --keys the client makes its own private_key_jwt assertions.  With
--assertion-cmd each assertion is what CMD (run by /bin/sh) prints on standard
output; its environment then holds
  CLIENT_ID   the client the assertion must name as iss and sub
  AUDIENCE    the string the assertion must carry as aud
  DPOP_JKT    the RFC 7638 thumbprint of the DPoP key of the calling install
  DPOP_KEY_FILE  a file with that key as a private JWK, for a command that calls a
              service which wants a DPoP proof from its callers
The command is run anew for every HTTP attempt.  The cases that need a malformed
assertion need the private key; without --keys they are skipped (given both, the
command makes the good assertions and the keys make the bad ones).

--audience token-endpoint (default for Glewlwyd) gives CMD the URL of the endpoint
called, which is what Glewlwyd 2.7 checks; --audience issuer (default for op.py)
gives it the issuer string.  With Glewlwyd that needs a peer started with
--issuer token-endpoint; its revocation and PAR endpoints then refuse the
assertion, which is recorded as such.

Needs the Python packages joserfc (and cryptography, which it brings).
Exit status 0: every case came out as expected.
"""
import argparse
import hashlib
import json
import os
import secrets
import sys
import time
import urllib.parse

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from peer_client import ASSERTION_TYPE, Client, Dpop, Http, b64, parts, unb64


class Check:
    def __init__(self, peer, args):
        self.peer, self.args = peer, args
        self.client = Client(peer, args)
        self.http = Http()
        self.rows = []
        self.strict = peer.get("kind") == "strict"
        # Glewlwyd wants the URL of the endpoint called, so an issuer audience fits at most one endpoint.
        self.one_endpoint = args.audience == "issuer" and not self.strict

    def row(self, name, expected, observed, ok):
        self.rows.append({"case": name, "expected": expected, "observed": observed, "ok": bool(ok)})
        print("%-4s %-58s expected %-34s observed %s" % ("ok" if ok else "FAIL", name, expected, observed))
        sys.stdout.flush()

    def skip(self, name, why):
        self.rows.append({"case": name, "skipped": why})
        print("skip %-58s %s" % (name, why))

    # -- calls --------------------------------------------------------------
    def post(self, which, form, assertion, dpop=None, proof=None, send_client_id=True):
        form = dict(form, client_assertion_type=ASSERTION_TYPE, client_assertion=assertion)
        if send_client_id:
            form["client_id"] = self.peer["client_id"]
        headers = {}
        if dpop is not None:
            headers["DPoP"] = proof or dpop.proof("POST", self.peer[which])
        res = self.http.send("POST", self.peer[which], form=form, headers=headers)
        if dpop is not None and res.headers.get("DPoP-Nonce"):
            dpop.nonce = res.headers["DPoP-Nonce"]
        return res

    def token(self, form, dpop, retry=True):
        """One token request; on a nonce challenge repeated once, with a fresh assertion and proof."""
        res = None
        for _ in range(2):
            res = self.post("token_endpoint", form, self.client.mint(self.peer["token_endpoint"], dpop), dpop)
            if not retry or res.json.get("error") != "use_dpop_nonce":
                break
        return res

    def login(self):
        if self.strict:
            return  # its test user is always signed in
        res = self.http.send("POST", self.peer["api"] + "/auth/",
                             body={"username": self.peer["user"], "password": self.peer["password"]})
        if res.status != 200:
            raise SystemExit("login answered " + res.short())

    def authorize(self, dpop, par=False, retry=True, **extra):
        verifier = secrets.token_urlsafe(48)
        state = secrets.token_urlsafe(12)
        params = {"response_type": "code", "client_id": self.peer["client_id"],
                  "redirect_uri": self.peer["redirect_uris"][0], "scope": self.peer["scope"],
                  "state": state, "nonce": secrets.token_urlsafe(12),
                  "code_challenge": b64(hashlib.sha256(verifier.encode()).digest()),
                  "code_challenge_method": "S256", "dpop_jkt": dpop.jkt}
        params.update(extra)
        params = {k: v for k, v in params.items() if v is not None}
        if par:
            endpoint = self.peer["pushed_authorization_request_endpoint"]
            res = self.post("pushed_authorization_request_endpoint", params,
                            self.client.mint(endpoint, dpop), dpop)
            if retry and res.json.get("error") == "use_dpop_nonce":
                res = self.post("pushed_authorization_request_endpoint", params,
                                self.client.mint(endpoint, dpop), dpop)
            if "request_uri" not in res.json:
                return None, None, res, params
            params_sent = {"client_id": self.peer["client_id"], "request_uri": res.json["request_uri"]}
        else:
            params_sent = params
        query = urllib.parse.urlencode(params_sent) + "&g_continue"
        res = self.http.send("GET", self.peer["authorization_endpoint"] + "?" + query)
        back = urllib.parse.parse_qs(urllib.parse.urlsplit(res.headers.get("Location", "")).query)
        code = back.get("code", [None])[0]
        if code and back.get("state") != [state]:
            raise SystemExit("the authorization response lost the state")
        res.iss = back.get("iss", [None])[0]
        res.error = back.get("error", [None])[0]
        return code, verifier, res, params

    def code_form(self, code, verifier):
        return {"grant_type": "authorization_code", "code": code, "code_verifier": verifier,
                "redirect_uri": self.peer["redirect_uris"][0]}

    def probe(self, assertion, dpop):
        """Is this assertion accepted at the token endpoint?  The request redeems a fresh, good
        code with a good proof, so that 200 means accepted; a refusal leaves the code unspent."""
        if not getattr(self, "spare", None):
            self.spare = self.authorize(dpop)[:2]
        for _ in range(2):
            res = self.post("token_endpoint", self.code_form(*self.spare), assertion, dpop)
            if res.json.get("error") != "use_dpop_nonce":
                break
            # The nonce ran out: the assertion got as far as the DPoP check, so it was accepted.
            return True, res
        if res.status == 200:
            self.spare = None
            return True, res
        return False, res

    # -- cases --------------------------------------------------------------
    def prime(self, dpop):
        """Learn a current nonce.  (Glewlwyd keeps one per client, and only its token endpoint hands it out.)"""
        if self.peer["dpop_nonce"] == "on" and self.peer["par"] != "required":
            self.token(self.code_form(*self.authorize(dpop)[:2]), dpop)
            if dpop.nonce is None:
                raise SystemExit("no nonce to be had from the token endpoint")

    def flow(self, par):
        tag = "PAR + code" if par else "code"
        dpop = Dpop()
        if par and self.peer["dpop_nonce"] == "on" and not self.one_endpoint:
            _, _, res, _ = self.authorize(dpop, par=True, retry=False)
            seen = res.short() + (", DPoP-Nonce" if res.headers.get("DPoP-Nonce") else ", no DPoP-Nonce")
            if self.strict:
                self.row("PAR: proof without a nonce", "400 use_dpop_nonce, DPoP-Nonce", seen, seen == "400 use_dpop_nonce, DPoP-Nonce")
            else:
                self.row("PAR: proof without a nonce", "403 invalid_dpop_proof, no challenge", seen,
                         seen == "403 invalid_dpop_proof, no DPoP-Nonce")
            self.prime(dpop)
        code, verifier, res, params = self.authorize(dpop, par=par)
        if par and self.one_endpoint:
            self.row("PAR with aud = issuer", "refused (wants aud = the PAR endpoint)", res.short(), code is None)
            return
        self.row("%s: authorization request" % tag, "a code", "a code" if code else res.short(), code)
        if not code:
            return
        self.row("%s: iss in the authorization response" % tag, "the issuer", res.iss, res.iss == self.peer["issuer"])

        if self.peer["dpop_nonce"] == "on":
            dpop.nonce = None
            assertion = self.client.mint(self.peer["token_endpoint"], dpop)
            res = self.post("token_endpoint", self.code_form(code, verifier), assertion, dpop)
            self.row("%s: proof without a nonce" % tag, "400 use_dpop_nonce, DPoP-Nonce header",
                     res.short() + (", DPoP-Nonce" if res.headers.get("DPoP-Nonce") else ""),
                     res.status == 400 and res.json.get("error") == "use_dpop_nonce" and dpop.nonce)
            res = self.post("token_endpoint", self.code_form(code, verifier), assertion, dpop)
            self.row("%s: retry with the nonce but the SAME assertion" % tag, "refused (jti spent by the challenge)",
                     res.short(), res.status in (400, 401, 403) and "access_token" not in res.json)
        good = self.token(self.code_form(code, verifier), dpop)
        self.row("%s: fresh assertion, fresh proof" % tag, "200 DPoP", good.short() + " " + str(good.json.get("token_type")),
                 good.status == 200 and good.json.get("token_type") == "DPoP")
        if good.status != 200:
            return
        _, access = parts(good.json["access_token"])
        self.row("%s: access token bound to the DPoP key" % tag, "cnf.jkt = thumbprint",
                 "equal" if access.get("cnf", {}).get("jkt") == dpop.jkt else str(access.get("cnf")),
                 access.get("cnf", {}).get("jkt") == dpop.jkt)
        id_head, id_claims = parts(good.json["id_token"])
        self.row("%s: ID token" % tag, "%s, iss, aud, nonce" % self.peer["signing_alg"],
                 "%s, iss %s, aud %s, nonce %s" % (
                     id_head["alg"], id_claims["iss"] == self.peer["issuer"],
                     id_claims["aud"] in (self.peer["client_id"], [self.peer["client_id"]]),
                     id_claims.get("nonce") == params["nonce"]),
                 id_head["alg"] == self.peer["signing_alg"] and id_claims["iss"] == self.peer["issuer"]
                 and id_claims["aud"] in (self.peer["client_id"], [self.peer["client_id"]])
                 and id_claims.get("nonce") == params["nonce"])
        jwks = KeySet.import_key_set(json.loads(self.http.send("GET", self.peer["jwks_uri"]).text))
        try:
            jwt.decode(good.json["id_token"], jwks, algorithms=[self.peer["signing_alg"]])
            signed = "verifies"
        except Exception as e:
            signed = type(e).__name__
        self.row("%s: ID token signature against jwks_uri" % tag, "verifies", signed, signed == "verifies")

        url = self.peer["userinfo_endpoint"]
        for _ in range(2):
            info = self.http.send("GET", url, headers={
                "Authorization": "DPoP " + good.json["access_token"],
                "DPoP": dpop.proof("GET", url, good.json["access_token"])})
            if info.headers.get("DPoP-Nonce"):
                dpop.nonce = info.headers["DPoP-Nonce"]
            if info.status == 200:
                break
        self.row("%s: userinfo with DPoP" % tag, "200, same sub", "%s, sub %s" % (
            info.short(), info.json.get("sub") == id_claims["sub"]), info.status == 200 and info.json.get("sub") == id_claims["sub"])
        info = self.http.send("GET", url, headers={"Authorization": "Bearer " + good.json["access_token"]})
        self.row("%s: userinfo, bound token as Bearer" % tag, "refused", info.short(), info.status in (400, 401, 403))

        res = self.token(self.code_form(code, verifier), dpop)
        self.row("%s: code redeemed a second time" % tag, "refused", res.short(), "access_token" not in res.json)

    def refresh_and_revoke(self):
        dpop = Dpop()
        code, verifier, _, _ = self.authorize(dpop)
        first = self.token(self.code_form(code, verifier), dpop)
        if first.status != 200:
            self.row("refresh: a session to start from", "200", first.short(), False)
            return
        form = lambda t: {"grant_type": "refresh_token", "refresh_token": t}
        stolen = Dpop()
        res = self.token(form(first.json["refresh_token"]), stolen)
        self.row("refresh with another DPoP key", "refused", res.short(), "access_token" not in res.json)
        res = self.post("token_endpoint", form(first.json["refresh_token"]),
                        self.client.mint(self.peer["token_endpoint"], dpop))
        self.row("refresh without a DPoP proof", "refused", res.short(), "access_token" not in res.json)
        second = self.token(form(first.json["refresh_token"]), dpop)
        rotated = second.json.get("refresh_token") not in (None, first.json["refresh_token"])
        self.row("refresh with the right key", "200 DPoP, a new refresh token",
                 "%s %s, %s" % (second.short(), second.json.get("token_type"), "rotated" if rotated else "not rotated"),
                 second.status == 200 and second.json.get("token_type") == "DPoP" and rotated)
        if second.status != 200:
            return
        res = self.token(form(first.json["refresh_token"]), dpop)
        self.row("refresh with the spent token", "refused", res.short(), "access_token" not in res.json)
        res = self.token(form(second.json["refresh_token"]), dpop)
        self.row("refresh with the successor after that reuse", "refused (chain revoked)", res.short(),
                 "access_token" not in res.json)

        code, verifier, _, _ = self.authorize(dpop)
        live = self.token(self.code_form(code, verifier), dpop)
        third = self.token(form(live.json["refresh_token"]), dpop)
        token = third.json["refresh_token"]
        rev = {"token": token, "token_type_hint": "refresh_token"}
        endpoint = self.peer["revocation_endpoint"]
        res = self.post("revocation_endpoint", rev, self.client.mint(endpoint, dpop))
        if self.one_endpoint:
            self.row("revoke with aud = issuer", "refused (wants aud = the revocation endpoint)", res.short(), res.status != 200)
            if not self.client.keys:
                return
            res = self.post("revocation_endpoint", rev, self.client.make(endpoint))
        self.row("revoke the refresh token", "200", res.short(), res.status == 200)
        res = self.token(form(token), dpop)
        self.row("refresh with the revoked token", "refused", res.short(), "access_token" not in res.json)
        assertion = (self.client.make(endpoint) if self.one_endpoint else self.client.mint(endpoint, dpop))
        res = self.post("revocation_endpoint", rev, assertion)
        self.row("revoke it again", "200 (RFC 7009) or refused", res.short(), res.status < 500)

    def assertions(self):
        peer, dpop = self.peer, Dpop()
        token_url = peer["token_endpoint"]
        aud = peer["issuer"] if self.args.audience == "issuer" else token_url
        self.prime(dpop)

        good = self.client.mint(token_url, dpop)
        taken, res = self.probe(good, dpop)
        self.row("assertion: good", "accepted", res.short(), taken)
        taken, res = self.probe(good, dpop)
        self.row("assertion: the same one replayed (same jti)", "refused", res.short(), not taken)
        head, body, sig = self.client.mint(token_url, dpop).split(".")
        raw = bytearray(unb64(sig))
        raw[len(raw) // 2] ^= 1
        taken, res = self.probe(".".join((head, body, b64(bytes(raw)))), dpop)
        self.row("assertion: one bit of the signature flipped", "refused", res.short(), not taken)
        claims = json.loads(unb64(body))
        claims["exp"] = claims["exp"] + 1
        taken, res = self.probe(".".join((head, b64(json.dumps(claims).encode()), sig)), dpop)
        self.row("assertion: payload changed", "refused", res.short(), not taken)
        first = self.client.mint(token_url, dpop)
        dpop2 = Dpop()
        res = self.post("token_endpoint", {"grant_type": "refresh_token", "refresh_token": "no-such-token"}, first, dpop2)
        taken, res2 = self.probe(first, dpop)
        self.row("assertion: replayed after a request that failed", "refused", "%s, then %s" % (res.short(), res2.short()), not taken)

        if not self.client.keys:
            self.skip("assertion: malformed ones", "no --keys")
            return
        make, now = self.client.make, int(time.time())
        strict = "refused" if self.strict else "accepted"
        any_alg = "accepted" if peer.get("client_alg", "any") == "any" else "refused"
        stranger = ECKey.generate_key("P-256", {"kid": self.client.key(self.args.alg).kid}, private=True)
        cases = [
            ("aud = token endpoint, a string", strict if token_url != aud else "accepted", make(token_url)),
            ("aud = issuer, a string", "accepted" if peer["issuer"] == aud else "refused", make(peer["issuer"])),
            ("aud = [issuer]", "refused", make([peer["issuer"]])),
            ("aud = [token endpoint]", "refused", make([token_url])),
            ("aud = [issuer, token endpoint]", "refused", make([peer["issuer"], token_url])),
            ("aud = [token endpoint, other]", "refused", make([token_url, "https://other.example.test"])),
            ("aud with '/' appended", "refused", make(aud + "/")),
            ("aud = revocation endpoint", "refused", make(peer["revocation_endpoint"])),
            ("aud = another server", "refused", make("https://other.example.test")),
            ("no aud", "refused", make(aud, drop=["aud"])),
            ("no jti", "refused", make(aud, drop=["jti"])),
            ("empty jti", "refused", make(aud, jti="")),
            ("no exp", "refused", make(aud, drop=["exp"])),
            ("expired 10 s ago", "refused", make(aud, iat=now - 70, exp=now - 10)),
            ("exp beyond the server's limit", "refused", make(aud, exp=now + peer["max_assertion_age"] + 60)),
            ("exp as a string", "refused", make(aud, exp=str(now + 60))),
            ("iat one hour ahead", strict, make(aud, iat=now + 3600)),
            ("nbf one hour ahead", strict, make(aud, nbf=now + 3600)),
            ("no iat", "accepted", make(aud, drop=["iat"])),
            ("sub of another client", "refused", make(aud, sub="someone-else")),
            ("no sub", "refused", make(aud, drop=["sub"])),
            ("iss of another client", "refused", make(aud, iss="someone-else")),
            ("kid not registered", "refused", make(aud, head={"kid": "no-such-key"})),
            ("no kid", "refused", make(aud, head={"kid": None})),
            ("another key under the registered kid", "refused",
             make(aud, alg="ES256", signer=stranger, head={"kid": self.client.key("ES256").kid})
             if self.args.alg == "ES256" else make(aud, alg="ES256", signer=stranger)),
            ("typ = client-authentication+jwt", "accepted", make(aud, head={"typ": "client-authentication+jwt"})),
            ("no typ", "accepted", make(aud, head={"typ": None})),
        ]
        unsigned = b64(json.dumps({"alg": "none", "typ": "JWT"}).encode()) + "." + make(aud).split(".")[1] + "."
        cases.append(("alg none", "refused", unsigned))
        try:
            rsa = self.client.key("PS256")
            cases.append(("RS256 with the key registered for PS256", any_alg if not self.strict else "refused",
                          make(aud, alg="RS256", signer=rsa.__class__.import_key(
                              {k: v for k, v in rsa.as_dict(private=True).items() if k != "alg"}), head={"kid": rsa.kid})))
        except SystemExit:
            pass
        other = "PS256" if self.args.alg == "ES256" else "ES256"
        try:
            cases.append(("the other registered key, " + other, any_alg, make(aud, alg=other)))
        except SystemExit:
            pass
        for name, expected, token in cases:
            taken, res = self.probe(token, dpop)
            got = "accepted" if taken else "refused"
            ok = got == expected and (taken or not self.strict or res.short() == "401 invalid_client")
            self.row("assertion: " + name, expected, "%s (%s)" % (got, res.short()), ok)

    def codes(self):
        dpop = Dpop()
        code, verifier, _, _ = self.authorize(dpop)
        res = self.token(self.code_form(code, secrets.token_urlsafe(48)), dpop)
        self.row("code: wrong code_verifier", "refused", res.short(), "access_token" not in res.json)
        res = self.token(self.code_form(code, ""), dpop)
        self.row("code: empty code_verifier", "refused", res.short(), "access_token" not in res.json)
        code, _, res, _ = self.authorize(dpop, code_challenge=None, code_challenge_method=None)
        self.row("authorization request without PKCE", "an error, no code", res.error or res.short(), not code)
        code, _, res, _ = self.authorize(dpop, code_challenge=secrets.token_urlsafe(48), code_challenge_method="plain")
        self.row("authorization request with PKCE plain", "an error, no code", res.error or res.short(), not code)
        _, _, res, _ = self.authorize(dpop, redirect_uri="https://elsewhere.example.test/cb")
        self.row("authorization request, unregistered redirect_uri", "no redirect there",
                 res.short() + " " + res.headers.get("Location", "")[:40],
                 not res.headers.get("Location", "").startswith("https://elsewhere"))
        code, verifier, _, _ = self.authorize(dpop)
        res = self.token(self.code_form(code, verifier), Dpop())
        self.row("code: redeemed with another DPoP key than dpop_jkt", "refused", res.short(), "access_token" not in res.json)
        if self.peer["dpop"] == "required":
            code, verifier, _, _ = self.authorize(dpop, dpop_jkt=None)
            res = self.post("token_endpoint", self.code_form(code, verifier),
                            self.client.mint(self.peer["token_endpoint"], dpop))
            self.row("code: no DPoP proof", "refused", res.short(), "access_token" not in res.json)
        code, verifier, _, _ = self.authorize(dpop)
        proof = None
        for _ in range(2):
            proof = dpop.proof("POST", self.peer["token_endpoint"])
            res = self.post("token_endpoint", self.code_form(code, verifier),
                            self.client.mint(self.peer["token_endpoint"], dpop), dpop, proof)
            if res.status == 200:
                break
        refresh = res.json.get("refresh_token")
        res = self.post("token_endpoint", {"grant_type": "refresh_token", "refresh_token": refresh},
                        self.client.mint(self.peer["token_endpoint"], dpop), dpop, proof)
        self.row("DPoP proof replayed (same proof, fresh assertion)", "refused", res.short(), "access_token" not in res.json)
        code, verifier, _, _ = self.authorize(dpop)
        for name, over in (("htu of another endpoint", {"htu": self.peer["revocation_endpoint"]}),
                           ("htm GET", {"htm": "GET"}),
                           ("iat too old", {"iat": int(time.time()) - 3600}),
                           ("iat ahead", {"iat": int(time.time()) + 3600}),
                           ("wrong nonce", {"nonce": "bm90LWEtbm9uY2U"})):
            if name == "wrong nonce" and self.peer["dpop_nonce"] != "on":
                continue
            proof = dpop.proof("POST", self.peer["token_endpoint"], **over)
            res = self.post("token_endpoint", self.code_form(code, verifier),
                            self.client.mint(self.peer["token_endpoint"], dpop), dpop, proof)
            self.row("DPoP proof: " + name, "refused", res.short(), "access_token" not in res.json)
        res = self.token(self.code_form(code, verifier), dpop)
        self.row("the same code with a good proof after those", "200", res.short(), res.status == 200)

    def forms(self):
        """The shape of every assertion that was used, whoever made it."""
        seen, bad = set(), []
        for audience, token in self.client.minted:
            head, claims = parts(token)
            now = time.time()
            wrong = [w for w, c in (
                ("alg", head.get("alg") in ("ES256", "PS256")),
                ("kid", isinstance(head.get("kid"), str) and head["kid"]),
                ("iss", claims.get("iss") == self.peer["client_id"]),
                ("sub", claims.get("sub") == self.peer["client_id"]),
                ("aud", claims.get("aud") == audience),
                ("exp", isinstance(claims.get("exp"), (int, float)) and claims["exp"] <= now + 300),
                ("jti", isinstance(claims.get("jti"), str) and len(claims["jti"]) >= 16),
                ("jti reused", claims.get("jti") not in seen)) if not c]
            seen.add(claims.get("jti"))
            bad += wrong
        self.row("every assertion used: iss, sub, aud string, short exp, new jti", "%d good" % len(self.client.minted),
                 "%d good" % len(self.client.minted) if not bad else "wrong: " + ", ".join(sorted(set(bad))), not bad)

    def run(self):
        meta = self.http.send("GET", self.peer["discovery"]).json
        self.row("discovery: issuer", self.peer["issuer"], meta.get("issuer"), meta.get("issuer") == self.peer["issuer"])
        self.row("discovery: token and revocation endpoint", "as printed by up",
                 "equal" if meta.get("token_endpoint") == self.peer["token_endpoint"] and
                 meta.get("revocation_endpoint") == self.peer["revocation_endpoint"] else "different",
                 meta.get("token_endpoint") == self.peer["token_endpoint"] and
                 meta.get("revocation_endpoint") == self.peer["revocation_endpoint"])
        self.login()
        sections = [("code flow", lambda: self.flow(par=False)), ("PAR flow", lambda: self.flow(par=True)),
                    ("refresh and revoke", self.refresh_and_revoke), ("codes", self.codes), ("assertions", self.assertions)]
        if self.peer["par"] == "required":
            sections = sections[1:2]
        for name, section in sections + [("forms", self.forms)]:
            try:
                section()
            except (Exception, SystemExit) as e:  # a good assertion was refused: the rest of the section cannot run
                self.row(name + ": the section ran to its end", "yes", "%s: %s" % (type(e).__name__, e), False)
        ran = [r for r in self.rows if "ok" in r]
        failed = [r for r in ran if not r["ok"]]
        if self.args.report:
            with open(self.args.report, "w", encoding="utf-8") as f:
                json.dump({"peer": self.peer["version"], "audience": self.args.audience,
                           "alg": self.args.alg, "own_assertions": not self.args.assertion_cmd, "cases": self.rows}, f, indent=1)
                f.write("\n")
        print("%d passed, %d failed, %d skipped" % (len(ran) - len(failed), len(failed), len(self.rows) - len(ran)))
        return 1 if failed else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", help="the folder given to up")
    p.add_argument("--peer", help="or: the JSON that up printed, as a file")
    p.add_argument("--keys", help="private JWKS of the client")
    p.add_argument("--alg", choices=("ES256", "PS256"), default="ES256")
    p.add_argument("--assertion-cmd")
    p.add_argument("--audience", choices=("token-endpoint", "issuer"))
    p.add_argument("--report", help="write the cases as JSON to this file")
    a = p.parse_args()
    if not (a.keys or a.assertion_cmd):
        p.error("one of --keys and --assertion-cmd is needed")
    if not (a.dir or a.peer):
        p.error("--dir or --peer is needed")
    with open(a.peer or os.path.join(a.dir, "peer.json"), encoding="utf-8") as f:
        peer = json.load(f)
    a.audience = a.audience or ("issuer" if peer.get("kind") == "strict" else "token-endpoint")
    return Check(peer, a).run()


if __name__ == "__main__":
    sys.exit(main())
