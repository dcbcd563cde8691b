#if os(Linux)
    public import JOSE

    /// P-256 keys, each in its own sealed file of mode 0600 in a directory of mode 0700 (R-100-08).
    public struct EncryptedFileKeyStore: KeyStore {
        private let directory: SealedDirectory

        /// - Parameter directory: made when missing; refused when group or others can use it.
        public init(directory: String, masterKey: MasterKey) throws(KeyStoreError) {
            do {
                self.directory = try SealedDirectory(
                    path: directory, key: masterKey, purpose: "key")
            } catch {
                throw KeyStoreError(error, label: "")
            }
        }

        /// Files are no hardware.
        public var isHardwareBacked: Bool { false }

        /// Makes a key; one of that label must not be there yet.
        public func generate(label: String) throws(KeyStoreError) -> PublicJWK {
            try KeyLabel.check(label)
            let key: PrivateKey
            var text: [UInt8]
            do {
                key = try PrivateKey.generate(.ES256)
                text = try key.pkcs8PEM()
            } catch {
                throw .failed(details: "\(error)")
            }
            defer { wipe(&text) }
            do {
                try directory.write(label, text, replacing: false)
            } catch {
                throw .init(error, label: label)
            }
            return key.publicJWK
        }

        /// The public key, `nil` when there is no key of that label.
        public func publicJWK(label: String) throws(KeyStoreError) -> PublicJWK? {
            try load(label)?.publicJWK
        }

        /// Signs a digest of 32 bytes; 64 bytes `r ‖ s`.
        public func sign(label: String, digest: [UInt8]) throws(KeyStoreError) -> [UInt8] {
            guard let key = try load(label) else { throw .missing(label: label) }
            do { return try key.sign(digest: digest) } catch { throw .failed(details: "\(error)") }
        }

        /// Forgets the key durably.
        public func delete(label: String) throws(KeyStoreError) {
            try KeyLabel.check(label)
            do { try directory.remove(label) } catch { throw .init(error, label: label) }
        }

        /// Every label, sorted.
        public func list() throws(KeyStoreError) -> [String] {
            do { return try directory.names() } catch { throw .init(error, label: "") }
        }

        private func load(_ label: String) throws(KeyStoreError) -> PrivateKey? {
            try KeyLabel.check(label)
            var text: [UInt8]
            do {
                guard let sealed = try directory.read(label) else { return nil }
                text = sealed
            } catch {
                throw .init(error, label: label)
            }
            defer { wipe(&text) }
            do {
                return try PrivateKey(encoded: text)
            } catch {
                throw .tampered(label: label)
            }
        }
    }

    extension KeyStoreError {
        init(_ fault: FileFault, label: String) {
            self =
                switch fault {
                case .tampered: .tampered(label: label)
                case .badName: .badLabel
                case .exists: .exists(label: label)
                default: .failed(details: fault.details)
                }
        }
    }
#endif
