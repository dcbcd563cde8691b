import JOSE
import Testing

/// `rfc-examples.json`: every entry, every variant.
@Suite struct RFCExampleTests {
    private let file: VectorFile

    init() throws {
        file = try VectorFile("rfc-examples.json")
    }

    private func text(_ entry: JSONValue, _ names: String...) throws -> String {
        try #require(names.reduce(entry as JSONValue?) { $0?[$1] }?.string)
    }

    private func isSigned(_ token: String, by jwk: JSONValue?) throws -> Bool {
        try CompactJWS(parsing: token.utf8).isSigned(by: PublicKey(PublicJWK(#require(jwk))))
    }

    @Test func `every entry of the file has a test here`() {
        #expect(
            file.json.members?.map(\.name) == [
                "_about", "rfc7515_appendix_A3_es256", "rfc7515_appendix_C_base64url",
                "rfc7638_section_3_1_thumbprint", "rfc7636_appendix_B_pkce", "rfc9449_dpop",
                "draft_ietf_oauth_attestation_based_client_auth_10",
                "rfc9126_section_2_1_client_assertion_rs256",
                "project_made_es256_client_assertion", "project_made_ps256_client_assertion",
                "project_made_ec_jwk_leading_zero_x",
            ])
    }

    @Test func `RFC 7515 A.3: verifies, with its high s and with the low one, and never as DER`()
        throws
    {
        let entry = try #require(file["rfc7515_appendix_A3_es256"])
        let jws = try CompactJWS(parsing: text(entry, "compact_jws").utf8)
        #expect(try jws.signingInput == Array(text(entry, "signing_input").utf8))
        #expect(try jws.payload == Array(text(entry, "payload_octets_utf8").utf8))
        #expect(
            try jws.signature
                == bytes(hex: text(entry, "signature_R_hex") + text(entry, "signature_S_hex")))
        let jwk = try PublicJWK(#require(entry["public_jwk"]))
        #expect(try jwk.thumbprint == text(entry, "public_jwk_thumbprint_sha256"))
        #expect(try jws.isSigned(by: PublicKey(jwk)))
        #expect(
            try isSigned(
                text(entry, "variants", "low_s_twin_also_verifies"), by: entry["public_jwk"]))
        #expect(
            try !isSigned(
                text(entry, "variants", "der_encoded_signature_must_be_refused"),
                by: entry["public_jwk"]))
        #expect(entry["variants"]?.members?.count == 2)
    }

    @Test func `RFC 7515 appendix C`() throws {
        let entry = try #require(file["rfc7515_appendix_C_base64url"])
        let octets = try #require(entry["octets"]?.array).compactMap(\.integer).map(UInt8.init)
        #expect(try Base64URL.encode(octets) == text(entry, "base64url"))
        #expect(try Base64URL.decode(text(entry, "base64url")) == octets)
    }

