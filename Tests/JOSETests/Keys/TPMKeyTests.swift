import Glibc
import JOSE
import TestKit
import Testing

/// Keys in swtpm. Which TPM is the process's business, so one serves all tests, one after the other.
@Suite(.serialized) struct TPMKeyTests {
    private static let shared = Task {
        let tpm = try await SoftTPM()
        for (name, value) in tpm.environment { setenv(name, value, 1) }
        try await tpm.persistentKey("0x81000001")
        return tpm
    }
    private let tpm: SoftTPM

    init() async throws { tpm = try await Self.shared.value }

    private func signsWell(_ key: PrivateKey) throws -> Bool {
        let input = Array("input".utf8)
        return try PublicKey(key.publicJWK).verifies(try key.sign(input), over: input)
    }

    private static let p256 = ["-algorithm", "EC", "-pkeyopt", "group:P-256"]

    @Test(arguments: [
        (p256, JWSAlgorithm.ES256),
        (["-algorithm", "RSA", "-pkeyopt", "bits:2048"], .PS256),
    ])
    func `a key that the TPM wrapped signs`(options: [String], algorithm: JWSAlgorithm) async throws
    {
        let key = try PrivateKey.load(uri: "file:\(try await tpm.wrappedKey("key.pem", options))")
        #expect(key.algorithm == algorithm)
        #expect(key.device == "tpm")
        #expect(try signsWell(key))
        #expect(throws: KeyError.notExportable) { try key.pkcs8PEM() }
    }

    @Test func `a key that the TPM keeps signs, by its handle`() throws {
        #expect(try signsWell(try PrivateKey.load(uri: "handle:0x81000001")))
        #expect(throws: KeyError.self) { try PrivateKey.load(uri: "handle:0x81000002") }
    }

    @Test func `a key with an authorization opens with it alone`() async throws {
        let path = try await tpm.wrappedKey(
            "auth.pem", Self.p256 + ["-pkeyopt", "user-auth:canary"])
        try tpm.directory.write(Array("canary\n".utf8), to: "auth")
        try tpm.directory.write(Array("guess\n".utf8), to: "wrong")
        let uri = "file:\(path)?passphrase-source=file:\(tpm.directory.file("auth"))"
        #expect(try signsWell(try PrivateKey.load(uri: uri)))
        #expect(throws: KeyError.encrypted) { try PrivateKey.load(uri: "file:\(path)") }
        #expect(throws: KeyError.pinRefused) {
            try PrivateKey.load(
                uri: "file:\(path)?passphrase-source=file:\(tpm.directory.file("wrong"))")
        }
        try await tpm.clearLockout()
    }

    @Test func `a curve that ES256 does not have is refused`() async throws {
        let path = try await tpm.wrappedKey(
            "p384.pem", ["-algorithm", "EC", "-pkeyopt", "group:P-384"])
        #expect(throws: KeyError.unsupportedCurve("secp384r1")) {
            try PrivateKey.load(uri: "file:\(path)")
        }
    }

    @Test func `a TPM that goes away fails, and signs again once it is back`() async throws {
        let key = try PrivateKey.load(uri: "handle:0x81000001")
        #expect(try signsWell(key))
        await tpm.kill()
        for _ in 0..<3 { #expect(throws: KeyError.self) { try key.sign([1]) } }
        #expect(throws: KeyError.self) { try PrivateKey.load(uri: "handle:0x81000001") }
        try await tpm.start()
        #expect(try signsWell(key))
    }
}
