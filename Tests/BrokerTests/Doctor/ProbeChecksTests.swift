import AssertionMint
import JOSE
import Testing

@testable import Broker

/// What a provider's answer to an assertion says, from facts.
@Suite struct ProbeChecksTests {
    private func client(_ settings: String = "", age: Int64 = 100_000) throws -> ClientFacts {
        var jwk = try PrivateKey.generate(.ES256).publicJWK
        jwk.kid = "k"
        return ClientFacts(
            id: try Sample.clientId(), tenant: try Sample.tenantId(),
            settings: try Sample.settings(settings), tenantLimit: nil,
            keys: [
                KeyFacts(
                    key: Declaration.Key(
                        kid: "k", uri: "file:/k.pem", state: .active, publicJWK: jwk), age: age,
                    trial: .mints([]))
            ])
    }

    private func finding(
        _ answer: ProbeAnswer, _ client: ClientFacts? = nil, _ known: FindingCode...
    ) throws -> Finding {
        let client = try client ?? self.client()
        let issuer = try #require(Issuer(Sample.issuer))
        let findings = known.map { Finding($0, .client(client.id), "") }
        return ProbeChecks.finding(answer, client, at: issuer, findings)
    }

    private func suspect(
        _ description: String? = nil, _ client: ClientFacts? = nil, _ known: FindingCode...
    ) throws -> String {
        let client = try client ?? self.client()
        let text = ProbeSuspect.of(client, Set(known), description ?? "")
        return text
    }

    @Test func `invalid_grant proves acceptance, invalid_client refusal, anything else nothing`()
        throws
    {
        #expect(try finding(.accepted).code == .probeAccepted)
        #expect(
            try finding(.refused(error: "invalid_client", description: nil)).code == .probeRefused)
        #expect(try finding(.unclear("x")).code == .probeUnclear)
        #expect(
            try finding(.refusedOtherwise(error: "server_error", "answered 500")).code
                == .probeUnclear)
    }

    @Test(arguments: [
        "first_party_requires_own_app", "first_party_requires_dpop",
        "first_party_excludes_certificate_binding", "first_party_not_enabled",
        "redirect_uri_required", "redirect_uri_scheme", "client_auth_method",
    ])
    func `each precondition of flows §3.2 has a code`(error: String) throws {
        let finding = try finding(.refusedOtherwise(error: error, ""))
        #expect(finding.code.rawValue == "precondition.\(error)")
        #expect(finding.level == .fault)
    }

    @Test(arguments: [
        ("ok", "probe.unclear"), ("accepted", "probe.unclear"), ("../x", "probe.unclear"),
    ])
    func `a word of the provider's is never taken for a code of ours`(error: String, code: String)
        throws
    {
        #expect(try finding(.refusedOtherwise(error: error, "")).code.rawValue == code)
    }

    @Test func `what was found elsewhere is suspected first`() throws {
        let cases: [(FindingCode, String)] = [
            (.providerIssuerMismatch, "aud"), (.clockProviderOff, "iat or exp"),
            (.providerAlgMissing, "alg"), (.providerAuthMethodMissing, "private_key_jwt"),
            (.jwksActiveKeyMissing, "kid"), (.jwksOtherKey, "kid"), (.jwksDuplicateKid, "kid"),
            (.jwksUnreachable, "kid"), (.jwksTLS, "kid"), (.jwksNotJSON, "kid"),
            (.clockProviderDrifts, "iat or exp"),
        ]
        for (code, rule) in cases {
            #expect(try suspect("the jti was bad", nil, code).hasPrefix(rule), "\(code)")
            let finding = try finding(
                .refused(error: "invalid_client", description: nil), nil, code)
            #expect(finding.detail.contains("most likely: \(rule)"))
        }
        // Certain before likely.
        #expect(try suspect(nil, nil, .clockProviderDrifts, .jwksOtherKey).hasPrefix("kid"))
    }

    @Test func `what was found for another client is no reason`() throws {
        let issuer = try #require(Issuer(Sample.issuer))
        let other = Finding(.jwksOtherKey, .client(try Sample.clientId("web")), "")
        let finding = ProbeChecks.finding(
            .refused(error: "invalid_client", description: nil), try client(), at: issuer, [other])
        #expect(finding.detail.contains("the registration"))
    }

    @Test(arguments: [
        ("Audience not accepted", "aud"), ("aud mismatch", "aud"),
        ("assertion EXPIRED", "iat or exp"), ("iat in the future", "iat or exp"),
        ("no key for kid \"k\"", "kid"), ("bad signature", "kid"), ("unsupported alg", "alg"),
        ("typ not supported", "typ"), ("jti was used", "jti"),
    ])
    func `a provider's own words are heard`(description: String, rule: String) throws {
        #expect(try suspect(description).hasPrefix(rule))
    }

    @Test func `with no word at all, a key that is new is suspected, else the registration`() throws
    {
        #expect(try suspect(nil, client(age: 599)).contains("active for 599 s only"))
        #expect(try suspect(nil, client(age: 600)).hasPrefix("the registration"))
        #expect(try suspect("Client authentication failed.").hasPrefix("the registration"))
        #expect(try suspect(nil).contains("try typ"))
        #expect(try !suspect(nil, client("\"typ\":\"JWT\"")).contains("typ:"))
    }

    @Test func `a provider's words cannot break a line`() throws {
        let finding = try finding(.refused(error: "x\n", description: "a\u{1b}[2J\nb"))
        #expect(!finding.detail.contains("\n") && !finding.detail.contains("\u{1b}"))
    }
}
