import JOSE

/// `broker key generate`: a new private key in a file of its own.
enum KeyCommand {
    static let help = """
        Usage: broker key generate --alg ES256|PS256 --out FILE

        Makes a private key (P-256 for ES256, RSA of 2048 bits for PS256) as unencrypted
        PKCS #8 PEM in FILE, which must not exist yet and gets mode 0600. Prints the key's
        kid (its RFC 7638 thumbprint) and the URI to declare it by.
        """

    static func run(_ words: [String]) throws(CommandError) {
        guard words.first == "generate" else {
            throw .usage("the word after 'key' must be 'generate'")
        }
        let arguments = try Arguments(Array(words.dropFirst()), options: ["--alg", "--out"])
        guard let algorithm = JWSAlgorithm(rawValue: try arguments.required("--alg")) else {
            throw .usage("--alg must be ES256 or PS256")
        }
        let path = try arguments.required("--out")
        let key: PrivateKey
        var pem: [UInt8]
        do {
            key = try PrivateKey.generate(algorithm)
            pem = try key.pkcs8PEM()
        } catch {
            throw .unavailable("no key was made: \(error)")
        }
        defer { wipe(&pem) }
        try TextFile.createPrivate(path, pem)
        Output.line("kid \(key.publicJWK.thumbprint)")
        Output.line("uri \(absoluteURI(path))")
    }

    private static func absoluteURI(_ path: String) -> String {
        path.hasPrefix("/") ? "file:\(path)" : "file:\(Environment.currentDirectory)/\(path)"
    }
}
