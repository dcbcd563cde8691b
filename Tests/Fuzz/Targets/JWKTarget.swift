import JOSE

/// A JWK and a key set. What is read is written again with the same members and keeps its thumbprint.
enum JWKTarget: FuzzTarget {
    static func run(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes) else { return }
        if let key = try? PublicJWK(json) { check(key, json) }
        guard let set = try? JWKSet(json) else { return }
        let again = (try? JSONValue(parsing: Array(set.jsonText.utf8))).flatMap { try? JWKSet($0) }
        promise(again?.keys == set.keys, "a key set is written as \(set.jsonText)")
    }

    private static func check(_ key: PublicJWK, _ json: JSONValue) {
        for asSigningKey in [true, false] {
            let text = key.jsonText(asSigningKey: asSigningKey)
            guard let written = try? JSONValue(parsing: Array(text.utf8)),
                let again = try? PublicJWK(written)
            else { return promise(false, "unreadable: \(text)") }
            promise(again.material == key.material, "another key: \(text)")
            promise(!asSigningKey || again.kid == key.kid, "another kid: \(text)")
            promise(again.thumbprint == key.thumbprint, "another thumbprint: \(text)")
            for name in ["kty", "crv", "x", "y", "n", "e"] {
                promise(written[name]?.string == json[name]?.string || isForeign(name, key), name)
            }
        }
        promise(DpopJkt(key.thumbprint) == DpopJkt(of: key), "thumbprint \(key.thumbprint)")
        // Whether the point is on the curve or OpenSSL takes the key: refused or not, but never a crash.
        if let verifier = try? PublicKey(key) {
            promise(!verifier.verifies([UInt8](repeating: 1, count: 64), over: [1]), "verified")
        }
    }

    /// A member of the other key type is passed over.
    private static func isForeign(_ name: String, _ key: PublicJWK) -> Bool {
        switch key.material {
        case .p256: ["n", "e"].contains(name)
        case .rsa: ["crv", "x", "y"].contains(name)
        }
    }
}
