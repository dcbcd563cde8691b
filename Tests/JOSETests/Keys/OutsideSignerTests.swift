import JOSE
import TestKit
import Testing

/// Signatures by others, verified by us.
@Suite struct OutsideSignerTests {
    @Test func `ES256 signatures by another implementation verify, altered ones do not`()
        async throws
    {
        let messages = (0..<200).map { Array("message \($0)".utf8) }
        let encoded = messages.map { "\"\(Base64URL.encode($0))\"" }.joined(separator: ",")
        let answer = try await Oracle.ask(
            "signatures.py", [#"{"op":"sign ES256","messages":[\#(encoded)]}"#])[0]
        let verifier = try PublicKey(PublicJWK(#require(answer["jwk"])))
        let signatures = try #require(answer["signatures"]?.array).compactMap {
            $0.string.flatMap { Base64URL.decode($0) }
        }
        #expect(signatures.count == messages.count)
        for (index, (message, signature)) in zip(messages, signatures).enumerated() {
            #expect(verifier.verifies(signature, over: message))
            var altered = signature
            altered[index % 64] ^= 1
            #expect(!verifier.verifies(altered, over: message))
            #expect(!verifier.verifies(signature, over: message + [0]))
            let swapped = Array(signature[32...] + signature[..<32])
            #expect(!verifier.verifies(swapped, over: message))
        }
    }

    @Test(arguments: [2048, 3072])
    func `of ten ways to sign with RSA only PS256 is accepted`(bits: Int) async throws {
        let message = Array("message".utf8)
        let answer = try await Oracle.ask(
            "signatures.py",
            [#"{"op":"sign RSA","bits":\#(bits),"message":"\#(Base64URL.encode(message))"}"#])[0]
        let verifier = try PublicKey(PublicJWK(#require(answer["jwk"])))
        let variants = try #require(answer["signatures"]?.members)
        for variant in variants {
            let signature = try #require(variant.value.string.flatMap { Base64URL.decode($0) })
            #expect(signature.count == bits / 8)
            #expect(
                verifier.verifies(signature, over: message) == (variant.name == "PS256"),
                "\(variant.name)")
        }
        #expect(variants.count == 10)
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `a DPoP proof by another implementation is accepted`(algorithm: JWSAlgorithm) async throws
    {
        let answer = try await Oracle.ask(
            "signatures.py",
            [
                #"{"op":"make proof","alg":"\#(algorithm.rawValue)","claims":{"jti":"a","htm":"GET","htu":"https://API.example:443/%7ea?x","iat":1700000000.5,"nonce":"n","extra":[1]}}"#
            ])[0]
        let proof = try #require(answer["proof"]?.string)
        let verified = try DPoPVerifier().verify(
            proof, method: "GET", uri: #require(HTTPTargetURI("https://api.example/~a")),
            now: 1_700_000_000, acceptsNonce: { $0 == "n" })
        #expect(verified.jkt.rawValue == answer["thumbprint"]?.string)
        #expect(verified.iat == 1_700_000_000)
        #expect(verified.nonce == "n")
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `our DPoP proof is accepted by another implementation`(algorithm: JWSAlgorithm)
        async throws
    {
        let key = try TestKeys.key(algorithm)
        let uri = try #require(HTTPTargetURI("https://api.example/a?x#y"))
        let proof = try DPoPProof(
            htm: "PATCH", uri: uri, jti: "j", iat: 1_700_000_000, nonce: "n", accessToken: "token"
        ).compact(jwk: key.publicJWK) { (input) throws(KeyError) in try key.sign(input) }
        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        let answer = try await Oracle.ask(
            "signatures.py",
            [#"{"op":"read JWT","alg":"\#(algorithm.rawValue)","jwk":\#(jwk),"token":"\#(proof)"}"#]
        )[0]
        #expect(answer["valid"]?.bool == true)
        let header = try #require(answer["header"])
        #expect(header["typ"]?.string == "dpop+jwt")
        #expect(header.members?.map(\.name).sorted() == ["alg", "jwk", "typ"])
        let members = try #require(header["jwk"]?.members).map(\.name)
        #expect(members == (algorithm == .ES256 ? ["kty", "crv", "x", "y"] : ["kty", "n", "e"]))
        let claims = try #require(answer["claims"])
        #expect(claims["htm"]?.string == "PATCH")
        #expect(claims["htu"]?.string == "https://api.example/a")
        #expect(claims["iat"]?.integer == 1_700_000_000)
        #expect(claims["jti"]?.string == "j")
        #expect(claims["nonce"]?.string == "n")
        #expect(claims["ath"]?.string == DPoPProof.accessTokenHash("token"))
        #expect(claims.members?.count == 6)
    }
}
