import JOSE

/// Signs DPoP proofs with the install key (R-100-30). Every call makes a new one (R-100-31).
struct ProofMaker: Sendable {
    let key: InstallKey
    let keyStore: any KeyStore
    let clock: any AuthnClock
    let random: any RandomSource
    let nonces: NonceTable
    let offsets: ClockOffsets

    /// A proof and the nonce it carries, to tell a fresh challenge from a repeated one.
    struct Proof: Sendable {
        let text: Secret<String>
        let nonce: String?
    }

    /// - Parameters:
    ///   - method: as it goes on the wire.
    ///   - accessToken: sent in the same request; its hash becomes `ath`.
    func proof(
        method: String, url: RequestURL, accessToken: Secret<String>? = nil
    ) throws(AuthnFault) -> Proof {
        let jti: String
        do { jti = try random.text(16) } catch { throw .random }
        let proof = DPoPProof(
            htm: method, uri: url.target, jti: jti,
            iat: clock.now() + offsets.offset(for: url.origin),
            nonce: nonces.nonce(for: url.origin), accessToken: accessToken?.expose())
        let signer = SignedJWT(keyStore: keyStore, label: key.label)
        let text = try proof.compact(jwk: key.publicJWK, sign: signer.sign)
        return Proof(text: Secret(text), nonce: proof.nonce)
    }
}
