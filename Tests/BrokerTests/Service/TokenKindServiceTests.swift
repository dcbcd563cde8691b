import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// Tokens of every kind from whole services over a real Postgres.
@Suite struct TokenKindServiceTests {
    private static let secondSecret = String(Sample.secretText.reversed())

    /// The client `app` has tokens of every kind; its secret is in a file of the deployment's.
    private func deployment() async throws -> Deployment {
        try await Deployment { directory in
            let path = try directory.write(Array(Sample.secretText.utf8), to: "org.secret")
            return """
                , transport_tokens: {secret: "file:\(path)", cid: "org-17", iss: "https://bank.example",
                    aud: "https://sso.example"}, client_attestations: {}
                """
        }
    }

    private func call(_ kind: TokenKind, of install: Install, _ deployment: Deployment) -> MintCall
    {
        TokenKindTests.call(kind, of: install) {
            $0.set("Authorization", "Bearer \(deployment.token)")
        }
    }

    /// Whether PyJWT and joserfc accept a transport token with this secret.
    private func isSigned(_ token: String, with secret: String) async throws -> Bool {
        let question = TokenKindTests.question(.transportToken, token, secret: secret)
        return try await Oracle.ask("tokens.py", [question]).first?["fault"] == nil
    }

    @Test func `tokens of every kind, asked for at once over two replicas, have a row each`()
        async throws
    {
        let deployment = try await deployment()
        let brokers = [try await deployment.start(), try await deployment.start()]
        let installs = try (0..<6).map { _ in try Install() }
        let answers = try await atOnce(90) { number in
            let kind = TokenKind.allCases[number % 3]
            let response = try await brokers[number % 2].settled(
                call(kind, of: installs[number % 6], deployment))
            return (kind: kind, status: response.status, body: try response.json())
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(answers.allSatisfy { $0.body[$0.kind.rawValue]?.string != nil })
        let handedOut = answers.compactMap { $0.body["jti"]?.string }
        let rows = try await deployment.jtis()
        #expect(Set(handedOut).count == 90)
        #expect(Set(handedOut).isSubset(of: rows))
        // On a busy machine an answer may come too late for a commit: such a row has a refusal in the log.
        var refused = 0
        for broker in brokers { refused += try await broker.log.events("assertion.refused").count }
        #expect((90...90 + refused).contains(rows.count))
        for broker in brokers {
            let minted = try await broker.log.events("assertion.minted")
            #expect(Set(minted.compactMap { $0["kind"]?.string }).count == 3)
            try await LogSchema.check(try await broker.log.lines())
            await broker.stop()
        }
    }

    @Test func `what the database holds has nothing of the secret`() async throws {
        let deployment = try await deployment()
        let settings = try await deployment.query("SELECT settings FROM broker.client")
        #expect(settings.contains("org.secret"))
        #expect(!settings.contains(Sample.secretText))
    }

    @Test func `a new secret is taken by SIGHUP, one that cannot be used changes nothing`()
        async throws
    {
        let deployment = try await deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let install = try Install()
        func token() async throws -> String {
            let call = call(.transportToken, of: install, deployment)
            let response = try await broker.mint(call) { $0.status != 503 }
            return try #require(try response.json()["transport_token"]?.string)
        }
        func reload(_ number: Int) async throws -> String? {
            broker.process.signal(SIGHUP)
            let lines = try await broker.process.lines(number) {
                $0.contains("\"broker.reloaded\"") || $0.contains("\"broker.reload_refused\"")
            }
            return try JSONValue(parsing: Array(lines[number - 1].utf8))["event"]?.string
        }
        #expect(try await isSigned(token(), with: Sample.secretText))
        try deployment.directory.write(Array(Self.secondSecret.utf8), to: "org.secret", mode: 0o644)
        #expect(try await reload(1) == "broker.reload_refused")
        #expect(try await isSigned(token(), with: Sample.secretText))
        try deployment.directory.write(Array(Self.secondSecret.utf8), to: "org.secret")
        #expect(try await reload(2) == "broker.reloaded")
        #expect(try await isSigned(token(), with: Self.secondSecret))
        #expect(await broker.stop() == 0)
        let lines = broker.process.lines
        try await LogSchema.check(lines)
        for secret in [Sample.secretText, Self.secondSecret] {
            #expect(!lines.contains { $0.contains(secret) })
        }
    }

    @Test func `a broker does not start without a secret it needs, and names its file`()
        async throws
    {
        let deployment = try await deployment()
        unlink(deployment.directory.file("org.secret"))
        let ended = try await BrokerProgram.run(
            "serve", "--config", try deployment.configuration())
        #expect(ended.status != 0)
        #expect(ended.errorText.contains(deployment.directory.file("org.secret")))
    }
}
