internal import COpenSSL

/// The key of session tickets for some time: AES-256-CBC, then HMAC-SHA-256 over it (RFC 5077 §4). Wiped at the end.
///
/// Sendable: nothing changes its octets between `init` and `deinit`.
final class TicketKey: @unchecked Sendable {
    static let nameLength = 16
    private static let cipherLength = 32
    private static let macLength = 32

    /// In seconds since 1970 UTC.
    let createdAt: Int64
    /// Name, cipher key and MAC key, one behind the other.
    private let octets: UnsafeMutablePointer<UInt8>
    private static let length = nameLength + cipherLength + macLength

    /// `nil` when the random generator fails.
    init?(createdAt: Int64) {
        self.createdAt = createdAt
        octets = .allocate(capacity: Self.length)
        octets.initialize(repeating: 0, count: Self.length)
        guard RAND_priv_bytes(octets, Int32(Self.length)) == 1 else {
            ERR_clear_error()
            return nil
        }
    }

    deinit {
        OPENSSL_cleanse(octets, Self.length)
        octets.deallocate()
    }

    /// What a ticket names it by.
    var name: [UInt8] { Array(UnsafeBufferPointer(start: octets, count: Self.nameLength)) }

    func isNamed(_ name: UnsafePointer<UInt8>) -> Bool {
        CRYPTO_memcmp(name, octets, Self.nameLength) == 0
    }

    /// Prepares a new ticket: writes the key's name and a fresh vector.
    func prepareSealing(
        name: UnsafeMutablePointer<UInt8>, vector: UnsafeMutablePointer<UInt8>,
        _ cipher: OpaquePointer, _ mac: OpaquePointer
    ) -> Bool {
        name.update(from: octets, count: Self.nameLength)
        return RAND_bytes(vector, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1
            && EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), cipherKey, vector, nil) == 1
            && copenssl_EVP_MAC_CTX_set_hmac_sha256(mac, macKey, Self.macLength) == 1
    }

    /// Prepares the opening of a ticket that names this key.
    func prepareOpening(
        vector: UnsafePointer<UInt8>, _ cipher: OpaquePointer, _ mac: OpaquePointer
    ) -> Bool {
        copenssl_EVP_MAC_CTX_set_hmac_sha256(mac, macKey, Self.macLength) == 1
            && EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), cipherKey, vector, nil) == 1
    }

    private var cipherKey: UnsafeMutablePointer<UInt8> { octets + Self.nameLength }
    private var macKey: UnsafeMutablePointer<UInt8> { cipherKey + Self.cipherLength }
}
