/// Why a JWK is not a public key this product uses (RFC 7517, RFC 7518 §6).
public enum JWKError: Error, Equatable, Sendable {
    /// Not a JSON object.
    case notAnObject
    /// A member is missing or of the wrong type.
    case badMember(String)
    /// A member of a private or symmetric key where only public keys belong.
    case privateMember(String)
    /// `kty` names a kind of key that is not used here.
    case unsupportedType
    /// An EC key that is not on P-256.
    case unsupportedCurve
    /// A coordinate that is not exactly 32 octets (RFC 7518 §6.2.1.2), or a point off the curve.
    case invalidPoint
    /// RSA with fewer than 2048 or more than 8192 bits, a leading zero octet, or an unusable exponent.
    case unacceptableRSA
    /// `use`, `key_ops` or `alg` forbid signature checks with ES256 or PS256.
    case notForSignatures
}
