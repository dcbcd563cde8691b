import JOSE
import SocketServer
import Testing

@testable import Broker

/// Too many failed authentications from one address, over real sockets: all callers here share 127.0.0.1, as behind a NAT.
@Suite struct FailureLimitTests {
    let clock = FailedAuthenticationsTests.Clock()
    let install: Install
    let broker: TestBroker

    init() async throws {
        install = try Install()
        let failures = FailedAuthentications(
            LimitSettings(burst: 3, rate: 1, per: 1), now: { [clock] in clock.now })
        broker = try await TestBroker(
            try Sample.directory(
                [
                    Sample.client("app", settings: try Sample.settings()),
                    Sample.client("proof-only", settings: try Sample.settings(gates: "[\"dpop\"]")),
                    Sample.client(
                        "both",
                        settings: try Sample.settings(gates: "[[\"backend_token\",\"dpop\"]]")),
                    Sample.client(
                        "mtls-dpop",
                        settings: try Sample.settings(
                            gates: "[[\"mtls\",\"dpop\"]]",
                            #""certificates":[{"san_dns":"mine.example"}]"#)),
                    Sample.client("blocking", settings: try Sample.settings()),
                ], tokens: [Sample.token("tb_good")],
                blocks: [
                    Block(
                        jkt: try #require(DpopJkt(install.jkt)),
                        client: try Sample.clientId("blocking"))
                ]),
            failures: failures,
            certificates: [
                "mine": Sample.certificate(1, .dns("mine.example")),
                "stranger": Sample.certificate(2, .dns("stranger.example")),
            ])
    }

    /// Fails until the address has no permit left.
    func exhaust() async throws {
        for _ in 0..<3 { #expect(try await broker.send(.token("tb_unknown")).status == 401) }
    }

    func mint(_ install: Install, _ change: (inout MintCall) -> Void = { _ in }) async throws
        -> WireResponse
    {
        try await broker.send(.proof(try broker.proof(install), jkt: install.jkt, change))
    }

    @Test func `one failure too many is 429 with policy, wait and limits instead of 401`()
        async throws
    {
        try await exhaust()
        let response = try await broker.send(.token("tb_unknown"))
        #expect(response.status == 429)
        #expect(response.code == "rate_limited")
        #expect(try response.json()["policy"]?.string == "failed_authentication")
        #expect(response.first("retry-after") == "1")
        #expect(response.first("ratelimit-policy") == "\"failed_authentication\";q=3;w=3")
        #expect(response.first("ratelimit") == "\"failed_authentication\";r=0;t=1")
        #expect(response.all("www-authenticate").isEmpty)
        #expect(response.first("cache-control") == "no-store")
        let event = try #require(try await broker.log.events("assertion.refused").last)
        #expect(event["code"]?.string == "rate_limited")
        #expect(event["policy"]?.string == "failed_authentication")
        #expect(event["retry_after"]?.integer == 1)
        #expect(event["cause"]?.string == "unknown token")
        try await LogSchema.check(try await broker.log.lines())
        clock.pass(microseconds: 1_000_000)
        #expect(try await broker.send(.token("tb_unknown")).status == 401)
        #expect(try await broker.send(.token("tb_unknown")).status == 429)
    }

    static let failing: [@Sendable (inout MintCall) -> Void] = [
        { $0.set("Authorization", nil) }, { $0.set("Authorization", "Basic YTpi") },
        { $0.set("Authorization", "Bearer tb_unknown") },
        {
            $0.set("Authorization", nil)
            $0.set("DPoP", "a.b.c")
        },
        {
            $0.set("Authorization", nil)
            $0.set("X-Test-Certificate", "stranger")
        },
        { $0.set("DPoP", "a.b.c") },
    ]

    @Test(arguments: failing.indices)
    func `every kind of failure counts and is limited`(index: Int) async throws {
        let call = MintCall.token("tb_good", Self.failing[index])
        for _ in 0..<3 { #expect(try await broker.send(call).status == 401) }
        #expect(try await broker.send(call).status == 429)
        #expect(broker.database.jtis.isEmpty)
    }

    @Test func `a replayed proof counts, too`() async throws {
        let call = MintCall.proof(try broker.proof(install), jkt: install.jkt)
        #expect(try await broker.send(call).status == 200)
        for _ in 0..<3 { #expect(try await broker.send(call).code == "invalid_dpop_proof") }
        #expect(try await broker.send(call).code == "rate_limited")
        #expect(broker.database.jtis.count == 1)
    }

    static let inVain: [(code: String, change: @Sendable (inout MintCall) -> Void)] = [
        ("invalid_request", { $0.dpopJkt = Sample.jkt }),
        ("invalid_audience", { $0.audience = "https://evil.example" }),
        ("install_blocked", { $0.clientId = "blocking" }),
    ]

    /// A refusal does not use up the proof: without a limit one proof would buy signature checks without end.
    @Test(arguments: inVain.indices)
    func `a good proof that is refused for what else the request says counts, too`(index: Int)
        async throws
    {
        let (code, change) = Self.inVain[index]
        let call = MintCall.proof(try broker.proof(install), jkt: install.jkt, change)
        for _ in 0..<3 { #expect(try await broker.send(call).code == code) }
        for _ in 0..<3 {
            let response = try await broker.send(call)
            #expect(response.status == 429)
            #expect(try response.json()["policy"]?.string == "failed_authentication")
        }
        // Not even its signature was looked at any more.
        let event = try #require(try await broker.log.events("assertion.refused").last)
        #expect(event["cause"]?.string == "the proof was not checked")
        #expect(broker.database.jtis.isEmpty)
        // A token vouches for the same proof, and its refusals are no failures of the address.
        let vouched = MintCall.proof(try broker.proof(install), jkt: install.jkt) {
            change(&$0)
            $0.set("Authorization", "Bearer tb_good")
        }
        for _ in 0..<5 { #expect(try await broker.send(vouched).code == code) }
    }

    @Test func `what is refused for another reason costs nothing`() async throws {
        for _ in 0..<5 {
            let noNonce = try broker.proof(install) { $0.nonce = nil }
            #expect(
                try await broker.send(.proof(noNonce, jkt: install.jkt)).code == "use_dpop_nonce")
            #expect(
                try await broker.send(.token("tb_good") { $0.clientId = "nobody" }).status == 404)
            #expect(
                try await broker.send(.token("tb_good") { $0.clientId = "proof-only" }).status
                    == 403)
            #expect(try await broker.send(.token("tb_good") { $0.body = "{" }).status == 400)
            #expect(
                try await broker.send(.token("tb_unknown") { $0.set("Content-Type", nil) }).status
                    == 415)
        }
        #expect(try await broker.send(.token("tb_unknown")).status == 401)
    }

    // MARK: The others at the same address

    @Test func `a good token passes whatever its address did`() async throws {
        try await exhaust()
        for _ in 0..<5 {
            #expect(try await broker.send(.token("tb_good")).status == 200)
            #expect(try await broker.send(.token("tb_unknown")).status == 429)
        }
        // Also beside a proof, which is then worth its check.
        #expect(
            try await mint(install) {
                $0.clientId = "both"
                $0.set("Authorization", "Bearer tb_good")
            }.status == 200)
    }

    @Test func `a certificate that a client names vouches for the proof beside it`() async throws {
        try await exhaust()
        func status(_ certificate: String) async throws -> Int {
            try await mint(try Install()) {
                $0.clientId = "mtls-dpop"
                $0.set("X-Test-Certificate", certificate)
            }.status
        }
        #expect(try await status("mine") == 200)
        #expect(try await status("stranger") == 429)
    }

    @Test func `an install that proved itself lately passes, a stranger's proof is not checked`()
        async throws
    {
        #expect(try await mint(install).status == 200)
        try await exhaust()
        for _ in 0..<5 { #expect(try await mint(install).status == 200) }
        let stranger = try await mint(try Install())
        #expect(stranger.status == 429)
        #expect(stranger.all("dpop-nonce").count == 1)
        let event = try #require(try await broker.log.events("assertion.refused").last)
        #expect(event["cause"]?.string == "the proof was not checked")
        // That cost no permit: one comes back in a second all the same.
        clock.pass(microseconds: 1_000_000)
        #expect(try await mint(try Install()).status == 200)
    }

    @Test func `a stranger's first request is told the nonce all the same`() async throws {
        try await exhaust()
        let noNonce = try broker.proof(install) { $0.nonce = nil }
        #expect(try await broker.send(.proof(noNonce, jkt: install.jkt)).code == "use_dpop_nonce")
    }

    /// Or one good mint would buy any number of checks in vain.
    @Test(arguments: ["signature", "replay", "client"])
    func `a key that fails is a stranger's again`(fault: String) async throws {
        let used = try broker.proof(install)
        #expect(try await broker.send(.proof(used, jkt: install.jkt)).status == 200)
        try await exhaust()
        let failed =
            switch fault {
            case "signature":
                try await broker.send(
                    .proof(
                        StrangerAnswersTests.altered(try broker.proof(install)), jkt: install.jkt))
            case "replay": try await broker.send(.proof(used, jkt: install.jkt))
            default: try await mint(install) { $0.clientId = "nobody" }
            }
        #expect(failed.status == 429)
        #expect(try await mint(install).status == 429)
        let cause = try await broker.log.events("assertion.refused").last?["cause"]?.string
        #expect(cause == "the proof was not checked")
    }

    @Test func `an RSA key whose check would cost too much is refused unread`() async throws {
        var proof = ""
        for octets in [512, 513] {
            let modulus = [UInt8](repeating: 0xFF, count: octets)
            let jwk = try PublicJWK(.rsa(modulus: modulus, exponent: [1, 0, 1]))
            var claims = DPoPProof(
                htm: "POST", uri: try #require(HTTPTargetURI(TestBroker.mintURL)), jti: "j",
                iat: broker.clock.seconds)
            claims.nonce = try broker.nonce()
            proof = claims.compact(jwk: jwk) { _ in [UInt8](repeating: 1, count: octets) }
            let response = try await broker.send(.proof(proof, jkt: jwk.thumbprint))
            #expect(response.code == "invalid_dpop_proof")
        }
        let causes = try await broker.log.events("assertion.refused").map { $0["cause"]?.string }
        #expect(causes == ["signature", "key(JOSE.JWKError.unacceptableRSA)"])
    }
}
