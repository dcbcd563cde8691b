import Foundation
import Glibc
import JOSE
import TestKit
import Testing

/// Keys in SoftHSM. Its configuration is the process's, so one token serves all tests, one after the other.
@Suite(.serialized) struct TokenKeyTests {
    private static let shared = Task {
        let token = try await SoftHSM()
        for (kind, name, id) in [
            ("EC:prime256v1", "ec", "01"), ("rsa:2048", "rsa", "02"),
            ("EC:secp384r1", "p384", "03"),
            ("EC:prime256v1", "twice", "04"), ("EC:prime256v1", "twice", "05"),
        ] { try await token.generate(kind, object: name, id: id) }
        try await token.addToken(label: "other")
        for (name, value) in token.environment { setenv(name, value, 1) }
        return token
    }
    private let token: SoftHSM

    init() async throws { token = try await Self.shared.value }

    /// Whether the openssl command finds the signature good under the public key that another program read from the token.
    private func opensslAccepts(
        _ signature: [UInt8], over input: [UInt8], object: String
    ) async throws -> Bool {
        let directory = token.directory
        let key = try PublicKeyFile.pem(try await token.publicKey(object: object))
        let keyFile = try directory.write(key, to: "public.pem")
        let der = object == "rsa" ? signature : DER.ecdsa(signature)
        let signatureFile = try directory.write(der, to: "signature")
        let options = [
            "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32", "-sigopt",
            "rsa_mgf1_md:sha256",
        ]
        return try await runProcess(
            ["openssl", "dgst", "-sha256", "-verify", keyFile]
                + (object == "rsa" ? options : []) + ["-signature", signatureFile],
            input: input
        ).status == 0
    }

