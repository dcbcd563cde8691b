import AssertionMint
import JOSE

/// The verifier of client assertions, as the consume call uses it. The first octet chooses; the rest is the assertion as it
/// came (bit 0 clear), or header, NUL and payload, which are signed well so that what lies behind the signature is reached.
enum AssertionTarget: FuzzTarget {
    private static let now: Int64 = 1_764_500_000
    private static let issuers = ["https://idp.example/t1", "https://idp.example"]
    private static let lifetime: Int64 = 60

    /// `es` and `rs` are made anew for each run. Of `fixed` nobody has the private half any more: it signed seeds of the corpus.
    private static let signingKeys: [PrivateKey] = [JWSAlgorithm.ES256, .PS256].compactMap {
        try? PrivateKey.generate($0)
    }
    private static let keys: [PublicJWK] = {
        let made = zip(signingKeys, ["es", "rs"]).map { key, kid in
            var jwk = key.publicJWK
            jwk.kid = kid
            return jwk
        }
        let fixed = try? PublicJWK(
            .p256(
                x: Base64URL.decode("s_ZGvJq4_AxN2jbGdtVmd_Hvqyo05Y2MmSWZxbr27wU") ?? [],
                y: Base64URL.decode("EA_geBwf13fjNjAGlw97FxK4o1ptASfsc8R5754Q5bU") ?? []),
            kid: "fixed")
        return made + [fixed].compactMap(\.self)
    }()

    static func run(_ bytes: [UInt8]) {
        guard keys.count == 3 else { return promise(false, "the target's own keys") }
        guard let choice = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let types = AssertionProfile.HeaderType.allCases
        let verifier = verifier("app", type: types[Int(choice >> 1 & 3) % types.count])
        let audience = choice & 8 == 0 ? nil : issuers[0]
        let key = signingKeys[Int(choice >> 4 & 1)]
        guard
            let text = choice & 1 == 0 ? String(decoding: rest, as: UTF8.self) : signed(rest, key),
            let verifier, let found = verify(text, verifier, audience)
        else { return }
        checkContent(found, audience)
        checkRefusals(
            text, found, verifier, audience, type: types[Int(choice >> 1 & 3) % types.count])
    }

    private static func verifier(
        _ client: String, type: AssertionProfile.HeaderType
    ) -> ClientAssertionVerifier? {
        guard let id = ClientId(client),
            let profile = AssertionProfile(type: type, lifetime: lifetime)
        else { return nil }
        return ClientAssertionVerifier(
            clientId: id, issuers: issuers.compactMap(Issuer.init), profile: profile, keys: keys)
    }

    private static func verify(
        _ text: String, _ verifier: ClientAssertionVerifier, _ audience: String?, now: Int64 = now
    ) -> VerifiedClientAssertion? {
        guard let assertion = try? ClientAssertion(parsing: text) else { return nil }
        return try? verifier.verify(assertion, audience: audience, now: now)
    }

    private static func checkContent(_ found: VerifiedClientAssertion, _ audience: String?) {
        promise(found.clientId.rawValue == "app", "client \(found.clientId)")
        promise(keys.contains { $0.kid == found.kid }, "kid \(found.kid)")
        promise(
            (found.algorithm == .PS256) == (found.kid == "rs"), "\(found.algorithm) by \(found.kid)"
        )
        promise(issuers.contains(found.audience.rawValue), "audience \(found.audience)")
        promise(
            audience == nil || found.audience.rawValue == audience, "not the audience asked for")
        promise(JTI(found.jti.rawValue) == found.jti, "jti \(found.jti)")
        promise(found.dpopJkt.map { DpopJkt($0.rawValue) == $0 } ?? true, "jkt")
        promise(found.replayHash.count == 32, "replay hash")
        let times = found.times
        promise(times.expiresAt > now && times.issuedAt <= now + 60, "\(times)")
        promise((1...lifetime).contains(times.expiresAt - times.issuedAt), "\(times)")
    }

    /// The same assertion says the same again, and is refused wherever one thing about it or its judge is another.
    private static func checkRefusals(
        _ text: String, _ found: VerifiedClientAssertion, _ verifier: ClientAssertionVerifier,
        _ audience: String?, type: AssertionProfile.HeaderType
    ) {
        promise(verify(text, verifier, audience) == found, "not the same twice")
        promise(verify(text, verifier, audience, now: found.times.expiresAt) == nil, "expired")
        let other = issuers.first { $0 != found.audience.rawValue }
        promise(verify(text, verifier, other) == nil, "another audience")
        for otherType in AssertionProfile.HeaderType.allCases where otherType != type {
            promise(
                self.verifier("app", type: otherType).flatMap { verify(text, $0, nil) } == nil,
                "typ")
        }
        promise(self.verifier("App", type: type).flatMap { verify(text, $0, nil) } == nil, "client")
        // One changed character of the payload or the signature.
        var octets = Array(text.utf8)
        let places = [octets.count - 3, (octets.lastIndex(of: UInt8(ascii: ".")) ?? 1) - 2]
        for place in places where octets.indices.contains(place) {
            let was = octets[place]
            octets[place] = was == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            promise(
                verify(String(decoding: octets, as: UTF8.self), verifier, audience) == nil,
                "altered at \(place) and still good")
            octets[place] = was
        }
    }

    private static func signed(_ bytes: [UInt8], _ key: PrivateKey) -> String? {
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        return try? JWSBuilder.compact(
            header: Array(parts[0]), payload: parts.count > 1 ? Array(parts[1]) : []
        ) { (input) throws(KeyError) in try key.sign(input) }
    }
}
