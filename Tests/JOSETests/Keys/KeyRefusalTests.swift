import JOSE
import TestKit
import Testing

/// Cases, keys "Weak or unsuitable key". Every key is made by the openssl command when the test runs.
@Suite struct KeyRefusalTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func generate(_ arguments: String...) async throws {
        try await runChecked(["openssl"] + arguments + ["-out", directory.file("key.pem")])
    }

    private func load(_ name: String = "key.pem") throws(KeyError) -> PrivateKey {
        try PrivateKey.load(uri: "file:\(directory.file(name))")
    }

    @Test(arguments: [
        (1024, KeyError.rsaLength(bits: 1024)), (2047, .rsaLength(bits: 2047)),
    ])
    func `RSA of fewer than 2048 bits is refused`(bits: Int, error: KeyError) async throws {
        try await generate("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)")
        #expect(throws: error) { try load() }
    }

    @Test func `RSA with the exponent 3 is refused, with 65537 it is taken`() async throws {
        try await generate(
            "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt",
            "rsa_keygen_pubexp:3")
        #expect(throws: KeyError.rsaExponent) { try load() }
        try await generate("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        #expect(try load().algorithm == .PS256)
    }

    @Test(arguments: [
        ("secp384r1", "secp384r1"), ("secp521r1", "secp521r1"), ("secp256k1", "secp256k1"),
    ])
    func `another curve than P-256 is refused by name`(curve: String, name: String) async throws {
        try await generate(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)")
        #expect(throws: KeyError.unsupportedCurve(name)) { try load() }
    }

    @Test(arguments: ["ED25519", "X25519", "ED448"])
    func `a key of another kind is refused by name`(kind: String) async throws {
        try await generate("genpkey", "-algorithm", kind)
        #expect(throws: KeyError.unsupportedType(kind)) { try load() }
    }

    @Test func `a curve spelt out instead of named is refused, in PKCS 8 and in SEC1`() async throws
    {
        try await generate(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt",
            "ec_param_enc:explicit")
        #expect(throws: KeyError.explicitCurve) { try load() }
        for form in ["PEM", "DER"] {
            try await runChecked([
                "openssl", "pkey", "-in", directory.file("key.pem"), "-traditional", "-outform",
                form, "-out",
                directory.file("sec1"),
            ])
            #expect(throws: KeyError.explicitCurve) { try load("sec1") }
        }
    }

    @Test(arguments: ["PEM", "DER"])
    func `a public key or a certificate is no private key`(form: String) async throws {
        try await runChecked([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj",
            "/CN=test", "-keyout", directory.file("key.pem"), "-outform", form, "-out",
            directory.file("certificate"),
        ])
        try await runChecked([
            "openssl", "pkey", "-in", directory.file("key.pem"), "-pubout", "-outform", form,
            "-out",
            directory.file("public"),
        ])
        for name in ["certificate", "public"] {
            try directory.write(directory.read(name), to: name, mode: 0o600)
        }
        #expect(throws: KeyError.noPrivateKey) { try load("certificate") }
        #expect(throws: KeyError.noPrivateKey) { try load("public") }
    }

    @Test func `an encrypted key without a passphrase source is refused and nobody is asked`()
        async throws
    {
        try await runChecked([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-aes256", "-pass",
            "pass:canary", "-out", directory.file("key.pem"),
        ])
        #expect(throws: KeyError.encrypted) { try load() }
        try await runChecked([
            "openssl", "pkey", "-in", directory.file("key.pem"), "-passin", "pass:canary",
            "-traditional", "-aes128",
            "-passout", "pass:canary", "-out", directory.file("traditional.pem"),
        ])
        #expect(throws: KeyError.encrypted) { try load("traditional.pem") }
        try await runChecked([
            "openssl", "pkcs8", "-topk8", "-in", directory.file("key.pem"), "-passin",
            "pass:canary", "-passout",
            "pass:canary", "-outform", "DER", "-out", directory.file("key.der"),
        ])
        #expect(throws: KeyError.encrypted) { try load("key.der") }
    }

    @Test(arguments: [0o644, 0o604, 0o602, 0o601, 0o660, 0o620, 0o666, 0o777])
    func `a key that other users may read or the group may write is refused`(mode: Int) throws {
        try directory.write(TestKeys.key(.ES256).pkcs8PEM(), to: "key.pem", mode: mode)
        #expect(throws: KeyError.permissions) { try load() }
    }

    @Test(arguments: [0o600, 0o400, 0o640, 0o440])
    func `a key for its owner, and a group that reads, is taken`(mode: Int) throws {
        try directory.write(TestKeys.key(.ES256).pkcs8PEM(), to: "key.pem", mode: mode)
        #expect(throws: Never.self) { try load() }
    }

    @Test func `what is no key file is refused without hanging`() async throws {
        #expect(throws: KeyError.unreadableFile(errno: 2)) { try load("absent") }
        try await runChecked(["mkfifo", "-m", "600", directory.file("fifo")])
        #expect(throws: KeyError.notAKeyFile) { try load("fifo") }
        #expect(throws: KeyError.notAKeyFile) {
            try PrivateKey.load(uri: "file:\(directory.path)")
        }
        try directory.write([UInt8](repeating: 0x41, count: 65_537), to: "large")
        #expect(throws: KeyError.notAKeyFile) { try load("large") }
        #expect(throws: KeyError.notAKeyFile) { try PrivateKey.load(uri: "file:/dev/zero") }
    }

    @Test(arguments: [
        "", "key.pem", "/etc/key.pem", "file:", "file:key.pem", "file://host/key.pem",
        "file:////key.pem", "pkcs12:token=a", "http://a/key.pem",
        "FILE:/key.pem", "file:/key\u{0}.pem", "file:./key.pem",
    ])
    func `a URI that is not an absolute file is refused`(uri: String) {
        #expect(throws: KeyError.unsupportedURI) { try PrivateKey.load(uri: uri) }
    }

    @Test func `no message shows key text`() async throws {
        let pem = String(decoding: try TestKeys.key(.ES256).pkcs8PEM(), as: UTF8.self)
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let broken = [
            String(pem.dropLast(40)), pem + pem, pem.replacing("-----END", with: "-----ENDE"),
            pem.replacing("M", with: "!"), lines.joined(separator: "\n"),
        ]
        for text in broken {
            do {
                _ = try PrivateKey(encoded: Array(text.utf8))
                Issue.record("accepted")
            } catch {
                let shown = "\(error) \(String(reflecting: error))"
                #expect(!error.description.isEmpty)
                #expect(!lines.contains { shown.contains($0.prefix(12)) })
            }
        }
    }
}
