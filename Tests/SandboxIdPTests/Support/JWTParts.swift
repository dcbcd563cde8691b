import JOSE

/// A JWT in parts a test can change one by one. Values are JSON texts, so that a test can also write what no encoder would.
struct JWTParts {
    var header: [String: String]
    var claims: [String: String]
    var signer: PrivateKey
    /// Changes the octets that are signed or the signature itself, after everything else.
    var tamper: (String) -> String = { $0 }
    /// The whole payload, instead of `claims`.
    var payload: String?

    func compact() throws -> String {
        let text = try JWSBuilder.compact(
            header: Array(Self.object(header).utf8),
            payload: Array((payload ?? Self.object(claims)).utf8)
        ) { (input) throws(KeyError) in try signer.sign(input) }
        return tamper(text)
    }

    private static func object(_ members: [String: String]) -> String {
        "{"
            + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
            .joined(separator: ",") + "}"
    }

    /// A JSON string.
    static func quoted(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return json.text
    }
}
