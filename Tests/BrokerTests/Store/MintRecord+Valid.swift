@testable import Broker

extension RatePolicy {
    /// A limit no test reaches by accident.
    static let ample = RatePolicy(name: "install", burst: 1_000_000, stepMicroseconds: 1000)

    /// `burst` permits, and none comes back while a test runs.
    static func only(_ burst: Int, name: String = "install") -> RatePolicy {
        RatePolicy(name: name, burst: burst, stepMicroseconds: 3_600_000_000)
    }
}

extension ProofUse {
    static func fresh(issuedAt: Int64? = nil) -> ProofUse {
        ProofUse(
            hash: (0..<32).map { _ in UInt8.random(in: 0...255) },
            issuedAt: issuedAt ?? wallClockMicroseconds() / 1_000_000)
    }
}

extension MintRecord {
    /// A record that is committed, unless what a test changed stands against it.
    static func valid(
        clientId: String = "app", tenantId: String = "tenant", dpopJkt: String = randomJkt(),
        jti: String = randomText(24), expiresAt: Int64? = nil, proof: ProofUse? = nil,
        install: RatePolicy = .ample, client: RatePolicy? = nil, tenant: RatePolicy? = nil,
        revision: Int64 = 0, shadows: ShadowLimits = .none
    ) -> MintRecord {
        let now = wallClockMicroseconds() / 1_000_000
        let expiresAt = expiresAt ?? now + 60
        return MintRecord(
            clientId: clientId, tenantId: tenantId, dpopJkt: dpopJkt, jti: jti,
            issuedAt: min(now, expiresAt), expiresAt: expiresAt, proof: proof, install: install,
            client: client, tenant: tenant, revision: revision, shadows: shadows)
    }

    static func randomJkt() -> String { randomText(43) }

    static func randomText(_ count: Int) -> String {
        String(
            decoding: (0..<count).map { _ in alphabet[Int.random(in: 0..<64)] }, as: UTF8.self)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
