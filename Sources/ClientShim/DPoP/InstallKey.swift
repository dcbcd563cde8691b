import JOSE
import Synchronization

/// This install's DPoP key (R-100-13): where it lies and what it looks like from outside.
struct InstallKey: Sendable, Equatable {
    let label: String
    let publicJWK: PublicJWK

    /// RFC 7638 SHA-256 thumbprint, 43 base64url characters (R-100-36).
    var dpopJkt: String { publicJWK.thumbprint }
}

/// Finds the install key, or makes it on first use.
final class InstallKeys: Sendable {
    private let keyStore: any KeyStore
    private let store: any SecureStore
    private let random: any RandomSource
    /// Two flows that start at once must not make two keys. Held across calls into the stores, which
    /// know nothing of this object and cannot call back.
    private let making = Mutex(())

    static let recordName = "install"

    init(keyStore: any KeyStore, store: any SecureStore, random: any RandomSource) {
        self.keyStore = keyStore
        self.store = store
        self.random = random
    }

    /// The key, when this install has one and the key store still holds it.
    func current() throws(AuthnFault) -> InstallKey? {
        guard let record = try load() else { return nil }
        guard
            let jwk = try keyFault({ () throws(KeyStoreError) in
                try keyStore.publicJWK(label: record.keyLabel)
            })
        else { return nil }
        return InstallKey(label: record.keyLabel, publicJWK: jwk)
    }

    /// The key, made now when there is none. The record is durable before the key is used, so that a
    /// crash between leaves a label without a key and not a key nobody knows of.
    func ensure() throws(AuthnFault) -> InstallKey {
        try making.withLock { _ throws(AuthnFault) in try findOrMake() }
    }

    private func findOrMake() throws(AuthnFault) -> InstallKey {
        if let key = try current() { return key }
        let record = try InstallRecord.random(random, keeping: load()?.installId)
        try storeFault { () throws(SecureStoreError) in
            try store.replace(Self.recordName, with: record.json.bytes)
        }
        let jwk = try keyFault { () throws(KeyStoreError) in
            try keyStore.generate(label: record.keyLabel)
        }
        return InstallKey(label: record.keyLabel, publicJWK: jwk)
    }

    private func load() throws(AuthnFault) -> InstallRecord? {
        let bytes = try storeFault { () throws(SecureStoreError) in try store.read(Self.recordName)
        }
        return bytes.flatMap(InstallRecord.init(bytes:))
    }
}

/// The `install` record: a random id and the label of the DPoP key.
struct InstallRecord: Sendable, Equatable {
    let installId: String
    let keyLabel: String

    static func random(
        _ random: any RandomSource, keeping installId: String?
    ) throws(AuthnFault) -> InstallRecord {
        do {
            return InstallRecord(
                installId: try installId ?? random.text(16),
                keyLabel: "dpop-" + (try random.text(8)))
        } catch {
            throw .random
        }
    }

    private init(installId: String, keyLabel: String) {
        self.installId = installId
        self.keyLabel = keyLabel
    }

    init?(bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let id = json["install_id"]?.string,
            let label = json["key_label"]?.string
        else { return nil }
        installId = id
        keyLabel = label
    }

    var json: JSONWriter {
        var json = JSONWriter()
        json.object {
            $0.member("install_id", installId)
            $0.member("key_label", keyLabel)
        }
        return json
    }
}
