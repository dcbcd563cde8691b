public import JOSE

/// Non-exportable P-256 keys (R-100-07): nothing here ever returns private key bytes.
/// Calls may block on a disk or an enclave; the SDK makes them on its own threads.
public protocol KeyStore: Sendable {
    /// Whether the keys live in hardware that does not give them out.
    var isHardwareBacked: Bool { get }

    /// Makes a key and keeps it under `label`, replacing none.
    func generate(label: String) throws(KeyStoreError) -> PublicJWK

    /// The public key, `nil` when there is no key of that label.
    func publicJWK(label: String) throws(KeyStoreError) -> PublicJWK?

    /// An ECDSA signature over a SHA-256 digest of 32 bytes, as `r ‖ s`, 64 bytes (RFC 7518 §3.4).
    func sign(label: String, digest: [UInt8]) throws(KeyStoreError) -> [UInt8]

    /// Forgets the key; no error when there is none.
    func delete(label: String) throws(KeyStoreError)

    /// Every label, sorted.
    func list() throws(KeyStoreError) -> [String]
}

/// What a key store can fail with. Labels are the SDK's own and no secret.
public enum KeyStoreError: Error, Equatable {
    /// There is no key of that label.
    case missing(label: String)
    /// There is already a key of that label.
    case exists(label: String)
    /// The label cannot name a key: empty, over 100 bytes, or with other characters than `a-zA-Z0-9._-`.
    case badLabel
    /// The stored key was altered, renamed, or sealed under another master key.
    case tampered(label: String)
    /// Disk, enclave or library failed; text for developers.
    case failed(details: String)
}