    @Test(arguments: [("ec", JWSAlgorithm.ES256, 64), ("rsa", .PS256, 256)])
    func `the token signs, and an outsider accepts it`(
        object: String, algorithm: JWSAlgorithm, length: Int
    ) async throws {
        let key = try PrivateKey.load(uri: token.uri(object: object))
        #expect(key.algorithm == algorithm)
        #expect(
            key.device
                == "pkcs11 \(token.label) \(try #require(key.device?.split(separator: " ").last))")
        for number in 0..<20 {
            let input = Array("input \(number)".utf8)
            let signature = try key.sign(input)
            #expect(signature.count == length)
            #expect(try PublicKey(key.publicJWK).verifies(signature, over: input))
            if number == 0 {
                #expect(
                    try await opensslAccepts(signature, over: input, object: object))
                #expect(
                    try await !opensslAccepts(signature, over: input + [0], object: object))
            }
        }
        #expect(throws: KeyError.notExportable) { try key.pkcs8PEM() }
    }

    @Test func `by id alone it is the same key`() throws {
        let source = "pin-source=\(token.directory.file("pin"))"
        let key = try PrivateKey.load(
            uri: "pkcs11:token=broker;id=%01?module-path=\(SoftHSM.module)&\(source)")
        #expect(try key.publicJWK == PrivateKey.load(uri: token.uri(object: "ec")).publicJWK)
    }

    @Test func `a key that is not there, not alone or not fit is refused by name`() throws {
        #expect(throws: KeyError.noPrivateKey) {
            try PrivateKey.load(uri: token.uri(object: "absent"))
        }
        #expect(throws: KeyError.severalPrivateKeys) {
            try PrivateKey.load(uri: token.uri(object: "twice"))
        }
        #expect(throws: KeyError.unsupportedCurve("other than P-256")) {
            try PrivateKey.load(uri: token.uri(object: "p384"))
        }
    }

    @Test func `a token that is not there or not alone is refused by name`() throws {
        let query = "?module-path=\(SoftHSM.module)&pin-source=file:\(token.directory.file("pin"))"
        #expect(throws: KeyError.noSuchToken) {
            try PrivateKey.load(uri: "pkcs11:token=absent;object=ec\(query)")
        }
        #expect(throws: KeyError.severalTokens) {
            try PrivateKey.load(uri: "pkcs11:model=SoftHSM%20v2;object=ec\(query)")
        }
        #expect(throws: KeyError.pinMissing) {
            try PrivateKey.load(
                uri: "pkcs11:token=other;object=ec?module-path=\(SoftHSM.module)")
        }
    }

    @Test func `a wrong PIN is told to the token once, and the right one still works`() async throws
    {
        // A token of its own, which nobody in this process is logged in to.
        try await token.addToken(label: "strict")
        let wrong = try token.directory.write(Array("canary-wrong".utf8), to: "wrong")
        let uri = { (file: String) in
            "pkcs11:token=strict;object=ec?module-path=\(SoftHSM.module)&pin-source=file:\(file)"
        }
        // It came after the module was started; the next start sees it, at most two seconds from the last.
        var first: KeyError?
        repeat {
            first = #expect(throws: KeyError.self) { try PrivateKey.load(uri: uri(wrong)) }
        } while first == .noSuchToken
        #expect(first == .pinRefused)
        for _ in 0..<20 {
            let error = #expect(throws: KeyError.pinRefused) {
                try PrivateKey.load(uri: uri(wrong))
            }
            #expect(error?.description.contains("canary") == false)
        }
        #expect(throws: KeyError.noPrivateKey) {
            try PrivateKey.load(uri: uri(token.directory.file("pin")))
        }
    }

    @Test func `many threads sign with one key at once`() async throws {
        let key = try PrivateKey.load(uri: token.uri(object: "ec"))
        let verifier = try PublicKey(key.publicJWK)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try (0..<50).allSatisfy { round in
                        let input = Array("\(number) \(round)".utf8)
                        return verifier.verifies(try key.sign(input), over: input)
                    }
                }
            }
            for try await isGood in group { #expect(isGood) }
        }
    }

    @Test func `a token that is taken away fails, and signs again once it is back`() throws {
        let key = try PrivateKey.load(uri: token.uri(object: "ec"))
        let verifier = try PublicKey(key.publicJWK)
        let input = Array("input".utf8)
        #expect(verifier.verifies(try key.sign(input), over: input))
        try token.takeAway()
        for _ in 0..<3 { #expect(throws: KeyError.self) { try key.sign(input) } }
        try token.giveBack()
        // The module is started anew at most every two seconds, so the first tries may fail yet.
        var signature: [UInt8]?
        while signature == nil { signature = try? key.sign(input) }
        #expect(verifier.verifies(try #require(signature), over: input))
    }

    @Test(arguments: [
        ("", "none is named"), ("relative.so", "absolute path"), ("/absent/module.so", "No such"),
        ("/etc/hostname", "cannot be used"), ("/bin/true", "cannot be used"),
        ("/tmp", "must be a file"),
    ])
    func `what is no module is refused with the reason`(path: String, reason: String) {
        let query = path.isEmpty ? "" : "?module-path=\(path)"
        let error = #expect(throws: KeyError.self) {
            try PrivateKey.load(uri: "pkcs11:token=broker;object=ec\(query)")
        }
        guard case .module? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains(reason) == true)
    }

    @Test func `a module that others may write is not loaded`() throws {
        let copy = try token.directory.write(
            Array(try Data(contentsOf: URL(fileURLWithPath: SoftHSM.module))), to: "module.so",
            mode: 0o777)
        let error = #expect(throws: KeyError.self) {
            try PrivateKey.load(uri: token.uri(object: "ec", module: copy))
        }
        #expect(error?.description.contains("nobody else may write") == true)
    }
}

/// Public keys as the openssl command wants them.
private enum PublicKeyFile {
    static func pem(_ der: [UInt8]) throws -> [UInt8] {
        let text = Data(der).base64EncodedString(options: .lineLength64Characters)
        return Array("-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n".utf8)
    }
}
