extension PublicJWK {
    /// Reads a public JWK; members it does not know are ignored, private ones are refused.
    public init(_ json: JSONValue) throws(JWKError) {
        guard let members = json.members else { throw .notAnObject }
        for member in members where Self.privateMembers.contains(member.name) {
            throw .privateMember(member.name)
        }
        let kid = try Self.optionalText(json, "kid")
        switch try Self.text(json, "kty") {
        case "EC":
            guard try Self.text(json, "crv") == "P-256" else { throw .unsupportedCurve }
            let x = try Self.octets(json, "x")
            let y = try Self.octets(json, "y")
            try self.init(.p256(x: x, y: y), kid: kid)
        case "RSA":
            let modulus = try Self.octets(json, "n")
            let exponent = try Self.octets(json, "e")
            try self.init(.rsa(modulus: modulus, exponent: exponent), kid: kid)
        default: throw .unsupportedType
        }
        try checkPurpose(json)
    }

    /// Writes the key from an allow-list of members: never anything but `kty`, the public material, and on request
    /// `kid`, `use` and `alg`.
    ///
    /// - Parameter asSigningKey: adds `kid` (when there is one), `use` and `alg`, as a key set wants them; without, the
    ///   bare key of a DPoP header or a `cnf` claim.
    public func write(to json: inout JSONWriter, asSigningKey: Bool) {
        json.object { json in
            switch material {
            case .p256(let x, let y):
                json.member("kty", "EC")
                json.member("crv", "P-256")
                json.member("x", Base64URL.encode(x))
                json.member("y", Base64URL.encode(y))
            case .rsa(let modulus, let exponent):
                json.member("kty", "RSA")
                json.member("n", Base64URL.encode(modulus))
                json.member("e", Base64URL.encode(exponent))
            }
            guard asSigningKey else { return }
            if let kid { json.member("kid", kid) }
            json.member("use", "sig")
            json.member("alg", algorithm.rawValue)
        }
    }

    /// The text `write` makes.
    public func jsonText(asSigningKey: Bool) -> String {
        var json = JSONWriter()
        write(to: &json, asSigningKey: asSigningKey)
        return json.text
    }

    private static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// RFC 7517 §4.2 to §4.4: what the key says it is for must include checking a signature of our algorithm.
    private func checkPurpose(_ json: JSONValue) throws(JWKError) {
        let use = try Self.optionalText(json, "use")
        if let use, use != "sig" { throw .notForSignatures }
        if let operations = json["key_ops"] {
            guard let list = operations.array else { throw .badMember("key_ops") }
            guard list.contains(where: { $0.string == "verify" }) else { throw .notForSignatures }
            // Where both are given they must say the same.
            let agrees = list.allSatisfy { $0.string == "verify" || $0.string == "sign" }
            guard use == nil || agrees else { throw .notForSignatures }
        }
        if let alg = try Self.optionalText(json, "alg"), alg != algorithm.rawValue {
            throw .notForSignatures
        }
    }

    private static func text(_ json: JSONValue, _ name: String) throws(JWKError) -> String {
        guard let text = json[name]?.string else { throw .badMember(name) }
        return text
    }

    private static func optionalText(_ json: JSONValue, _ name: String) throws(JWKError) -> String?
    {
        guard let value = json[name] else { return nil }
        guard let text = value.string else { throw .badMember(name) }
        return text
    }

    private static func octets(_ json: JSONValue, _ name: String) throws(JWKError) -> [UInt8] {
        guard let octets = Base64URL.decode(try text(json, name)) else { throw .badMember(name) }
        return octets
    }
}
