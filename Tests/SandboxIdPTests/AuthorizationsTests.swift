import JOSE
import TestKit
import Testing

@testable import SandboxIdP

/// Any order of re-sends, exchanges, aborts and waits, on the pure state alone.
@Suite struct AuthorizationsTests {
    static let jkt = DpopJkt("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    let verifier = String(repeating: "v", count: 43)
    let enrolment: Enrolment

    init() throws {
        let key = try PrivateKey.generate(.ES256)
        enrolment = Enrolment(
            keyId: key.publicJWK.thumbprint, email: "ada@example.com", subject: "u",
            deviceId: "d", key: try PublicKey(key.publicJWK), faceToken: "f",
            isPasswordProtected: false)
    }

    @Test(arguments: 0..<500)
    func `a sign-in never has two live grants, and no code works twice (R-000-25)`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let jkt = try #require(Self.jkt)
        var state = Authorizations()
        var now: Int64 = 1000
        state.open(
            ChallengeSession(
                sid: "s", clientId: "app", jkt: jkt, email: enrolment.email,
                scope: try #require(Scope("openid offline_access")), resource: nil,
                challenge: CodeChallenge(digest: SHA256.hash(verifier.utf8)), nonce: nil,
                expiresAt: now + 300), authSession: "a", now: now)
        var codes: [String] = []
        var redeemed: [String: Int] = [:]
        var grants: [String] = []
        for step in 0..<60 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let session = try? state.session(
                    authSession: "a", clientId: "app", jkt: jkt, now: now)
                guard session != nil else { continue }
                let code = "code\(step)"
                let response = TokenDigest(of: "same bytes")
                if (try? state.complete(
                    sid: "s", with: response, by: enrolment, code: code, now: now)) != nil
                {
                    codes.append(code)
                }
            case 8..<17:
                guard let code = codes.randomElement(using: &random) else { continue }
                let redemption = CodeRedemption(
                    code: code, verifier: verifier, clientId: "app", jkt: jkt, resource: nil,
                    grantId: "g\(step)", refreshToken: "r\(step)")
                if let grant = try? state.redeem(redemption, lifetimes: Lifetimes(), now: now) {
                    redeemed[code, default: 0] += 1
                    grants.append(grant.id)
                }
            case 17: now += Int64.random(in: 1...70, using: &random)
            case 18 where seed % 3 == 0: state.end(sid: "s")
            default: continue
            }
            #expect(grants.filter { state.isLive(grantId: $0) }.count <= 1)
        }
        #expect(redeemed.values.allSatisfy { $0 == 1 })
        #expect(grants.count <= 1 + ChallengeSession.maximumReplacements)
    }

    @Test(arguments: 0..<200)
    func `a replay memory says yes once while it must remember`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var memory = ReplayMemory()
        var until: [String: Int64] = [:]
        var now: Int64 = 0
        for _ in 0..<2000 {
            now += Int64.random(in: 0...1, using: &random)
            let id = "\(Int.random(in: 0..<200, using: &random))"
            let isFirst = memory.spend(id, until: now + 50, now: now)
            #expect(isFirst == (until[id].map { $0 < now } ?? true))
            if isFirst { until[id] = now + 50 }
        }
    }

    @Test func `a replay memory forgets what cannot come back`() {
        var memory = ReplayMemory()
        for index: Int64 in 0..<100_000 {
            _ = memory.spend("\(index)", until: index + 10, now: index)
        }
        #expect(memory.count <= 2048)
    }

    @Test func `a refused call counts under no limit`() throws {
        var counters = RateCounters()
        let small = RateQuota(count: 1, seconds: 60)
        let large = RateQuota(count: 2, seconds: 60)
        let calls = [
            (limit: RateLimit.startsPerEmail, key: "a", quota: small),
            (limit: RateLimit.startsPerTenant, key: "", quota: large),
        ]
        try counters.spend(calls, now: 0)
        for _ in 0..<5 {
            #expect(throws: OAuthFault.rateLimited(.startsPerEmail, retryAfter: 59)) {
                try counters.spend(calls, now: 1)
            }
        }
        try counters.spend(
            [(.startsPerEmail, "b", small), (.startsPerTenant, "", large)], now: 2)
    }
}
