import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker key` over a real database. Waiting times pass in the database: the ages of keys grow, not the test's own time.
@Suite struct KeyRotationTests {
    private func key(_ deployment: Deployment, _ words: String...) async throws -> ProcessResult {
        try await runProcess(
            ["env", "DATABASE_URL=\(deployment.url)", BrokerProgram.path, "key"] + words)
    }

    private func rotate(_ deployment: Deployment, _ file: String = "new.pem") async throws
        -> ProcessResult
    {
        try await key(
            deployment, "rotate", "app", "--out", deployment.directory.file(file), "--no-wait")
    }

    private func letPass(_ seconds: Int, _ deployment: Deployment) async throws {
        try await deployment.letPassForKeys(seconds)
    }

    private func states(_ deployment: Deployment) async throws -> [String] {
        try await deployment.query(
            "SELECT state FROM broker.signing_key WHERE client_id = 'app' ORDER BY state"
        ).split(separator: "\n").map(String.init)
    }

    @Test func `a rotation is run again after each step and goes on where it was`() async throws {
        let deployment = try await Deployment()
        for expected in [["active", "pending"], ["active", "pending"]] {
            let run = try await rotate(deployment)
            #expect(run.status == 75)
            #expect(run.errorText.contains("run it again in"))
            #expect(try await states(deployment) == expected)
        }
        try await letPass(311, deployment)
        for _ in 0..<2 {
            #expect(try await rotate(deployment).status == 75)
            #expect(try await states(deployment) == ["active", "retiring"])
        }
        try await letPass(121, deployment)
        for _ in 0..<2 {
            #expect(try await rotate(deployment).status == 0)
            #expect(try await states(deployment) == ["active"])
        }
        let new = try PrivateKey.load(uri: "file:\(deployment.directory.file("new.pem"))")
        let list = try await key(deployment, "list", "app")
        #expect(list.outputText.contains(new.publicJWK.thumbprint))
        #expect(list.outputText.split(separator: "\n").count == 1)
        #expect(!list.outputText.contains("PRIVATE"))
    }

    @Test func `a run that ended with the file alone takes that file up`() async throws {
        let deployment = try await Deployment()
        let path = deployment.directory.file("new.pem")
        #expect(
            try await key(deployment, "generate", "--alg", "ES256", "--out", path).status == 0)
        let before = try deployment.directory.read("new.pem")
        #expect(try await rotate(deployment).status == 75)
        #expect(try deployment.directory.read("new.pem") == before)
    }

    @Test func `each step refuses what would be an outage, and says why`() async throws {
        let deployment = try await Deployment()
        let active = try PrivateKey.load(uri: deployment.keyURI).publicJWK.thumbprint
        let path = deployment.directory.file("new.pem")
        _ = try await key(deployment, "generate", "--alg", "ES256", "--out", path)
        let kid = try PrivateKey.load(uri: "file:\(path)").publicJWK.thumbprint
        #expect(try await key(deployment, "add", "app", "--uri", "file:\(path)").status == 0)
        #expect(try await key(deployment, "add", "app", "--uri", "file:\(path)").status == 0)
        let early = try await key(deployment, "activate", "app", "--", kid)
        #expect(early.status == 65)
        #expect(early.errorText.contains("must stay pending for another"))
        #expect(try await key(deployment, "retire", "app", "--", active).status == 65)
        #expect(try await key(deployment, "retire", "app", "absent").status == 66)
        #expect(try await key(deployment, "add", "nobody", "--uri", "file:\(path)").status == 66)
        #expect(try await key(deployment, "activate", "app", "--", kid, "--now").status == 64)
        #expect(try await key(deployment, "activate", "--now", "app", "--", kid).status == 0)
        #expect(try await states(deployment) == ["active", "retiring"])
        #expect(try await key(deployment, "retire", "app", "--", active).status == 65)
        #expect(try await rotate(deployment, "app.pem").status == 65, "it was replaced already")
        for words in [[], ["rotate"], ["rotate", "app"], ["turn"], ["list", "a", "b"]] {
            let result = try await runProcess([BrokerProgram.path, "key"] + words)
            #expect(result.status == 64, "\(words)")
        }
    }
}
