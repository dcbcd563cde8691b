import JOSE

/// An enrolled device key of a user at an issuer: the `identity/<keyId>` record.
public struct Identity: Sendable, Equatable {
    /// RFC 7638 thumbprint of the key; `kid` of device requests.
    public var keyId: String
    /// The user's address, as enrolled.
    public var email: String
    /// Where the key lies in the `KeyStore`.
    public var keyLabel: String
    /// Which provider it was enrolled at.
    public var issuer: String
    /// The provider's id for this device.
    public var deviceId: String
    /// Seconds since 1970 UTC; 0 when never used.
    public var lastUsed: Int64

    /// An identity.
    public init(
        keyId: String, email: String, keyLabel: String, issuer: String, deviceId: String,
        lastUsed: Int64 = 0
    ) {
        self.keyId = keyId
        self.email = email
        self.keyLabel = keyLabel
        self.issuer = issuer
        self.deviceId = deviceId
        self.lastUsed = lastUsed
    }

    init?(bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let keyId = json["key_id"]?.string,
            let email = json["email"]?.string, let label = json["key_label"]?.string,
            let issuer = json["issuer"]?.string, let device = json["device_id"]?.string,
            let lastUsed = json["last_used"]?.integer
        else { return nil }
        self.init(
            keyId: keyId, email: email, keyLabel: label, issuer: issuer, deviceId: device,
            lastUsed: lastUsed)
    }

    var json: JSONWriter {
        var json = JSONWriter()
        json.object {
            $0.member("key_id", keyId)
            $0.member("email", email)
            $0.member("key_label", keyLabel)
            $0.member("issuer", issuer)
            $0.member("device_id", deviceId)
            $0.member("last_used", lastUsed)
        }
        return json
    }
}

/// The enrolled keys of this device.
struct Identities: Sendable {
    static let prefix = "identity/"

    let store: any SecureStore

    /// Every readable identity record; one that cannot be opened is left out, not fatal.
    func all() throws(AuthnFault) -> [Identity] {
        let names = try storeFault { () throws(SecureStoreError) in
            try store.names(prefix: Self.prefix)
        }
        return names.compactMap { name in
            (try? store.read(name)).flatMap { $0 }.flatMap(Identity.init(bytes:))
        }
    }

    func save(_ identity: Identity) throws(AuthnFault) {
        try storeFault { () throws(SecureStoreError) in
            try store.replace(Self.prefix + identity.keyId, with: identity.json.bytes)
        }
    }

    /// Which key a sign-in uses.
    enum Choice: Equatable {
        /// This key, and its email as the hint.
        case key(Identity)
        /// No key here is the hinted user's (R-000-05).
        case stranger(hint: String)
        /// No key to sign in with (R-000-04).
        case none
    }

    /// R-000-04 to R-000-06. Email addresses compare without regard to ASCII case.
    static func choose(_ all: [Identity], issuer: String, hint: String?) -> Choice {
        if all.isEmpty { return .none }
        let here = all.filter { $0.issuer == issuer }
        guard let hint else {
            let newest = here.max { ($0.lastUsed, $0.keyId) < ($1.lastUsed, $1.keyId) }
            return newest.map { .key($0) } ?? .none
        }
        let match = here.filter { $0.email.lowercased() == hint.lowercased() }
            .max { ($0.lastUsed, $0.keyId) < ($1.lastUsed, $1.keyId) }
        return match.map { .key($0) } ?? .stranger(hint: hint)
    }
}
