#if os(Linux)
    public import JOSE
    import Synchronization

    /// Keys in memory, for tests.
    public final class InMemoryKeyStore: KeyStore {
        private let keys = Mutex<[String: PrivateKey]>([:])
        private let make: @Sendable () throws(KeyError) -> PrivateKey

        /// An empty store.
        public convenience init() {
            self.init { () throws(KeyError) in try PrivateKey.generate(.ES256) }
        }

        /// - Parameter make: where each new key comes from.
        init(_ make: @escaping @Sendable () throws(KeyError) -> PrivateKey) { self.make = make }

        /// Memory is no hardware.
        public var isHardwareBacked: Bool { false }

        /// Makes a key; one of that label must not be there yet.
        public func generate(label: String) throws(KeyStoreError) -> PublicJWK {
            try KeyLabel.check(label)
            let key: PrivateKey
            do {
                key = try make()
            } catch {
                throw .failed(details: "\(error)")
            }
            let isNew = keys.withLock { keys in
                if keys[label] != nil { return false }
                keys[label] = key
                return true
            }
            guard isNew else { throw .exists(label: label) }
            return key.publicJWK
        }

        /// The public key, `nil` when there is no key of that label.
        public func publicJWK(label: String) throws(KeyStoreError) -> PublicJWK? {
            try KeyLabel.check(label)
            return keys.withLock { $0[label] }?.publicJWK
        }

        /// Signs a digest of 32 bytes; 64 bytes `r ‖ s`.
        public func sign(label: String, digest: [UInt8]) throws(KeyStoreError) -> [UInt8] {
            try KeyLabel.check(label)
            guard let key = keys.withLock({ $0[label] }) else { throw .missing(label: label) }
            do { return try key.sign(digest: digest) } catch { throw .failed(details: "\(error)") }
        }

        /// Forgets the key.
        public func delete(label: String) throws(KeyStoreError) {
            try KeyLabel.check(label)
            keys.withLock { $0[label] = nil }
        }

        /// Every label, sorted.
        public func list() throws(KeyStoreError) -> [String] {
            keys.withLock { $0.keys.sorted() }
        }
    }
#endif
