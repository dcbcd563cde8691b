import Foundation
import Glibc
import JOSE
import TestKit
import Testing

/// Encrypted keys of the openssl command, with the passphrase from each kind of source.
@Suite struct EncryptedKeyTests {
    private static let phrase = "canary correct horse"
    private let directory: TemporaryDirectory

    init() async throws {
        directory = try TemporaryDirectory()
        try directory.write(Array("\(Self.phrase)\n".utf8), to: "phrase")
        try await runChecked([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-out", directory.file("plain.pem"),
        ])
    }

    private func convert(_ options: [String], to name: String = "key") async throws {
        try await runChecked(
            ["openssl"] + options + [
                "-in", directory.file("plain.pem"), "-passout", "pass:\(Self.phrase)", "-out",
                directory.file(name),
            ])
        chmod(directory.file(name), 0o600)
    }

    private func load(_ source: String? = nil) throws(KeyError) -> PrivateKey {
        let query = source.map { "?passphrase-source=\($0)" } ?? ""
        return try PrivateKey.load(uri: "file:\(directory.file("key"))\(query)")
    }

    private var phraseFile: String { "file:\(directory.file("phrase"))" }

    private static let pkcs8 = ["pkcs8", "-topk8"]

    @Test(arguments: [
        pkcs8, pkcs8 + ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"], pkcs8 + ["-scrypt"],
        pkcs8 + ["-outform", "DER"], pkcs8 + ["-scrypt", "-outform", "DER"],
        ["ec", "-aes256"], ["pkey", "-traditional", "-aes128"],
    ])
    func `every encrypted form opens with its passphrase, and with no other`(form: [String])
        async throws
    {
        try await convert(form)
        let plain = try PrivateKey.load(uri: "file:\(directory.file("plain.pem"))")
        #expect(try load(phraseFile).publicJWK == plain.publicJWK)
        #expect(throws: KeyError.encrypted) { try load() }
        for wrong in ["canary", Self.phrase + " ", Self.phrase.uppercased()] {
            try directory.write(Array(wrong.utf8), to: "phrase")
            #expect(throws: KeyError.wrongPassphrase, "\(wrong)") { try load(phraseFile) }
        }
    }

    @Test func `an encrypted RSA key opens too`() async throws {
        try await runChecked([
            "openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out",
            directory.file("plain.pem"),
        ])
        try await convert(Self.pkcs8)
        #expect(try load(phraseFile).algorithm == .PS256)
        try await convert(["rsa", "-aes256", "-traditional"])
        #expect(try load(phraseFile).algorithm == .PS256)
    }

    @Test func `a descriptor is read once and serves again and again`() async throws {
        try await convert(Self.pkcs8)
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(Self.phrase.utf8))
        try pipe.fileHandleForWriting.close()
        let source = "fd:\(pipe.fileHandleForReading.fileDescriptor)"
        let first = try load(source)
        #expect(try load(source).publicJWK == first.publicJWK)
    }

    @Test func `a passphrase that cannot be read is named, and not guessed`() async throws {
        try await convert(Self.pkcs8)
        try directory.write([], to: "empty")
        try directory.write(Array("\nsecond line".utf8), to: "blank")
        try directory.write([UInt8](repeating: 0x61, count: 1024), to: "long")
        try directory.write(Array(Self.phrase.utf8), to: "loose", mode: 0o644)
        for name in ["absent", "empty", "blank", "long", "loose"] {
            let error = #expect(throws: KeyError.self) {
                try load("file:\(directory.file(name))")
            }
            guard case .passphraseSource? = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
            #expect(error?.description.contains("canary") == false)
        }
        for source in ["credential:absent-credential", "fd:999"] {
            let error = #expect(throws: KeyError.self) { try load(source) }
            guard case .passphraseSource? = error else {
                Issue.record("\(source): \(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: [
        "", "phrase", "/phrase", "pass:canary", "env:HOME", "fd:", "fd:-1", "fd:01", "fd:x",
        "file:", "file:phrase", "credential:", "credential:a/b", "credential:..", "cmd:true",
    ])
    func `a source of another kind is refused with the URI`(source: String) {
        #expect(throws: KeyError.unsupportedURI) { try load(source) }
    }

    @Test func `a credential is found where systemd puts it`() async throws {
        try await convert(Self.pkcs8)
        // The environment belongs to the whole process, and this is the only test that reads it.
        setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
        defer { unsetenv("CREDENTIALS_DIRECTORY") }
        #expect(throws: Never.self) { try load("credential:phrase") }
    }

    @Test func `a damaged encrypted key is refused`() async throws {
        try await convert(Self.pkcs8)
        let text = try directory.read("key")
        for cut in stride(from: 40, to: text.count - 1, by: 17) {
            try directory.write(Array(text[..<cut]), to: "key")
            #expect(throws: KeyError.self) { try load(phraseFile) }
        }
    }
}
