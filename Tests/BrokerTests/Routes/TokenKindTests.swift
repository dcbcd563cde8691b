import AssertionMint
import JOSE
import SocketServer
import TestKit
import Testing

@testable import Broker

/// `POST /v1/transport-tokens` and `POST /v1/client-attestations` over real sockets: what they hand out, judged by libraries
/// that are not ours.
@Suite struct TokenKindTests {
    static let token = "tb_good"
    static let transport =
        #""transport_tokens":{"secret":"file:/never-opened","cid":"org-17","iss":"https://bank.example","aud":"https://sso.example"}"#
    static let attestations = #""client_attestations":{"lifetime":120}"#

    /// `app` has tokens of every kind, `plain` client assertions only, `ps` attests with RSA, `proof-only` needs proofs.
    static func directory(
        revision: Int64 = 0, blocks: [Block] = [], limits: String = ""
    ) throws -> Directory {
        let all = "\(transport),\(attestations)" + (limits.isEmpty ? "" : ",\(limits)")
        return try Sample.directory(
            revision: revision,
            [
                Sample.client("app", settings: try Sample.settings(all)),
                Sample.client("plain", settings: try Sample.settings()),
                Sample.client("ps", settings: try Sample.settings(alg: "PS256", attestations)),
                Sample.client(
                    "proof-only", settings: try Sample.settings(gates: "[\"dpop\"]", all)),
                Sample.client("rivals", tenant: "rival", settings: try Sample.settings(all)),
            ],
            tokens: [
                Sample.token(token), Sample.token("tb_consume", scopes: [.consume]),
                Sample.token("tb_rival", tenant: "rival"),
            ], blocks: blocks)
    }

    /// A call for this kind with a token, good in every way for the client `app`.
    static func call(
        _ kind: TokenKind, of install: Install, _ change: (inout MintCall) -> Void = { _ in }
    ) -> MintCall {
        .token(token) {
            $0.kind = kind
            $0.dpopJkt = install.jkt
            if kind == .clientAttestation {
                $0.jwk = install.key.publicJWK.jsonText(asSigningKey: false)
            }
            change(&$0)
        }
    }

    static let others: [TokenKind] = [.transportToken, .clientAttestation]

    // MARK: What is handed out