    @Test func `RFC 7638 §3.1: the thumbprint; and as an RS256 key it is refused`() throws {
        let entry = try #require(file["rfc7638_section_3_1_thumbprint"])
        let published = try #require(entry["jwk_as_published"])
        #expect(throws: JWKError.notForSignatures) { try PublicJWK(published) }
        // The canonical form holds the required members alone, without `alg`.
        let canonical = try text(entry, "canonical_json")
        let jwk = try PublicJWK(JSONValue(parsing: Array(canonical.utf8)))
        #expect(try jwk.thumbprint == text(entry, "thumbprint_sha256"))
        #expect(
            try Base64URL.encode(SHA256.hash(canonical.utf8)) == text(entry, "thumbprint_sha256"))
    }

    @Test func `RFC 7636 appendix B: verifier and challenge`() throws {
        let entry = try #require(file["rfc7636_appendix_B_pkce"])
        let octets = { (name: String) in
            entry[name]?.array?.compactMap(\.integer).map(UInt8.init) ?? []
        }
        let verifier = try text(entry, "code_verifier")
        #expect(Base64URL.encode(octets("verifier_octets")) == verifier)
        #expect(SHA256.hash(verifier.utf8) == octets("sha256_octets"))
        #expect(try Base64URL.encode(SHA256.hash(verifier.utf8)) == text(entry, "code_challenge"))
    }

    @Test func `RFC 9449: the three proofs, the thumbprint and the token hash`() throws {
        let entry = try #require(file["rfc9449_dpop"])
        let token = try text(entry, "access_token")
        #expect(try DPoPProof.accessTokenHash(token) == text(entry, "ath"))
        let jwk = try PublicJWK(#require(entry["proof_public_jwk"]))
        #expect(try jwk.thumbprint == text(entry, "jkt"))
        #expect(
            try Base64URL.encode(SHA256.hash(text(entry, "jkt_canonical_json").utf8))
                == text(entry, "jkt"))

        let proofs = try #require(entry["proofs"]?.array)
        for proof in proofs {
            let claims = try #require(proof["claims"])
            let iat = try #require(claims["iat"]?.integer)
            let verified = try DPoPVerifier().verify(
                text(proof, "jwt"), method: text(claims, "htm"),
                uri: #require(HTTPTargetURI(text(claims, "htu"))), now: iat,
                accessToken: claims["ath"] == nil ? nil : token, acceptsNonce: { $0 == nil })
            #expect(try verified.jkt.rawValue == text(entry, "jkt"))
            #expect(try verified.jti == text(claims, "jti"))
            #expect(verified.iat == iat)
        }
        #expect(proofs.count == 3)
    }

    @Test func `RFC 9449 §6.1: the token's claims name the proof's key`() throws {
        let entry = try #require(file["rfc9449_dpop"])
        let token = try text(entry, "bound_jwt_access_token_section_6_1", "jwt")
        let claims = try CompactJWS(parsing: token.utf8).claims()
        #expect(try claims["cnf"]?["jkt"]?.string == text(entry, "jkt"))
        #expect(claims["exp"]?.numericDate == 1_562_266_216)
        // Its issuer's key is not published; the proof's key did not make it.
        #expect(try !isSigned(token, by: entry["proof_public_jwk"]))
    }

    @Test(arguments: ["pop_for_authorization_server", "pop_for_resource_server"])
    func `attestation draft -10: both proofs of possession verify`(name: String) throws {
        let entry = try #require(file["draft_ietf_oauth_attestation_based_client_auth_10"])
        let attestation = try CompactJWS(parsing: text(entry, "client_attestation_jwt").utf8)
        #expect(attestation.hasType("oauth-client-attestation+jwt"))
        let jwk = try attestation.claims()["cnf"]?["jwk"]
        let pop = try CompactJWS(parsing: text(entry, name).utf8)
        #expect(pop.hasType("oauth-client-attestation-pop+jwt"))
        #expect(try isSigned(text(entry, name), by: jwk))
        let claims = try pop.claims()
        let published = try #require(entry["\(name)_claims"])
        for member in try #require(published.members) where member.name != "iat" {
            #expect(claims[member.name]?.string == member.value.string)
        }
        #expect(claims["iat"]?.integer == published["iat"]?.integer)
    }

    @Test func `RFC 9126 §2.1: a valid RS256 assertion is refused`() throws {
        let entry = try #require(file["rfc9126_section_2_1_client_assertion_rs256"])
        #expect(throws: JWSError.algorithm) {
            try CompactJWS(parsing: text(entry, "client_assertion").utf8)
        }
    }

    @Test func `an ES256 assertion, with a leading zero kept and with it dropped`() throws {
        let entry = try #require(file["project_made_es256_client_assertion"])
        let jwk = entry["public_jwk"]
        #expect(try isSigned(text(entry, "client_assertion"), by: jwk))
        let kept = try text(entry, "variants", "r_with_leading_zero_octet_verifies")
        let dropped = try text(
            entry, "variants", "r_leading_zero_dropped_63_octets_must_be_refused")
        #expect(try CompactJWS(parsing: kept.utf8).signature.first == 0)
        #expect(try isSigned(kept, by: jwk))
        #expect(try CompactJWS(parsing: dropped.utf8).signature.count == 63)
        #expect(try !isSigned(dropped, by: jwk))
        #expect(entry["variants"]?.members?.count == 2)
    }

    @Test func `a PS256 assertion: 32 octets of salt and nothing else`() throws {
        let entry = try #require(file["project_made_ps256_client_assertion"])
        let input = try text(entry, "signing_input")
        let variants = try #require(entry.members).filter { $0.name.hasPrefix("signature_") }
        for variant in variants {
            let token = "\(input).\(try #require(variant.value.string))"
            #expect(
                try isSigned(token, by: entry["public_jwk"])
                    == (variant.name == "signature_salt32_verifies"), "\(variant.name)")
        }
        #expect(variants.count == 5)
    }

    @Test func `a coordinate that starts with a zero keeps it, and is refused without`() throws {
        let entry = try #require(file["project_made_ec_jwk_leading_zero_x"])
        let jwk = try PublicJWK(#require(entry["jwk"]))
        #expect(try jwk.thumbprint == text(entry, "thumbprint_sha256"))
        #expect(throws: Never.self) { try PublicKey(jwk) }
        #expect(throws: JWKError.invalidPoint) {
            try PublicJWK(#require(entry["jwk_with_x_shortened_to_31_octets_must_be_refused"]))
        }
    }
}
