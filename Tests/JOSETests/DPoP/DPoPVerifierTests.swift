import JOSE
import Testing

@Suite struct DPoPVerifierTests {
    let key: PrivateKey
    let uri: HTTPTargetURI

    init() throws {
        key = try PrivateKey.generate(.ES256)
        uri = try #require(HTTPTargetURI("https://broker.example/v1/assertions"))
    }

    func proof(_ change: (inout DPoPProof) -> Void = { _ in }) throws -> String {
        var proof = DPoPProof(htm: "POST", uri: uri, jti: "4f1f", iat: 1_700_000_000)
        change(&proof)
        return try proof.compact(jwk: key.publicJWK) { (input) throws(KeyError) in
            try key.sign(input)
        }
    }

    func verify(_ proof: String, acceptsNonce: (String?) -> Bool = { _ in true }) throws
        -> VerifiedDPoPProof
    {
        try DPoPVerifier().verify(
            proof, method: "POST", uri: uri, now: 1_700_000_000, acceptsNonce: acceptsNonce)
    }

    @Test func `verify undoes compact`() throws {
        let verified = try verify(proof())
        #expect(verified.jkt == DpopJkt(of: key.publicJWK))
        #expect(verified.jti == "4f1f")
    }

    @Test func `another method is refused`() throws {
        #expect(throws: DPoPError.method) { try verify(proof { $0.htm = "post" }) }
    }

    @Test(arguments: [-61, 11]) func `a time outside the window is refused`(offset: Int64) throws {
        #expect(throws: DPoPError.time) { try verify(proof { $0.iat += offset }) }
    }

    @Test func `a refused nonce asks for a new one`() throws {
        #expect(throws: DPoPError.useNonce) { try verify(proof(), acceptsNonce: { $0 != nil }) }
    }

    @Test func `another signature is refused`() throws {
        let other = try PrivateKey.generate(.ES256)
        let jwk = key.publicJWK
        let forged = try DPoPProof(htm: "POST", uri: uri, jti: "1", iat: 1_700_000_000)
            .compact(jwk: jwk) { (input) throws(KeyError) in try other.sign(input) }
        #expect(throws: DPoPError.signature) { try verify(forged) }
    }
}
