import AssertionMint
import JOSE

/// Judges one client at one provider: what fits or not depends on both. Pure.
enum RegistrationChecks {
    /// Seconds `iat` may lie ahead for every provider (FAPI 2.0 §5.3.2.1 item 13).
    static let acceptedAhead: Int64 = 10
    /// Microseconds a clock may be off without a word.
    static let noticed: UInt64 = 5_000_000

    static func findings(
        _ client: ClientFacts, at issuer: Issuer, _ fetched: FetchedDocument
    ) -> [Finding] {
        let subject = FindingSubject.registration(client.id, at: issuer)
        var findings: [Finding] = []
        if let reading = fetched.clock {
            findings.append(clock(reading, client.settings.profile, subject))
        }
        guard case .success(let json) = fetched.document else { return findings }
        let algorithms = MetadataDocument(json).names(ProviderChecks.algorithmsMember)
        if case .values = algorithms,
            !algorithms.contains(client.settings.algorithm.rawValue)
        {
            findings.append(
                Finding(
                    .providerAlgMissing, subject,
                    "the client signs with \(client.settings.algorithm), and of \(ProviderChecks.algorithmsMember): \(algorithms.text)"
                ))
        }
        return findings
    }

    /// Ahead, the `iat` of an assertion lies in the provider's future; behind, it has expired sooner than it seems.
    private static func clock(
        _ reading: ClockComparison, _ profile: AssertionProfile, _ subject: FindingSubject
    ) -> Finding {
        let ahead = reading.ahead - profile.backdating * 1_000_000
        let life = (profile.lifetime - profile.backdating) * 1_000_000
        // On its way an assertion needs a little of its life.
        let margin = min(5_000_000, life / 2)
        if ahead > acceptedAhead * 1_000_000 || -reading.ahead > life - margin {
            return Finding(.clockProviderOff, subject, reading.text)
        }
        return Finding(
            reading.ahead.magnitude > noticed ? .clockProviderDrifts : .clockAgrees, subject,
            reading.text)
    }
}
