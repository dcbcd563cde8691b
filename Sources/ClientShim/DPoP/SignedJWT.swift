import JOSE

/// Makes compact JWS texts with a key that never leaves its `KeyStore`. Always ES256.
struct SignedJWT: Sendable {
    let keyStore: any KeyStore
    let label: String

    /// Header and claims as JSON texts in, `header.claims.signature` out.
    func make(header: JSONWriter, claims: JSONWriter) throws(AuthnFault) -> Secret<String> {
        Secret(try JWSBuilder.compact(header: header.bytes, payload: claims.bytes, sign: sign))
    }

    /// The signature over a signing input, in JOSE form.
    func sign(_ input: [UInt8]) throws(AuthnFault) -> [UInt8] {
        do {
            return try keyStore.sign(label: label, digest: SHA256.hash(input))
        } catch {
            throw .keyStore(error)
        }
    }
}
