import JOSE
import TestKit
import Testing

/// A shared secret is a kind of its own, held to the custody of key files.
@Suite struct SharedSecretTests {
    private static let good = "k9Vt-QyPz3XcW8m_LrB2sNfHu6JdEaGo"
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func load(_ text: String, mode: Int = 0o600) throws -> SharedSecret {
        try SharedSecret.load(
            uri: "file:" + directory.write(Array(text.utf8), to: "secret", mode: mode))
    }

    private func error(_ text: String, mode: Int = 0o600) -> SharedSecretError? {
        do {
            _ = try load(text, mode: mode)
            return nil
        } catch { return error as? SharedSecretError }
    }

    /// HMAC by the openssl command, as hex.
    private func outsideCode(_ secret: String, over input: String) async throws -> String {
        let output = try await runChecked(
            ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "key:\(secret)", "-r"],
            input: Array(input.utf8))
        return String(decoding: output.prefix { $0 != 0x20 }, as: UTF8.self)
    }

    private func hex(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func `codes are those of the openssl command, and a line end is no part of the secret`(
        end: String
    ) async throws {
        let secret = try load(Self.good + end)
        for input in ["a", "header.payload", String(repeating: "x", count: 5000)] {
            #expect(
                hex(try secret.code(over: Array(input.utf8)))
                    == (try await outsideCode(Self.good, over: input)))
        }
    }

    @Test(arguments: 0..<20)
    func `secrets of every length make the codes of the openssl command`(seed: UInt64) async throws
    {
        var random = SeededRandom(seed: seed)
        // Neither blanks nor what the command's own option would take apart.
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_.~!*")
        let length = Int.random(in: SharedSecret.lengths, using: &random)
        let text = String(
            (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
        let secret = try load(text)
        #expect(
            hex(try secret.code(over: Array("input \(seed)".utf8)))
                == (try await outsideCode(text, over: "input \(seed)")))
    }

    @Test(arguments: [0o604, 0o606, 0o644, 0o666, 0o660, 0o620])
    func `a file that others may read, or its group may write, is refused`(mode: Int) {
        #expect(error(Self.good, mode: mode) == .file(.permissions))
    }

    @Test func `its owner's group may read it`() throws {
        #expect(error(Self.good, mode: 0o640) == nil)
        #expect(error(Self.good, mode: 0o400) == nil)
    }

    @Test func `what is no file, and what is too large, is refused`() throws {
        #expect(throws: SharedSecretError.file(.unreadableFile(errno: 2))) {
            try SharedSecret.load(uri: "file:\(directory.file("none"))")
        }
        #expect(throws: SharedSecretError.file(.notAKeyFile)) {
            try SharedSecret.load(uri: "file:\(directory.path)")
        }
        #expect(error(String(repeating: Self.good, count: 3000)) == .file(.notAKeyFile))
    }

    static let badForms: [(String, SharedSecretError)] = [
        ("", .length(0)), ("\n", .length(0)), (String(good.dropLast()), .length(31)),
        (String(repeating: good, count: 33), .length(1056)),
        (good + " ", .form), (" " + good, .form), (good + "\n\n", .form),
        (good + "\n" + good, .form),
        (good + "\t", .form), (good + "\u{0}", .form), ("é" + good, .form),
        ("\u{feff}" + good, .form),
        (String(repeating: "a", count: 32), .guessable),
        (String(repeating: "changeme", count: 8), .guessable),
        (String(repeating: "0123456", count: 9), .guessable),
    ]

    @Test(arguments: badForms)
    func `what is not one line of enough characters is refused`(
        text: String, wanted: SharedSecretError
    ) {
        #expect(error(text) == wanted)
    }

    /// RFC 8725 §2.1: a public key that is taken for a secret is known to everybody.
    @Test func `a key is no secret, in whatever form it comes`() async throws {
        let key = try PrivateKey.generate(.ES256)
        let path = directory.file("key.pem")
        try directory.write(key.pkcs8PEM(), to: "key.pem")
        try await runChecked([
            "openssl", "pkey", "-in", path, "-outform", "DER", "-out", path + ".der",
        ])
        try await runChecked(["openssl", "pkey", "-in", path, "-pubout", "-out", path + ".pub"])
        try await runChecked([
            "openssl", "pkey", "-in", path, "-pubout", "-outform", "DER", "-out", path + ".pub.der",
        ])
        for name in ["key.pem", "key.pem.pub"] {
            #expect(throws: SharedSecretError.isKey) {
                try SharedSecret(text: try directory.read(name))
            }
        }
        for name in ["key.pem.der", "key.pem.pub.der"] {
            #expect(throws: SharedSecretError.form) {
                try SharedSecret(text: try directory.read(name))
            }
        }
        for jwk in [
            key.publicJWK.jsonText(asSigningKey: true), #"{"kty":"oct","k":"\#(Self.good)"}"#,
        ] {
            #expect(error(jwk) == .isKey)
        }
    }

    /// Private and public keys and a certificate in every structure, in one line of base64.
    @Test(arguments: [
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        ["genpkey", "-algorithm", "ED25519"],
    ])
    func `a key in a line of base64 is no secret`(kind: [String]) async throws {
        let path = directory.file("key.pem")
        try await runChecked(["openssl"] + kind + ["-out", path])
        var forms: [[UInt8]] = []
        for options in [["-outform", "DER"], ["-pubout", "-outform", "DER"]] {
            forms.append(try await runChecked(["openssl", "pkey", "-in", path] + options))
        }
        forms.append(
            try await runChecked([
                "openssl", "req", "-x509", "-key", path, "-subj", "/CN=test", "-outform", "DER",
            ]))
        if !kind.contains("ED25519") {
            forms.append(
                try await runChecked([
                    "openssl", "pkey", "-in", path, "-traditional", "-outform", "DER",
                ]))
        }
        for (index, der) in forms.enumerated() {
            let url = Base64URL.encode(der)
            let plain = url.replacing("-", with: "+").replacing("_", with: "/")
            let padding = String(repeating: "=", count: (4 - url.utf8.count % 4) % 4)
            for text in [url, url + padding, plain, plain + padding, plain + padding + "\r\n"] {
                #expect(error(text) == .isKey, "form \(index)")
            }
        }
    }

    @Test(arguments: [
        #"{"kty":"EC","kty":"EC","crv":"P-256","d":"\#(good)"}"#, #"{"kty":"EC","d":"\#(good)""#,
        #"{"kty":"RSA","d":"\#(good)",}"#, #"{'kty':'RSA','d':'\#(good)'}"#,
        #"[{"kty":"oct","k":"\#(good)"}]"#, #"{"keys":[{"kty":"oct","k":"\#(good)"}]}"#,
        " \t{\"d\":\"\(good)\"}", "\r\n[{\"d\":\"\(good)\"}]", "{\(good)", "[\(good)",
    ])
    func `what begins as JSON is no secret, whatever is wrong with it`(text: String) {
        #expect(error(text) == .isKey)
    }

    @Test func `base64 of anything but one whole SEQUENCE may be a secret`() {
        let body = (0..<40).map { UInt8($0 * 5) }
        for octets in [
            [0x30, 41] + body, [0x30, 39] + body, [0x31, 40] + body, [0x30, 0x80] + body,
            [0x30, 0x81, 41] + body, [0x30, 0x85, 0, 0, 0, 0, 40] + body, [0x30, 0x82] + body,
        ] {
            #expect(error(Base64URL.encode(octets)) == nil)
        }
        for octets in [
            [0x30, 40] + body, [0x30, 0x81, 40] + body, [0x30, 0x84, 0, 0, 0, 40] + body,
        ] {
            #expect(error(Base64URL.encode(octets)) == .isKey)
        }
    }

    @Test func `no key is made of a secret`() throws {
        #expect(throws: KeyError.self) {
            try PrivateKey(encoded: Array(Self.good.utf8))
        }
        let oct = try JSONValue(parsing: Array(#"{"kty":"oct","k":"\#(Self.good)"}"#.utf8))
        #expect(throws: JWKError.privateMember("k")) { try PublicJWK(oct) }
        #expect(JWSAlgorithm(rawValue: SharedSecret.algorithm) == nil)
    }

    @Test(arguments: [
        "", "file:", "file:relative", "file://host/path", "/etc/secret", "env:SECRET", "fd:3",
        "pkcs11:token=x;object=y", "handle:0x81000001", "file:/a?passphrase-source=file:/b",
        "file:/a\u{0}b", "credential:", "credential:a/b", "credential:..", "credential:.",
        "https://idp.example/secret", "data:,\(good)",
    ])
    func `any other place is refused before it is looked at`(uri: String) {
        #expect(!SharedSecret.isURI(uri))
        #expect(throws: SharedSecretError.unsupportedURI) { try SharedSecret.load(uri: uri) }
    }

    @Test func `a systemd credential may hold it`() throws {
        #expect(SharedSecret.isURI("credential:org-secret"))
        #expect(SharedSecret.isURI("file:///etc/secret"))
    }

    @Test func `neither a secret nor a fault shows any of it`() throws {
        let secret = try load(Self.good)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "<secret>")
        #expect(String(reflecting: secret) == "<secret>")
        #expect(!dumped.contains(Self.good))
        for (text, wanted) in Self.badForms where text.utf8.count > 8 {
            #expect(!"\(wanted)".contains(text))
        }
    }
}
