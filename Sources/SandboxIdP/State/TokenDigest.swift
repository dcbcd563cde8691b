import JOSE

/// The SHA-256 of a secret handle (a code, an `auth_session`, a refresh token): what the provider keeps of it, so that
/// no look-up ever compares the secret itself.
struct TokenDigest: Hashable, Sendable {
    private let octets: [UInt8]

    init(of secret: String) {
        octets = SHA256.hash(secret.utf8)
    }
}
