import AssertionMint
import JOSE

/// What a client may have and how its assertions look: everything about it but its keys.
///
/// The same form stands in a declaration file and, as one document, in the database; both are read by the same code.
struct ClientSettings: Hashable, Sendable {
    let algorithm: JWSAlgorithm
    let issuers: [Issuer]
    let gates: [Gate]
    /// Whose certificates pass the `mtls` parts of the gates; empty when no gate has one.
    let certificates: [CertificateIdentity]
    let profile: AssertionProfile
    let limits: ClientLimits
    /// `nil`: the client has no transport tokens.
    let transportTokens: TransportTokenSettings?
    /// `nil`: the client's installs get no attestations.
    let attestations: AttestationProfile?
    /// Where the provider was told to fetch the client's keys, when that is not the broker's own URL. `broker doctor` looks
    /// there; nothing else depends on it.
    let jwksURI: String?

    static let members: Set<String> = [
        "alg", "issuers", "gates", "certificates", "typ", "lifetime", "backdating", "bind_jkt",
        "limits", "transport_tokens", "client_attestations", "jwks_uri",
    ]

    init?(_ object: DocumentObject, faults: inout DocumentFaults) {
        let before = faults.list.count
        let algorithm = object.required("alg", "must be ES256 or PS256", &faults) {
            $0.string.flatMap(JWSAlgorithm.init(rawValue:))
        }
        issuers =
            Self.list(
                object, "issuers",
                "must be a list of issuer identifiers: https URLs without query and fragment",
                &faults
            ) { $0.string.flatMap(Issuer.init) } ?? []
        gates =
            Self.list(
                object, "gates", "must be a list; each entry \(Gate.expectation)", &faults,
                Gate.init) ?? []
        certificates = Self.certificates(object, gates: gates, &faults)
        let type = object.optional(
            "typ", default: AssertionProfile.HeaderType.clientAuthentication,
            "must be client-authentication+jwt, JWT or none", &faults
        ) { $0.string.flatMap(AssertionProfile.HeaderType.init(rawValue:)) }
        let lifetime = object.integer(
            "lifetime", default: 60, in: AssertionProfile.lifetimes, &faults)
        let backdating = object.integer(
            "backdating", default: 0, in: AssertionProfile.backdatings, &faults)
        if backdating >= lifetime {
            faults.add(
                "must be shorter than lifetime, or an assertion has expired when it is made",
                path: object.child("backdating"),
                offset: object.value("backdating")?.offset ?? object.offset)
        }
        let profile = AssertionProfile(
            type: type, lifetime: lifetime, backdating: backdating,
            bindsInstall: object.optional(
                "bind_jkt", default: true, "must be true or false", &faults, \.bool))
        limits = ClientLimits(object, faults: &faults)
        transportTokens = TransportTokenSettings(object, faults: &faults)
        attestations = AttestationProfile(object, faults: &faults)
        jwksURI =
            object.optional(
                "jwks_uri",
                "must be an https URL without fragment, where the provider finds the keys",
                &faults, Self.keySetURL) ?? nil
        guard faults.list.count == before, let algorithm, let profile else { return nil }
        self.algorithm = algorithm
        self.profile = profile
    }

    /// The settings as the database keeps them: every member written, defaults too, so that a later change of a default
    /// changes no client that is already declared.
    func writeMembers(to json: inout JSONWriter) {
        json.member("alg", algorithm.rawValue)
        json.name("issuers")
        json.array { for issuer in issuers { $0.string(issuer.rawValue) } }
        json.name("gates")
        json.array { for gate in gates { gate.write(to: &$0) } }
        if !certificates.isEmpty {
            json.name("certificates")
            json.array { for certificate in certificates { certificate.write(to: &$0) } }
        }
        json.member("typ", profile.type.rawValue)
        json.member("lifetime", profile.lifetime)
        json.member("backdating", profile.backdating)
        json.member("bind_jkt", profile.bindsInstall)
        json.name("limits")
        limits.write(to: &json)
        if let transportTokens {
            json.name("transport_tokens")
            transportTokens.write(to: &json)
        }
        if let attestations {
            json.name("client_attestations")
            attestations.write(to: &json)
        }
        if let jwksURI { json.member("jwks_uri", jwksURI) }
    }

    private static func keySetURL(_ value: JSONValue) -> String? {
        guard let text = value.string, text.utf8.count <= 2048,
            !text.utf8.contains(UInt8(ascii: "#")), let uri = HTTPTargetURI(text),
            // As for issuers: plain http is for development on one machine.
            uri.isSecure || ["127.0.0.1", "[::1]", "localhost"].contains(uri.host)
        else { return nil }
        return text
    }

    /// Seconds that something the client's key signed may be good for: how long the key stays published after it signed last.
    var signedLifetime: Int64 { max(profile.lifetime, attestations?.lifetime ?? 0) }

    /// A list that must be there, hold at least one entry and no entry twice.
    private static func list<Element: Hashable>(
        _ object: DocumentObject, _ name: String, _ expectation: String,
        _ faults: inout DocumentFaults,
        _ convert: (JSONValue) -> Element?
    ) -> [Element]? {
        object.required(name, expectation + "; at least one, none twice", &faults) { value in
            guard let array = value.array, !array.isEmpty else { return nil }
            let elements = array.compactMap(convert)
            guard elements.count == array.count, Set(elements).count == elements.count else {
                return nil
            }
            return elements
        }
    }
}
