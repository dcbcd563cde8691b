internal import COpenSSL

/// Which public keys are strong enough: 112 bits of security (RFC 9325 §4.5).
enum KeyStrength {
    static let shortestRSA: Int32 = 2048

    /// OpenSSL's security level 2 means the same, but rounds: it takes RSA of 2047 bits, and of some dozens fewer.
    static func isEnough(_ key: OpaquePointer?) -> Bool {
        guard let key else { return false }
        return switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: EVP_PKEY_get_bits(key) >= shortestRSA
        case EVP_PKEY_EC: EVP_PKEY_get_bits(key) >= 256
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: true
        default: false
        }
    }
}
