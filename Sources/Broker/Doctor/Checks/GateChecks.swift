import AssertionMint

/// Judges whether a client's gates let anybody in, and whether they hold what they promise. Pure.
enum GateChecks {
    /// Seconds. A year, and a month to change over.
    static let longestTokenLife: Int64 = 396 * 86_400
    /// Seconds in which a token's end comes close.
    static let expiryNotice: Int64 = 14 * 86_400
    /// Seconds: the secret of the nonces changes daily, so at twice that something has stopped.
    static let staleNonces: Int64 = 2 * 86_400

    static func findings(_ client: ClientFacts, _ shared: SharedFacts) -> [Finding] {
        let subject = FindingSubject.client(client.id)
        let parts = Gate.Part.allCases.filter { part in
            client.settings.gates.contains { $0.parts.contains(part) }
        }
        var findings: [Finding] = []
        for part in parts {
            switch part {
            case .backendToken:
                guard goodTokens(shared).contains(where: { $0.tenant == client.tenant }) else {
                    findings.append(
                        Finding(
                            .gateNoToken, subject,
                            "backend_token: tenant \(client.tenant) has no good token of scope mint"
                        ))
                    continue
                }
            case .mtls:
                guard shared.server?.takesCertificates == false else { continue }
                findings.append(
                    Finding(
                        .gateNoCertificates, subject,
                        "mtls: the configuration asks nobody for a certificate"))
            case .dpop: findings += nonces(subject, shared)
            }
        }
        if findings.isEmpty {
            let gates = client.settings.gates.map(\.description).joined(separator: ", ")
            findings.append(Finding(.gateOpen, subject, gates))
        }
        return findings
    }

    /// What is wrong with the tokens of these tenants.
    static func tokens(_ shared: SharedFacts, of tenants: Set<TenantId>) -> [Finding] {
        let good = shared.tokens.filter { isGood($0, shared) && tenants.contains($0.tenant) }
        return good.sorted { $0.id < $1.id }.compactMap { token -> Finding? in
            let days = (token.expiresAt - shared.now) / 86_400
            let name = "token \(quoted(token.id))"
            if token.expiresAt - shared.now > longestTokenLife {
                return Finding(
                    .tokenLongLived, .tenant(token.tenant), "\(name) ends in \(days) days")
            }
            if token.expiresAt - shared.now < expiryNotice {
                return Finding(.tokenExpires, .tenant(token.tenant), "\(name) ends in \(days) days")
            }
            return nil
        }
    }

    private static func goodTokens(_ shared: SharedFacts) -> [APIToken] {
        shared.tokens.filter { isGood($0, shared) && $0.scopes.contains(.mint) }
    }

    private static func isGood(_ token: APIToken, _ shared: SharedFacts) -> Bool {
        !token.isRevoked && token.expiresAt > shared.now
    }

    private static func nonces(_ subject: FindingSubject, _ shared: SharedFacts) -> [Finding] {
        guard let newest = shared.nonceAges.min() else {
            return [
                Finding(.gateNoNonces, subject, "dpop: there is no secret to make nonces with")
            ]
        }
        guard newest > staleNonces else { return [] }
        return [
            Finding(
                .gateStaleNonces, subject,
                "dpop: the newest secret of the nonces is \(newest / 86_400) days old")
        ]
    }
}
