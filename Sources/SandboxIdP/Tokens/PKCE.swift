import JOSE

/// Proof Key for Code Exchange with `S256`, the only method accepted (RFC 7636, FAPI 2.0 §5.3.2.2).
struct CodeChallenge: Sendable, Equatable {
    private let digest: [UInt8]

    /// Reads the challenge of an authorization request.
    ///
    /// - Throws: `invalid_request` when it is absent, no 43 canonical base64url characters, or not made with `S256`.
    init(_ form: Form) throws(OAuthFault) {
        let text = try form.required("code_challenge")
        guard form["code_challenge_method"] == "S256" else {
            throw .invalidRequest(.malformed("code_challenge_method"))
        }
        guard let digest = Base64URL.decode(text), digest.count == SHA256.length else {
            throw .invalidRequest(.malformed("code_challenge"))
        }
        self.digest = digest
    }

    /// A challenge by its digest.
    init(digest: [UInt8]) {
        self.digest = digest
    }

    /// Whether `verifier` has the right form and is the one the challenge was made of: its ASCII text is hashed, not what
    /// it would decode to.
    func isMet(by verifier: String) -> Bool {
        (43...128).contains(verifier.utf8.count) && verifier.utf8.allSatisfy(Self.isUnreserved)
            && constantTimeEquals(SHA256.hash(verifier.utf8), digest)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(octet)
        }
    }
}
