import JOSE
import Testing

@testable import SandboxIdP

@Suite struct AttestationTests {
    /// The nonce of `startAttempt`.
    private static let nonce = "n-0S6_WzA2Mj"

    private static func evidence(_ key: PrivateKey, now: Int64) -> JWTParts {
        JWTParts(
            header: ["alg": "\"ES256\"", "typ": "\"sandbox-attestation+jwt\""],
            claims: ["challenge": JWTParts.quoted(nonce), "iat": "\(now)"], signer: key)
    }

    private static func run(
        _ mode: AttestationPolicy.Mode, _ key: PrivateKey,
        _ body: (Sandbox) async throws -> Void
    ) async throws {
        let policy = AttestationPolicy(mode: mode, key: try PublicKey(key.publicJWK))
        try await Sandbox.run {
            $0.attestation = policy
        } _: {
            try await body($0)
        }
    }

    static let breaks: [Break<JWTParts>] = [
        Break("another key", "signature") { $0.signer = try PrivateKey.generate(.ES256) },
        Break("another type", "type") { $0.header["typ"] = "\"JWT\"" },
        Break("no type", "type") { $0.header["typ"] = nil },
        Break("another challenge", "challenge") { $0.claims["challenge"] = "\"another\"" },
        Break("no challenge", "challenge") { $0.claims["challenge"] = nil },
        Break("too old", "age") { $0.claims["iat"] = "1799999699" },
        Break("from the future", "age") { $0.claims["iat"] = "1800000011" },
        Break("no time", "age") { $0.claims["iat"] = nil },
        Break("its own key", "malformed") {
            $0.header["jwk"] = $0.signer.publicJWK.jsonText(asSigningKey: false)
        },
        Break("no JWS", "malformed") { $0.tamper = { _ in "evidence" } },
    ]

    @Test(arguments: breaks)
    func `R-000-08 bad evidence is refused under enforce, logged under audit, unseen when off`(
        _ broken: Break<JWTParts>
    ) async throws {
        let key = try PrivateKey.generate(.ES256)
        for mode in AttestationPolicy.Mode.allCases {
            try await Self.run(mode, key) { sandbox in
                var evidence = Self.evidence(key, now: sandbox.clock.now)
                try broken.apply(&evidence)
                var attempt = sandbox.startAttempt(try Device())
                attempt["app_attestation"] = try evidence.compact()
                let reply = try await sandbox.send(attempt)
                let cause = sandbox.events.all.last?.cause
                #expect(reply.status == 400)
                #expect(
                    reply.error
                        == (mode == .enforce
                            ? "attestation_rejected" : "insufficient_authorization"))
                #expect((cause?.contains(broken.error ?? "") ?? false) == (mode != .off))
            }
        }
    }

    @Test
    func `R-000-08 good evidence passes in every mode, and the log says so where it is asked for`()
        async throws
    {
        let key = try PrivateKey.generate(.ES256)
        for mode in AttestationPolicy.Mode.allCases {
            try await Self.run(mode, key) { sandbox in
                var attempt = sandbox.startAttempt(try Device())
                attempt["app_attestation"] = try Self.evidence(key, now: sandbox.clock.now)
                    .compact()
                #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
                let cause = sandbox.events.all.last?.cause
                #expect(cause == (mode == .off ? nil : "attestation: good"))
            }
        }
    }

    @Test func `R-000-08 a start without evidence is refused under enforce only`() async throws {
        let key = try PrivateKey.generate(.ES256)
        for mode in AttestationPolicy.Mode.allCases {
            try await Self.run(mode, key) { sandbox in
                let reply = try await sandbox.send(sandbox.startAttempt(try Device()))
                #expect((reply.error == "attestation_rejected") == (mode == .enforce))
            }
        }
    }

    @Test(arguments: AttestationPolicy.Mode.allCases)
    func `R-000-09 each opted-in application is warned about, unless evidence is enforced`(
        _ mode: AttestationPolicy.Mode
    ) throws {
        var silent = Sandbox.client("silent")
        silent.firstPartyChallengeEnabled = false
        var configuration = ProviderConfiguration(
            uris: try #require(EndpointURIs(issuer: Sandbox.issuer)),
            clients: [Sandbox.client("b"), silent, Sandbox.client("a")])
        configuration.attestation.mode = mode
        let warned = configuration.warnings
        #expect(warned.map(\.clientId) == (mode == .enforce ? [] : ["a", "b"]))
        #expect(warned.allSatisfy { $0.reason.contains("is \(mode.rawValue)") })
    }
}
