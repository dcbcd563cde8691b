import JOSE

/// Notes that a refresh is out, so that a process that died meanwhile is known later (R-000-57).
struct RefreshJournal: Sendable {
    static let recordName = "refresh-journal"

    let store: any SecureStore

    /// Whether an earlier refresh was never finished.
    func isOpen() -> Bool {
        (try? store.read(Self.recordName)).flatMap { $0 } != nil
    }

    /// Written before the request; holds a hash, never the token.
    func open(_ refreshToken: Secret<String>, at now: Int64) throws(AuthnFault) {
        var json = JSONWriter()
        json.object {
            $0.member("token_hash", Base64URL.encode(SHA256.hash(refreshToken.expose().utf8)))
            $0.member("started_at", now)
        }
        let bytes = json.bytes
        try storeFault { () throws(SecureStoreError) in
            try store.replace(Self.recordName, with: bytes)
        }
    }

    /// Removed after the answer is stored. A note that stays behind costs one diagnostic.
    func close() {
        try? store.remove(Self.recordName)
    }
}