    @Test func `a transport token says what the client was declared with, whatever is asked for`()
        async throws
    {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        let body =
            #"{"client_id":"app","dpop_jkt":"\#(install.jkt)","cid":"other","iss":"x","aud":"y","audience":["z"],"alg":"none","lifetime":9999}"#
        let response = try await broker.send(
            Self.call(.transportToken, of: install) { $0.body = body })
        #expect(response.status == 200)
        #expect(response.first("cache-control") == "no-store")
        #expect(response.first("ratelimit-policy") == "\"install\";q=30;w=60")
        let answer = try response.json()
        #expect(
            (answer.members ?? []).map(\.name) == [
                "transport_token", "jti", "expires_in", "expires_at",
            ])
        let token = try #require(answer["transport_token"]?.string)
        let judged = try #require(
            try await Oracle.ask(
                "tokens.py",
                [Self.question(.transportToken, token, secret: Sample.secretText)]
            ).first)
        #expect(judged["fault"] == nil, "\(judged)")
        let claims = try #require(judged["claims"])
        #expect(claims["cid"]?.string == "org-17")
        #expect(claims["iss"]?.string == "https://bank.example")
        #expect(claims["aud"]?.string == "https://sso.example")
        #expect(claims["jti"]?.string == answer["jti"]?.string)
        #expect(claims["exp"]?.integer == answer["expires_at"]?.integer)
        #expect(broker.database.jtis == [try #require(answer["jti"]?.string)])
    }

    @Test(arguments: ["app", "ps"], JWSAlgorithm.allCases)
    func `an attestation names the key the backend vouches for`(
        client: String, kind: JWSAlgorithm
    ) async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install(kind)
        let response = try await broker.send(
            Self.call(.clientAttestation, of: install) { $0.clientId = client })
        #expect(response.status == 200)
        let answer = try response.json()
        #expect(
            (answer.members ?? []).map(\.name) == [
                "client_attestation", "jti", "expires_in", "expires_at",
            ])
        let token = try #require(answer["client_attestation"]?.string)
        let kid = try #require(try CompactJWS(parsing: token.utf8).kid)
        let keys = try await broker.send("GET", "/v1/clients/\(client)/jwks.json").json()
        let jwk = try #require(JWKSet(keys).keys.first { $0.kid == kid })
        let judged = try #require(
            try await Oracle.ask(
                "tokens.py", [Self.question(.clientAttestation, token, jwk: jwk)]
            ).first)
        #expect(judged["fault"] == nil, "\(judged)")
        #expect(judged["thumbprint"]?.string == install.jkt)
        #expect(judged["claims"]?["sub"]?.string == client)
        let (iat, exp) = (judged["claims"]?["iat"]?.integer, judged["claims"]?["exp"]?.integer)
        #expect(exp.flatMap { exp in iat.map { exp - $0 } } == 120)
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `behind a proof an attestation names the proof's key, with or without jwk`(
        kind: JWSAlgorithm
    ) async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install(kind)
        for jwk in [nil, install.key.publicJWK.jsonText(asSigningKey: false)] {
            let call = MintCall.proof(
                try broker.proof(install, for: .clientAttestation), jkt: install.jkt
            ) {
                $0.kind = .clientAttestation
                $0.clientId = "proof-only"
                $0.jwk = jwk
            }
            let response = try await broker.send(call)
            #expect(response.status == 200)
            let text = try #require(try response.json()["client_attestation"]?.string)
            let claims = try CompactJWS(parsing: text.utf8).claims()
            let named = try PublicJWK(try #require(claims["cnf"]?["jwk"]))
            #expect(named.material == install.key.publicJWK.material)
        }
        let events = try await broker.log.events("assertion.minted")
        #expect(events.map { $0["jkt_proven"]?.bool } == [true, true])
        #expect(events.map { $0["jkt"]?.string } == [install.jkt, install.jkt])
    }

    // MARK: What is refused

    @Test(arguments: others)
    func `a client without such a declaration has no such tokens, told only to who passes a gate`(
        kind: TokenKind
    ) async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        let response = try await broker.send(
            Self.call(kind, of: install) { $0.clientId = "plain" })
        #expect(response.status == 403)
        #expect(response.code == "token_not_enabled")
        let stranger = try await broker.send(
            Self.call(kind, of: install) {
                $0.clientId = "plain"
                $0.set("Authorization", "Bearer tb_unknown")
            })
        #expect(stranger.code == "caller_unauthenticated")
        let rival = try await broker.send(
            Self.call(kind, of: install) {
                $0.clientId = "plain"
                $0.set("Authorization", "Bearer tb_rival")
            })
        #expect(rival.code == "caller_not_allowed")
        #expect(broker.database.jtis.isEmpty)
        let event = try #require(try await broker.log.events("assertion.refused").first)
        #expect(event["kind"]?.string == kind.rawValue)
        #expect(event["code"]?.string == "token_not_enabled")
    }

    /// RFC 9449 §4.3: `htu` is this call's. A proof that was made for one kind is none for another.
    @Test func `a proof for one kind gets no other`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        for made in TokenKind.allCases {
            for asked in TokenKind.allCases where asked != made {
                let call = MintCall.proof(
                    try broker.proof(install, for: made), jkt: install.jkt
                ) { $0.kind = asked }
                let response = try await broker.send(call)
                #expect(response.code == "invalid_dpop_proof", "\(made) for \(asked)")
            }
        }
        #expect(broker.database.jtis.isEmpty)
    }

    @Test(arguments: others)
    func `a proof is good once, and needs the broker's nonce`(kind: TokenKind) async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        let call = MintCall.proof(try broker.proof(install, for: kind), jkt: install.jkt) {
            $0.kind = kind
        }
        #expect(try await broker.send(call).status == 200)
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
        let unchallenged = try broker.proof(install, for: kind) { $0.nonce = nil }
        let response = try await broker.send(
            .proof(unchallenged, jkt: install.jkt) { $0.kind = kind })
        #expect(response.code == "use_dpop_nonce")
        #expect(response.all("dpop-nonce").count == 1)
        #expect(broker.database.jtis.count == 1)
    }

    @Test(arguments: others)
    func `who may not ask for assertions may not ask for these`(kind: TokenKind) async throws {
        let (install, other) = (try Install(), try Install())
        let block = Block(jkt: try #require(DpopJkt(other.jkt)), client: nil)
        let broker = try await TestBroker(try Self.directory(blocks: [block]))
        let wrong: [(MintCall, String)] = [
            (
                Self.call(kind, of: install) { $0.set("Authorization", nil) },
                "caller_unauthenticated"
            ),
            (
                Self.call(kind, of: install) { $0.set("Authorization", "Bearer tb_consume") },
                "caller_not_allowed"
            ),
            (Self.call(kind, of: install) { $0.clientId = "rivals" }, "caller_not_allowed"),
            (Self.call(kind, of: install) { $0.clientId = "proof-only" }, "caller_not_allowed"),
            (Self.call(kind, of: install) { $0.clientId = "nobody" }, "unknown_client"),
            (Self.call(kind, of: other), "install_blocked"),
            (Self.call(kind, of: install) { $0.body = "{" }, "invalid_request"),
            (Self.call(kind, of: install) { $0.dpopJkt = "short" }, "invalid_request"),
            (
                Self.call(kind, of: install) { $0.set("Content-Type", "text/plain") },
                "unsupported_media_type"
            ),
            (
                Self.call(kind, of: install) {
                    $0.set("DPoP", (try? broker.proof(other, for: kind)) ?? "")
                }, "invalid_request"
            ),
        ]
        for (call, code) in wrong {
            let response = try await broker.send(call)
            #expect(response.code == code)
            #expect(!response.text.contains("eyJ"))
        }
        #expect(broker.database.jtis.isEmpty)
        let events = try await broker.log.events("assertion.")
        #expect(events.compactMap { $0["code"]?.string } == wrong.map(\.1))
        #expect(events.allSatisfy { $0["kind"]?.string == kind.rawValue })
        try await LogSchema.check(try await broker.log.lines())
    }

    /// What stands in `jwk` is the strict reader's matter; here that it is asked, and that nothing slips by.
    @Test func `only the public key of dpop_jkt is attested`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let (install, other) = (try Install(), try Install())
        let good = install.key.publicJWK.jsonText(asSigningKey: false)
        guard case .p256(let x, let y) = install.key.publicJWK.material else { return }
        let (textX, textY) = (Base64URL.encode(x), Base64URL.encode(y))
        let offCurve = try PublicJWK(.p256(x: x, y: y.reversed()))
        let withMember = { (member: String) in "\(good.dropLast()),\(member)}" }
        let rsa1024 = #"{"kty":"RSA","e":"AQAB","n":"\#(String(repeating: "x", count: 171))"}"#
        var bad: [(jkt: String, jwk: String?)] = [
            (install.jkt, nil), (install.jkt, "null"), (install.jkt, "{}"), (install.jkt, "[]"),
            (install.jkt, "\"x\""), (install.jkt, "[\(good)]"),
            (other.jkt, good), (install.jkt, other.key.publicJWK.jsonText(asSigningKey: false)),
            (offCurve.thumbprint, offCurve.jsonText(asSigningKey: false)),
            (install.jkt, #"{"kty":"oct","k":"\#(textX)"}"#), (install.jkt, rsa1024),
            (install.jkt, #"{"kty":"EC","crv":"P-384","x":"\#(textX)","y":"\#(textY)"}"#),
            (install.jkt, #"{"kty":"EC","crv":"P-256","x":"\#(textX)"}"#),
            (install.jkt, #"{"kty":"EC","crv":"P-256","x":"\#(textX)=","y":"\#(textY)"}"#),
            (
                install.jkt,
                #"{"kty":"EC","crv":"P-256","x":"\#(textX)","x":"\#(textX)","y":"\#(textY)"}"#
            ),
            (install.jkt, withMember(#""use":"enc""#)),
            (install.jkt, withMember(#""alg":"HS256""#)),
            (install.jkt, withMember(#""key_ops":["sign"]"#)),
        ]
        for member in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
            bad.append((install.jkt, withMember("\"\(member)\":\"\(textX)\"")))
        }
        for (jkt, jwk) in bad {
            let response = try await broker.send(
                Self.call(.clientAttestation, of: install) {
                    $0.dpopJkt = jkt
                    $0.jwk = jwk
                })
            #expect(response.code == "invalid_request", "\(jwk ?? "none")")
            #expect(!response.text.contains(textX), "an answer repeats nothing of a request")
        }
        // Behind a proof jwk is not needed, but what is there must still be that key.
        let refused = try await broker.send(
            .proof(try broker.proof(install, for: .clientAttestation), jkt: install.jkt) {
                $0.kind = .clientAttestation
                $0.jwk = other.key.publicJWK.jsonText(asSigningKey: false)
            })
        #expect(refused.code == "invalid_request")
        #expect(broker.database.jtis.isEmpty)
        #expect(!(try await broker.log.text()).contains(textX))
        let taken = try await broker.send(Self.call(.clientAttestation, of: install))
        #expect(taken.status == 200, "and the key itself is taken")
    }

    @Test func `an RSA key that is too long for a proof is not attested`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        let jwk = try PublicJWK(
            .rsa(modulus: [UInt8](repeating: 0xff, count: 513), exponent: [1, 0, 1]))
        let response = try await broker.send(
            Self.call(.clientAttestation, of: install) {
                $0.dpopJkt = jwk.thumbprint
                $0.jwk = jwk.jsonText(asSigningKey: false)
            })
        #expect(response.code == "invalid_request")
    }

    @Test func `a secret that cannot be used is 503 for its tokens only`() async throws {
        let settings = try Sample.settings("\(Self.transport),\(Self.attestations)")
        let key = try PrivateKey.generate(.ES256)
        let client = RegisteredClient(
            id: try Sample.clientId(), tenant: try Sample.tenantId(), settings: settings,
            tenantSettings: try Sample.tenantSettings(),
            signing: .ready(
                AssertionSigner(
                    clientId: try Sample.clientId(), key: key, kid: "k", profile: settings.profile)),
            transportTokens: .unusable("file:/canary: gone"), publicKeys: [])
        let directory = try Sample.directory([client], tokens: [Sample.token(Self.token)])
        #expect(directory.unusableClients.map(\.1) == ["file:/canary: gone"])
        let broker = try await TestBroker(directory)
        let install = try Install()
        for kind in TokenKind.allCases {
            let response = try await broker.send(Self.call(kind, of: install))
            #expect(response.status == (kind == .transportToken ? 503 : 200))
            #expect(!response.text.contains("canary"))
        }
        #expect(broker.database.jtis.count == 2)
    }

    @Test func `a store that cannot commit hands out nothing of any kind`() async throws {
        let broker = try await TestBroker(
            try Self.directory(),
            makeStore: { lane, _ in
                StubStore(lane) { _ in .init(verdict: .unavailable(.timedOut)) }
            })
        let install = try Install()
        for kind in TokenKind.allCases {
            let response = try await broker.send(Self.call(kind, of: install))
            #expect(response.status == 503)
            #expect(!response.text.contains("eyJ"))
        }
    }

    static func question(
        _ kind: TokenKind, _ token: String, secret: String? = nil, jwk: PublicJWK? = nil
    ) -> String {
        var json = JSONWriter()
        json.object {
            $0.member("kind", kind.rawValue)
            $0.member("token", token)
            $0.member("now", WallClock.system.seconds)
            if let secret { $0.member("secret", secret) }
            if let jwk {
                $0.name("jwk")
                jwk.write(to: &$0, asSigningKey: true)
            }
        }
        return json.text
    }
}
