import JOSE
import TestKit
import Testing

/// Cases, keys "Key file text forms": one key in every spelling has one thumbprint.
@Suite struct KeyFileFormTests {
    private let directory: TemporaryDirectory

    init() async throws {
        directory = try TemporaryDirectory()
        // `ecparam` puts an EC PARAMETERS block in front of the SEC1 key.
        try await runChecked([
            "openssl", "ecparam", "-name", "prime256v1", "-genkey", "-out",
            directory.file("parameters.pem"),
        ])
        try await runChecked([
            "openssl", "ec", "-in", directory.file("parameters.pem"), "-out",
            directory.file("sec1.pem"),
        ])
        try await runChecked([
            "openssl", "pkcs8", "-topk8", "-nocrypt", "-in", directory.file("sec1.pem"), "-out",
            directory.file("pkcs8.pem"),
        ])
        try await runChecked([
            "openssl", "req", "-x509", "-key", directory.file("pkcs8.pem"), "-subj", "/CN=test",
            "-out",
            directory.file("certificate.pem"),
        ])
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try directory.read(name), as: UTF8.self)
    }

    /// The key's coordinates by another reader.
    private func expectedThumbprint() async throws -> String {
        let der = try await runChecked([
            "openssl", "pkey", "-in", directory.file("pkcs8.pem"), "-pubout", "-outform", "DER",
        ])
        let point = der.suffix(64)
        return try PublicJWK(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
            .thumbprint
    }

    @Test func `every form with one key gives the same key`() async throws {
        let expected = try await expectedThumbprint()
        #expect(try text("parameters.pem").contains("BEGIN EC PARAMETERS"))
        var loaded = 0
        for name in ["parameters.pem", "sec1.pem", "pkcs8.pem"] {
            let pem = try text(name)
            let certificate = try text("certificate.pem")
            let spellings = [
                pem, pem.replacing("\n", with: "\r\n"), pem.replacing("\n", with: "\r"),
                "\u{feff}\(pem)",
                "Bag Attributes\n    friendlyName: key\n\n\(pem)", "\(pem)trailing words\n",
                String(pem.dropLast()),
                pem.replacing("\n", with: " \t\n"), "\n\n\(pem)\n\n", "\(certificate)\(pem)",
                "\(pem)\(certificate)",
                pem.replacing("\n", with: "\\n"), pem.replacing("\n", with: "\\n") + "\n",
                pem.split(separator: "\n").map { "    \($0)\n" }.joined(),
            ]
            for (index, spelling) in spellings.enumerated() {
                let key = try? PrivateKey(encoded: Array(spelling.utf8))
                #expect(key?.publicJWK.thumbprint == expected, "\(name), spelling \(index)")
                loaded += 1
            }
        }
        #expect(loaded == 42)
    }

    @Test func `DER in SEC1 and PKCS 8 gives the same key, with bytes behind it none`() async throws
    {
        let expected = try await expectedThumbprint()
        for option in [["-traditional"], []] {
            let der = try await runChecked(
                ["openssl", "pkey", "-in", directory.file("pkcs8.pem"), "-outform", "DER"] + option)
            #expect(try PrivateKey(encoded: der).publicJWK.thumbprint == expected)
            #expect(throws: KeyError.severalPrivateKeys) { try PrivateKey(encoded: der + der) }
            #expect(throws: KeyError.self) { try PrivateKey(encoded: der + [0]) }
            for count in stride(from: 1, to: der.count, by: 7) {
                #expect(throws: KeyError.self) { try PrivateKey(encoded: Array(der.prefix(count))) }
            }
        }
    }

    @Test func `RSA in PKCS 1 and PKCS 8, PEM and DER, gives the same key`() async throws {
        try directory.write(TestKeys.key(.PS256).pkcs8PEM(), to: "rsa.pem")
        for form in ["PEM", "DER"] {
            for option in [["-traditional"], []] {
                let encoded = try await runChecked(
                    ["openssl", "pkey", "-in", directory.file("rsa.pem"), "-outform", form] + option
                )
                #expect(
                    try PrivateKey(encoded: encoded).publicJWK == TestKeys.key(.PS256).publicJWK)
            }
        }
    }

    @Test func `two keys in one file are refused`() throws {
        let pem = try text("pkcs8.pem")
        for both in [
            "\(pem)\(pem)", "\(pem)\(try text("sec1.pem"))", "\(try text("parameters.pem"))\(pem)",
        ] {
            #expect(throws: KeyError.severalPrivateKeys) {
                try PrivateKey(encoded: Array(both.utf8))
            }
        }
    }

    @Test(arguments: ["", " ", "\n\n", "\r\n\t "])
    func `an empty file is refused`(text: String) {
        #expect(throws: KeyError.empty) { try PrivateKey(encoded: Array(text.utf8)) }
    }

    @Test(arguments: ["parameters.pem", "sec1.pem", "pkcs8.pem"])
    func `a file cut anywhere is refused`(name: String) throws {
        let pem = try directory.read(name)
        // Only the last line end may be missing.
        for count in 1..<(pem.count - 1) {
            #expect(throws: KeyError.self) { try PrivateKey(encoded: Array(pem.prefix(count))) }
        }
    }

    @Test func `a cut key followed by a whole one is refused, not half ignored`() throws {
        let pem = try text("pkcs8.pem")
        for count in [30, 60, 120] {
            #expect(throws: KeyError.self) {
                try PrivateKey(encoded: Array("\(pem.prefix(count))\n\(pem)".utf8))
            }
        }
    }

    @Test func `a block under the label of something else is refused`() throws {
        let pem = try text("pkcs8.pem")
        for label in ["OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "X PRIVATE KEY"] {
            let relabelled = pem.replacing("PRIVATE KEY", with: label)
            #expect(throws: KeyError.self) { try PrivateKey(encoded: Array(relabelled.utf8)) }
        }
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `a key written as PKCS 8 reads as the same key`(algorithm: JWSAlgorithm) throws {
        let key = try TestKeys.key(algorithm)
        #expect(try PrivateKey(encoded: key.pkcs8PEM()).publicJWK == key.publicJWK)
    }
}
