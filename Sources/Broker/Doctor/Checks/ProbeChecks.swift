import AssertionMint
import JOSE

/// Judges what a provider answered to an assertion. Pure.
enum ProbeChecks {
    /// - Parameter findings: everything found so far, in which a refusal mostly has its reason.
    static func finding(
        _ answer: ProbeAnswer, _ client: ClientFacts, at issuer: Issuer, _ findings: [Finding]
    ) -> Finding {
        let subject = FindingSubject.registration(client.id, at: issuer)
        switch answer {
        case .accepted:
            return Finding(
                .probeAccepted, subject, "it took the assertion and refused the worthless code")
        case .refused(let error, let description):
            let words = quoted(error) + (description.map { ": " + quoted($0) } ?? "")
            let known = Set(
                findings.filter {
                    [subject, .client(client.id), .provider(issuer)].contains($0.subject)
                }.map(\.code))
            let suspect = ProbeSuspect.of(client, known, description ?? "")
            return Finding(
                .probeRefused, subject, "it answered \(words); most likely: \(suspect)")
        case .refusedOtherwise(let error, let text):
            if let code = FindingCode(rawValue: "precondition.\(error)") {
                return Finding(
                    code, subject,
                    "it took the assertion, and then refused the request with \(quoted(error))")
            }
            return Finding(.probeUnclear, subject, text)
        case .unclear(let text): return Finding(.probeUnclear, subject, text)
        }
    }
}

/// The rule that a refused assertion most likely broke. A provider has one neutral answer for all of them (RFC 7523 §3.2),
/// so this goes by what is known from elsewhere.
enum ProbeSuspect {
    /// Seconds a provider may go on with a key set it has fetched before it should look again.
    static let freshKey: Int64 = 600

    /// - Parameters:
    ///   - known: codes found for this client and this provider.
    ///   - description: the provider's own words, sometimes of use.
    static func of(
        _ client: ClientFacts, _ known: Set<FindingCode>, _ description: String
    ) -> String {
        found(known) ?? said(description.lowercased(), client) ?? guessed(client)
    }

    private static func found(_ known: Set<FindingCode>) -> String? {
        let rules: [(codes: Set<FindingCode>, text: String)] = [
            ([.providerIssuerMismatch], "aud, since the provider calls itself otherwise"),
            ([.clockProviderOff], "iat or exp, since the clocks differ"),
            ([.providerAlgMissing], "alg, which the provider does not list"),
            ([.providerAuthMethodMissing], "private_key_jwt, which the provider does not list"),
            (
                [.jwksActiveKeyMissing, .jwksOtherKey, .jwksDuplicateKid, .jwksPrivateMember],
                "kid, since the published key set is not as it should be"
            ),
            (
                [
                    .jwksUnreachable, .jwksTLS, .jwksTimedOut, .jwksRedirect, .jwksStatus,
                    .jwksTooLarge, .jwksNotJSON, .jwksNotHTTPS, .jwksMalformed,
                ], "kid, since the published key set cannot be fetched"
            ),
            ([.clockProviderDrifts], "iat or exp, since the clocks differ somewhat"),
        ]
        return rules.first { !$0.codes.isDisjoint(with: known) }?.text
    }

    /// Words that providers use. The rule, not the value, is what is looked for.
    private static func said(_ description: String, _ client: ClientFacts) -> String? {
        let words = Set(
            description.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
        func says(_ some: String...) -> Bool { !words.isDisjoint(with: some) }
        if says("aud", "audience") { return "aud, by the provider's own words" }
        if says("exp", "iat", "nbf", "expired", "clock", "lifetime") {
            return "iat or exp, by the provider's own words"
        }
        if says("kid", "jwks", "jwk", "signature", "key", "keys") {
            return "kid or the signature, by the provider's own words"
        }
        if says("alg", "algorithm") { return "alg, by the provider's own words" }
        if says("typ") { return "typ, by the provider's own words: try typ: \"JWT\"" }
        if says("jti", "replay", "replayed") { return "jti, by the provider's own words" }
        return nil
    }

    private static func guessed(_ client: ClientFacts) -> String {
        if let key = client.activeKey, key.age < freshKey {
            return
                "kid \(quoted(key.key.kid)), active for \(key.age) s only: the provider may still have the key set it fetched before"
        }
        let type =
            client.settings.profile.type == .clientAuthentication
            ? "; or typ, which older providers do not know: try typ: \"JWT\"" : ""
        return
            "the registration, that is the client_id, its jwks_uri or its token_endpoint_auth_method\(type)"
    }
}
