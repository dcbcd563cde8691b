import AssertionMint
import JOSE

/// A client's transport tokens: the organisation's API client and where its secret lies. A client without has none.
struct TransportTokenSettings: Hashable, Sendable {
    /// `file:/absolute/path` or `credential:NAME`; the secret itself never stands in a declaration or in the database.
    let secretURI: String
    let profile: TransportTokenProfile

    /// Reads the member `transport_tokens` of a client; `nil` when it is not there, or not good.
    init?(_ client: DocumentObject, faults: inout DocumentFaults) {
        guard let value = client.value("transport_tokens"),
            let object = DocumentObject(
                value, path: client.child("transport_tokens"),
                allowed: ["secret", "cid", "iss", "aud", "lifetime", "backdating"],
                faults: &faults)
        else { return nil }
        func text(_ name: String) -> ClaimText? {
            object.required(
                name, "must be 1 to 512 printable ASCII characters without blanks", &faults
            ) { $0.string.flatMap(ClaimText.init) }
        }
        let secretURI = object.required(
            "secret", "must be a URI such as file:/etc/token-broker/secrets/org or credential:NAME",
            &faults
        ) { $0.string.flatMap { SharedSecret.isURI($0) ? $0 : nil } }
        let (clientId, issuer, audience) = (text("cid"), text("iss"), text("aud"))
        let lifetime = object.integer(
            "lifetime", default: 60, in: TransportTokenProfile.lifetimes, &faults)
        let backdating = object.integer(
            "backdating", default: 0, in: TransportTokenProfile.backdatings, &faults)
        guard let secretURI, let clientId, let issuer, let audience,
            let profile = TransportTokenProfile(
                clientId: clientId, issuer: issuer, audience: audience, lifetime: lifetime,
                backdating: backdating)
        else { return nil }
        self.secretURI = secretURI
        self.profile = profile
    }

    /// Writes the value of the member.
    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("secret", secretURI)
            $0.member("cid", profile.clientId.rawValue)
            $0.member("iss", profile.issuer.rawValue)
            $0.member("aud", profile.audience.rawValue)
            $0.member("lifetime", profile.lifetime)
            $0.member("backdating", profile.backdating)
        }
    }
}
