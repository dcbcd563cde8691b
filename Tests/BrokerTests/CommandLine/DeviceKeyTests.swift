import Foundation
import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker serve` whose client `app` has its key in SoftHSM or swtpm, while `other` has a file.
@Suite struct DeviceKeyTests {
    private func publicJWK(_ subjectPublicKeyInfo: [UInt8]) throws -> PublicJWK {
        let point = subjectPublicKeyInfo.suffix(64)
        return try PublicJWK(.p256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
    }

    private func start(
        _ deployment: Deployment, _ environment: [String: String]
    ) async throws -> ServingBroker {
        try await ServingBroker(
            try RunningProcess(
                [BrokerProgram.path, "serve", "--config", try deployment.configuration()],
                environment: BrokerProgram.environment.merging(environment) { $1 }))
    }

    private func softHSM(module: String = SoftHSM.module) async throws -> (SoftHSM, Deployment) {
        let token = try await SoftHSM()
        try await token.generate("EC:prime256v1", object: "app", id: "01")
        let jwk = try publicJWK(try await token.publicKey(object: "app"))
        return (
            token,
            try await Deployment(deviceKey: (token.uri(object: "app", module: module), jwk))
        )
    }

    private func isUnavailable(_ response: WireResponse) -> Bool {
        response.status == 503 && response.code == "unavailable"
    }

    /// Holds the answer of a mint to the key in the device.
    private func isSigned(_ response: WireResponse, by key: PublicJWK) throws -> Bool {
        let text = try #require(try response.json()["client_assertion"]?.string)
        let parts = text.split(separator: ".")
        let signature = try #require(Base64URL.decode(String(parts[2])))
        return try PublicKey(key).verifies(
            signature, over: Array("\(parts[0]).\(parts[1])".utf8))
    }

    @Test
    func `a token signs under load; taken away, it is 503 and unready; given back, all is well`()
        async throws
    {
        let (token, deployment) = try await softHSM()
        let jwk = try publicJWK(try await token.publicKey(object: "app"))
        let broker = try await start(deployment, token.environment)
        let call = MintCall.token(deployment.token)
        let answers = try await atOnce(200) { _ in
            try await broker.mint(call) { $0.status != 503 }
        }
        #expect(try answers.allSatisfy { try $0.status == 200 && isSigned($0, by: jwk) })
        #expect(try await deployment.jtis().count >= 200)

        try token.takeAway()
        let refused = try await broker.send(call)
        #expect(isUnavailable(refused))
        #expect(!refused.text.contains("CKR") && !refused.text.contains("pkcs11"))
        let unready = try await broker.get("/readyz") { $0.status == 503 }
        #expect(unready.text.contains("\"keys\":\"a client has no usable key\""))
        #expect(try await broker.get("/healthz").status == 200)
        var other = call
        other.clientId = "other"
        #expect(try await broker.mint(other) { $0.status != 503 }.status == 200)

        try token.giveBack()
        let again = try await broker.mint(call) { $0.status == 200 }
        #expect(try isSigned(again, by: jwk))
        #expect(try await broker.get("/readyz") { $0.status == 200 }.status == 200)
        #expect(await broker.stop() == 0)
        let output = broker.process.lines.joined() + (try broker.process.errorText())
        #expect(!output.contains(token.pin), "the PIN is in no log")
    }

    @Test func `a module that hangs is 503 at once for its own client, and nobody else waits`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let module = folder.file("gate.so")
        let compiler = try await runChecked(["sh", "-c", "readlink -f $(command -v swift)"])
        let clang =
            URL(
                fileURLWithPath: String(decoding: compiler, as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines)
            ).deletingLastPathComponent().appendingPathComponent("clang").path
        try await runChecked([
            clang, "-shared", "-fPIC", "-O1", "-o", module, Fixtures.path("Fixtures/PKCS11/gate.c"),
            "-ldl",
        ])
        let (token, deployment) = try await softHSM(module: module)
        let gate = folder.file("gate")
        let broker = try await start(
            deployment, token.environment.merging(["GATE_FILE": gate]) { $1 })
        let call = MintCall.token(deployment.token)
        #expect(try await broker.mint(call) { $0.status != 503 }.status == 200)

        try folder.write([], to: "gate")
        // More than threads and line hold: none is answered by the token, and all are answered.
        let answers = try await atOnce(100) { _ in try await broker.send(call) }
        #expect(answers.allSatisfy(isUnavailable))
        #expect(try folder.read("gate.waiting").count == 4, "no more than four threads wait in it")
        var other = call
        other.clientId = "other"
        for _ in 0..<10 {
            #expect(try await broker.mint(other) { $0.status != 503 }.status == 200)
        }
        #expect(try await broker.get("/readyz").status == 503)
        #expect(try await broker.get("/v1/clients/app/jwks.json").status == 200)

        try FileManager.default.removeItem(atPath: gate)
        #expect(try await broker.mint(call) { $0.status == 200 }.status == 200)
        #expect(try await broker.get("/readyz") { $0.status == 200 }.status == 200)

        try folder.write([], to: "gate")
        #expect(isUnavailable(try await broker.send(call)))
        #expect(await broker.stop() == 0, "a token that hangs does not hold up the end")
    }

    @Test func `a TPM that stops answering is 503 and unready, and signs when it goes on`()
        async throws
    {
        let tpm = try await SoftTPM()
        let path = try await tpm.wrappedKey(
            "app.pem", ["-algorithm", "EC", "-pkeyopt", "group:P-256"])
        let der = try await runChecked(
            ["env"] + tpm.environment.map { "\($0)=\($1)" } + [
                "openssl", "pkey", "-provider", "tpm2", "-provider", "default", "-in", path,
                "-pubout", "-outform", "DER",
            ])
        let deployment = try await Deployment(deviceKey: ("file:\(path)", try publicJWK(der)))
        let broker = try await start(deployment, tpm.environment)
        let call = MintCall.token(deployment.token)
        let minted = try await broker.mint(call) { $0.status != 503 }
        #expect(try isSigned(minted, by: try publicJWK(der)))
        tpm.signal(SIGSTOP)
        #expect(isUnavailable(try await broker.send(call)))
        #expect(try await broker.get("/readyz").status == 503)
        tpm.signal(SIGCONT)
        #expect(try await broker.mint(call) { $0.status == 200 }.status == 200)
        #expect(try await broker.get("/readyz") { $0.status == 200 }.status == 200)
        #expect(await broker.stop() == 0)
    }

    @Test func `an encrypted key of systemd's credentials signs, and no core may be written`()
        async throws
    {
        let folder = try TemporaryDirectory()
        try folder.write(Array("canary passphrase".utf8), to: "key-passphrase")
        try await runChecked([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-aes256", "-pass", "file:\(folder.file("key-passphrase"))", "-out",
            folder.file("app.pem"),
        ])
        chmod(folder.file("app.pem"), 0o600)
        let der = try await runChecked([
            "openssl", "pkey", "-in", folder.file("app.pem"), "-passin",
            "file:\(folder.file("key-passphrase"))", "-pubout", "-outform", "DER",
        ])
        let deployment = try await Deployment(
            deviceKey: (
                "file:\(folder.file("app.pem"))?passphrase-source=credential:key-passphrase",
                try publicJWK(der)
            ))
        let broker = try await start(deployment, ["CREDENTIALS_DIRECTORY": folder.path])
        let minted = try await broker.mint(.token(deployment.token)) { $0.status != 503 }
        #expect(try isSigned(minted, by: try publicJWK(der)))
        let limits = try String(
            contentsOfFile: "/proc/\(broker.process.identifier)/limits", encoding: .utf8)
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").filter { $0 == "0" }.count == 2)
        #expect(await broker.stop() == 0)
        let output = broker.process.lines.joined() + (try broker.process.errorText())
        #expect(!output.contains("canary"))
    }
}
