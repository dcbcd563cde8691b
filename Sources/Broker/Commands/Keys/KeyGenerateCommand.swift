import JOSE

/// `broker key generate`: a new private key in a file of its own.
enum KeyGenerateCommand {
    static func run(_ words: [String]) throws(CommandError) {
        let arguments = try Arguments(words, options: ["--alg", "--out"])
        guard let algorithm = JWSAlgorithm(rawValue: try arguments.required("--alg")) else {
            throw .usage("--alg must be ES256 or PS256")
        }
        let path = try arguments.required("--out")
        let kid = try generate(algorithm, at: path)
        Output.line("kid \(kid)")
        Output.line("uri \(uri(of: path))")
    }

    /// Writes a new key into a file that must not exist yet: whole, or not at all.
    ///
    /// - Returns: its kid.
    static func generate(
        _ algorithm: JWSAlgorithm, at path: String
    ) throws(CommandError) -> String {
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
        return key.publicJWK.thumbprint
    }

    static func uri(of path: String) -> String {
        path.hasPrefix("/") ? "file:\(path)" : "file:\(Environment.currentDirectory)/\(path)"
    }
}
