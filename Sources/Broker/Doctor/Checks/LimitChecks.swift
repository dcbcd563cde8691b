import AssertionMint

/// Judges whether the limits leave room for a sign-in. Pure.
enum LimitChecks {
    /// Mints of a sign-in where all goes well: start, completion and token request, each repeated once with a nonce
    /// (R-100-33).
    static let plainSignIn: Int64 = 6
    /// Mints of one with every automatic retry: two starts (R-000-20), two completions (R-000-22) and a token request, and
    /// twice more two completions and a token request (R-000-24); then a refresh and a sign-out. Each of these 13 with a
    /// nonce repeat.
    static let wholeSignIn: Int64 = 26
    /// Seconds in which they come; what a limit gives back meanwhile counts.
    static let seconds: Int64 = 10

    static func findings(_ client: ClientFacts, _ shared: SharedFacts) -> [Finding] {
        let overrides = Dictionary(shared.overrides.map { ($0.subject, $0) }) { first, _ in first }
        let subject = FindingSubject.client(client.id)
        var findings: [Finding] = []
        let limits: [(LimitOverride.Subject, LimitSettings?)] = [
            (.eachInstall(of: client.id), client.settings.limits.install),
            (.client(client.id), client.settings.limits.client),
            (.tenant(client.tenant), client.tenantLimit),
        ]
        for (owner, declared) in limits {
            let override = overrides[owner]
            guard let limit = override?.limit ?? declared else { continue }
            let room = room(limit)
            guard room < wholeSignIn else { continue }
            let by = override.map { " (override \($0.id))" } ?? ""
            let code: FindingCode = room < plainSignIn ? .limitsBelowSignIn : .limitsTight
            findings.append(
                Finding(
                    code, subject,
                    "\(owner): \(limit)\(by), so \(room) in \(seconds) s; a sign-in takes \(plainSignIn), with all its retries \(wholeSignIn)"
                ))
        }
        if findings.isEmpty {
            findings.append(
                Finding(.limitsFit, subject, "a sign-in with all its retries fits into each limit"))
        }
        return findings
    }

    /// How many mints a full bucket lets through in that time.
    private static func room(_ limit: LimitSettings) -> Int64 {
        limit.burst + limit.rate * seconds / limit.per
    }
}
