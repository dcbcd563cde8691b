/// A public key as a JWK: P-256 for ES256 or RSA for PS256 (RFC 7517, RFC 7518 §6).
///
/// Values exist only in canonical form, so one key has one thumbprint.
public struct PublicJWK: Sendable, Hashable {
    /// The key itself.
    public enum Material: Sendable, Hashable {
        /// Affine coordinates on P-256, 32 octets each.
        case p256(x: [UInt8], y: [UInt8])
        /// Modulus and exponent, big-endian without leading zeros.
        case rsa(modulus: [UInt8], exponent: [UInt8])
    }

    /// The key itself.
    public let material: Material
    /// The key id, when the JWK carries one; free text, only ever compared.
    public var kid: String?

    /// A key from its parts.
    ///
    /// - Throws: `JWKError` for a coordinate that is not 32 octets or RSA outside 2048 to 8192 bits. Whether the
    ///   point is on the curve shows when a `PublicKey` is made of it.
    public init(_ material: Material, kid: String? = nil) throws(JWKError) {
        switch material {
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32 else { throw .invalidPoint }
        case .rsa(let modulus, let exponent):
            guard RSALimits.accepts(modulus: modulus, exponent: exponent) else {
                throw .unacceptableRSA
            }
        }
        self.material = material
        self.kid = kid
    }

    /// The one algorithm this key serves.
    public var algorithm: JWSAlgorithm {
        switch material {
        case .p256: .ES256
        case .rsa: .PS256
        }
    }

    /// SHA-256 over the required members in their fixed order (RFC 7638 §3), as 43 base64url characters.
    public var thumbprint: String {
        Base64URL.encode(SHA256.hash(thumbprintInput.utf8))
    }

    private var thumbprintInput: String {
        switch material {
        case .p256(let x, let y):
            "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(Base64URL.encode(x))\",\"y\":\"\(Base64URL.encode(y))\"}"
        case .rsa(let modulus, let exponent):
            "{\"e\":\"\(Base64URL.encode(exponent))\",\"kty\":\"RSA\",\"n\":\"\(Base64URL.encode(modulus))\"}"
        }
    }
}

/// Which RSA public keys are accepted: 2048 to 8192 bits, an odd exponent of at least 3 and at most 64 bits.
///
/// The upper bounds keep a stranger from choosing how long one signature check takes.
enum RSALimits {
    static func accepts(modulus: [UInt8], exponent: [UInt8]) -> Bool {
        guard let top = modulus.first, top != 0, let low = modulus.last, low & 1 == 1 else {
            return false
        }
        let bits = modulus.count * 8 - top.leadingZeroBitCount
        guard bits >= 2048, bits <= 8192 else { return false }
        guard let first = exponent.first, first != 0, exponent.count <= 8, let last = exponent.last,
            last & 1 == 1
        else { return false }
        return exponent.count > 1 || last >= 3
    }
}
