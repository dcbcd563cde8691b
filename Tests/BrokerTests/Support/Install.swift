import JOSE
import Testing

/// An app install: a DPoP key that makes proofs.
struct Install: Sendable {
    let key: PrivateKey

    init(_ algorithm: JWSAlgorithm = .ES256) throws {
        key = try PrivateKey.generate(algorithm)
    }

    var jkt: String { key.publicJWK.thumbprint }

    /// A proof for a call to `url`; `change` breaks it.
    func proof(
        for url: String, iat: Int64, nonce: String?, _ change: (inout DPoPProof) -> Void = { _ in }
    ) throws -> String {
        var proof = DPoPProof(
            htm: "POST", uri: try #require(HTTPTargetURI(url)),
            jti: Base64URL.encode(try SecureRandom.bytes(16)), iat: iat, nonce: nonce)
        change(&proof)
        return try proof.compact(jwk: key.publicJWK) { (input) throws(KeyError) in
            try key.sign(input)
        }
    }
}
