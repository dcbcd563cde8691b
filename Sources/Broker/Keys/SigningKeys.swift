import JOSE
import Synchronization

/// The private keys this process holds, each loaded once and kept from one directory to the next.
final class SigningKeys: Sendable {
    private let load: @Sendable (String) throws(KeyError) -> PrivateKey
    private let loaded = Mutex<[String: PrivateKey]>([:])

    init(
        load: @escaping @Sendable (String) throws(KeyError) -> PrivateKey = {
            (uri) throws(KeyError) in
            try PrivateKey.load(uri: uri)
        }
    ) {
        self.load = load
    }

    /// The private half of `publicJWK` at `uri`.
    ///
    /// - Throws: `KeyError`, `.unusable` when the key there is another than the one that was declared.
    func key(uri: String, publicJWK: PublicJWK) throws(KeyError) -> PrivateKey {
        if let key = loaded.withLock({ $0[uri] }), key.publicJWK.material == publicJWK.material {
            return key
        }
        let key = try load(uri)
        guard key.publicJWK.material == publicJWK.material else { throw .unusable }
        loaded.withLock { $0[uri] = key }
        return key
    }

    /// Holds the keys of `other` from now on, and no others.
    func adopt(_ other: SigningKeys) {
        let keys = other.loaded.withLock(\.self)
        loaded.withLock { $0 = keys }
    }

    /// Lets go of every key that is not at one of these URIs.
    func keep(only uris: Set<String>) {
        loaded.withLock { loaded in loaded = loaded.filter { uris.contains($0.key) } }
    }
}
