#if canImport(CryptoKit) && canImport(Security)
    import CryptoKit
    import Foundation
    public import JOSE
    import Security

    /// P-256 keys that the Secure Enclave makes and never gives out (R-100-07). What the Keychain keeps under the label is the enclave's own
    /// sealed form, of use to this one enclave only. Type-checked, never run on a device.
    public struct SecureEnclaveKeyStore: KeyStore {
        private let keychain: Keychain

        /// - Parameter accessGroup: shared by an app and its extensions; `nil` is the app's own.
        /// - Throws: `failed` on a device without an enclave, such as a simulator.
        public init(
            service: String = "authn.keys", accessGroup: String? = nil
        ) throws(KeyStoreError) {
            guard SecureEnclave.isAvailable else { throw .failed(details: "no Secure Enclave") }
            keychain = Keychain(service: service, accessGroup: accessGroup)
        }

        /// The enclave does not give keys out.
        public var isHardwareBacked: Bool { true }

        /// Makes a key; one of that label must not be there yet.
        public func generate(label: String) throws(KeyStoreError) -> PublicJWK {
            try KeyLabel.check(label)
            guard
                let access = SecAccessControlCreateWithFlags(
                    nil, Keychain.accessibility, [.privateKeyUsage], nil)
            else { throw .failed(details: "SecAccessControlCreateWithFlags") }
            let key: SecureEnclave.P256.Signing.PrivateKey
            do {
                key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: access)
            } catch {
                throw .failed(details: "enclave: \(error)")
            }
            let isNew: Bool
            do { isNew = try keychain.add(label, key.dataRepresentation) } catch {
                throw .failed(details: error.details)
            }
            // The enclave keeps nothing: a key whose sealed form is dropped is gone.
            guard isNew else { throw .exists(label: label) }
            return try Self.jwk(key)
        }

        /// The public key, `nil` when there is no key of that label.
        public func publicJWK(label: String) throws(KeyStoreError) -> PublicJWK? {
            guard let key = try load(label) else { return nil }
            return try Self.jwk(key)
        }

        /// Signs a digest of 32 bytes; 64 bytes `r ‖ s`.
        public func sign(label: String, digest: [UInt8]) throws(KeyStoreError) -> [UInt8] {
            guard let given = GivenDigest(digest) else {
                throw .failed(details: "the digest is not 32 bytes")
            }
            guard let key = try load(label) else { throw .missing(label: label) }
            do {
                return Array(try key.signature(for: given).rawRepresentation)
            } catch {
                throw .failed(details: "enclave: \(error)")
            }
        }

        /// Forgets the key's sealed form, and with it the key.
        public func delete(label: String) throws(KeyStoreError) {
            try KeyLabel.check(label)
            do { try keychain.remove(label) } catch { throw .failed(details: error.details) }
        }

        /// Every label, sorted.
        public func list() throws(KeyStoreError) -> [String] {
            do { return try keychain.accounts() } catch { throw .failed(details: error.details) }
        }

        private func load(
            _ label: String
        ) throws(KeyStoreError) -> SecureEnclave.P256.Signing.PrivateKey? {
            try KeyLabel.check(label)
            let sealed: Data?
            do { sealed = try keychain.read(label) } catch { throw .failed(details: error.details) }
            guard let sealed else { return nil }
            do {
                return try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: sealed)
            } catch {
                throw .tampered(label: label)
            }
        }

        /// CryptoKit's raw form is `x ‖ y`, 32 bytes each.
        private static func jwk(
            _ key: SecureEnclave.P256.Signing.PrivateKey
        ) throws(KeyStoreError) -> PublicJWK {
            let raw = Array(key.publicKey.rawRepresentation)
            do {
                return try PublicJWK(.p256(x: Array(raw.prefix(32)), y: Array(raw.dropFirst(32))))
            } catch {
                throw .failed(details: "public key: \(error)")
            }
        }
    }

    /// A SHA-256 that was computed elsewhere, for CryptoKit to sign as it is.
    private struct GivenDigest: CryptoKit.Digest {
        static var byteCount: Int { 32 }
        private let bytes: [UInt8]

        init?(_ bytes: [UInt8]) {
            guard bytes.count == Self.byteCount else { return nil }
            self.bytes = bytes
        }

        var description: String { "SHA-256, given" }

        func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }

        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try bytes.withUnsafeBytes(body)
        }
    }
#endif
