import JOSE
import TestKit
import Testing

@testable import Broker

/// The life of a deployment, command by command, over a database of its own.
@Suite struct AdministrationTests {
    /// A database, a key, and a declaration file to change.
    struct World {
        let url: String
        let directory = Result { try TemporaryDirectory() }
        let keyURI: String

        init(migrated: Bool = true) async throws {
            let cluster = try await PostgresCluster.shared()
            url =
                try await migrated
                ? Deployment.migratedDatabase(in: cluster) : cluster.emptyDatabase()
            let path = try directory.get().file("app.pem")
            _ = try await BrokerProgram.run("key", "generate", "--alg", "ES256", "--out", path)
            keyURI = "file:\(path)"
        }

        func declare(_ client: String = "", alg: String = "ES256") throws -> String {
            try directory.get().write(
                Array(
                    """
                    {tenants: {acme: {clients: {app: {alg: "\(alg)", issuers: ["\(Sample.issuer)"],
                     gates: ["dpop", "backend_token"], keys: [{uri: "\(keyURI)", state: "active"}],
                     \(client)}}}}}
                    """.utf8), to: "declaration.json5")
        }

        func broker(_ words: String...) async throws -> ProcessResult {
            try await runProcess(
                ["env", "DATABASE_URL=\(url)", BrokerProgram.path] + words)
        }

        func revision() async throws -> String {
            try await PostgresCluster.query("SELECT revision FROM broker.declaration", at: url)
        }
    }

    @Test func `migrate brings an empty database up to date, once`() async throws {
        let world = try await World(migrated: false)
        let early = try await world.broker("apply", try world.declare())
        #expect(early.status == 69)
        #expect(early.errorText.contains("run 'broker migrate' first"))
        let first = try await world.broker("migrate", "--migrations", PostgresCluster.migrations)
        #expect(first.status == 0)
        #expect(first.outputText.contains("applied 0001_"))
        let again = try await world.broker("migrate", "--migrations", PostgresCluster.migrations)
        #expect(again.status == 0)
        #expect(!again.outputText.contains("applied"))
        #expect(again.outputText.contains("the schema is at version"))
    }

    @Test func `migrate needs a directory with migrations`() async throws {
        let world = try await World(migrated: false)
        let result = try await world.broker(
            "migrate", "--migrations", try world.directory.get().path)
        #expect(result.status == 65)
        #expect(result.errorText.contains("NNNN_name.sql"))
    }

    @Test func `apply shows, applies, and then finds nothing to change`() async throws {
        let world = try await World()
        let file = try world.declare()
        let dry = try await world.broker("apply", file, "--dry-run")
        #expect(dry.status == 0)
        #expect(dry.outputText.contains("+ tenant acme\n+ client app"))
        #expect(dry.outputText.contains("dry run: nothing was changed"))
        #expect(try await world.revision() == "0")
        let applied = try await world.broker("apply", file)
        #expect(applied.outputText.contains("applied 3 change(s)"))
        #expect(try await world.revision() == "1")
        #expect(try await world.broker("apply", file).outputText == "nothing to change\n")
        #expect(try await world.revision() == "1", "no replica reloads for nothing")
        let changed = try await world.broker("apply", try world.declare("lifetime: 30"))
        #expect(changed.outputText == "~ client app: lifetime: 60 → 30\napplied 1 change(s)\n")
    }

    @Test func `a file with a fault changes nothing and names each fault`() async throws {
        let world = try await World()
        _ = try await world.broker("apply", try world.declare())
        let result = try await world.broker(
            "apply", try world.declare("lifetime: 5, typo: 1", alg: "PS256"))
        #expect(result.status == 65)
        for word in ["lifetime", "typo", "declared for PS256", "nothing was changed", "line "] {
            #expect(result.errorText.contains(word))
        }
        #expect(result.output.isEmpty)
        #expect(try await world.revision() == "1")
        let missing = try await world.broker("apply", "/none")
        #expect(missing.status == 65)
    }

    @Test func `what the file leaves out stays until it is pruned`() async throws {
        let world = try await World()
        _ = try await world.broker("apply", try world.declare())
        let empty = try world.directory.get().write(Array("{tenants: {}}".utf8), to: "empty")
        let kept = try await world.broker("apply", empty)
        #expect(kept.outputText == "nothing to change\n")
        #expect(kept.errorText.contains("client app is not in the file and stays"))
        _ = try await world.broker("token", "create", "--tenant", "acme")
        let pruned = try await world.broker("apply", empty, "--prune")
        #expect(
            pruned.outputText == "- client app\n- tenant acme and its tokens\napplied 2 change(s)\n"
        )
        #expect(try await world.broker("token", "list").outputText.isEmpty)
        #expect(
            try await PostgresCluster.query(
                "SELECT count(*) FROM broker.signing_key", at: world.url) == "0")
    }

    @Test func `two who apply at once take turns`() async throws {
        let world = try await World()
        let file = try world.declare()
        let results = try await atOnce(4) { _ in try await world.broker("apply", file) }
        #expect(results.allSatisfy { $0.status == 0 })
        #expect(results.count { $0.outputText == "nothing to change\n" } == 3)
        #expect(try await world.revision() == "1")
    }

    @Test func `a token is shown once, kept as a digest, listed without it and revoked once`()
        async throws
    {
        let world = try await World()
        _ = try await world.broker("apply", try world.declare())
        let created = try await world.broker(
            "token", "create", "--tenant", "acme", "--expires-in", "12h", "--label", "ci – é")
        #expect(created.status == 0)
        let token = created.outputText.trimmingSuffix(while: \.isNewline)
        #expect(token.wholeMatch(of: /tb_[A-Za-z0-9_-]{43}/) != nil, "alone on standard output")
        #expect(!created.errorText.contains(token))
        let digest = SHA256.hash(token.utf8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
        #expect(
            try await PostgresCluster.query(
                "SELECT encode(digest, 'hex') FROM broker.api_token", at: world.url)
                == digest)
        let listed = try await world.broker("token", "list", "--tenant", "acme").outputText
        let fields = listed.split(separator: "\t").map(String.init)
        #expect(fields.count == 6)
        #expect(fields[1...2] == ["acme", "mint"])
        #expect(fields[4] == "good")
        #expect(!listed.contains(token))
        #expect(try await world.broker("token", "list", "--tenant", "rival").outputText.isEmpty)
        #expect(
            try await world.broker("token", "revoke", "--", fields[0]).outputText
                == "revoked \(fields[0])\n")
        #expect(try await world.broker("token", "list").outputText.contains("\trevoked\t"))
        #expect(try await world.broker("token", "revoke", "--", fields[0]).status == 66)
        #expect(try await world.broker("token", "revoke", "nothing").status == 66)
        #expect(try await world.broker("token", "create", "--tenant", "nobody").status == 66)
    }

    @Test(arguments: [
        ([], "mint"), (["--scope", "mint"], "mint"), (["--scope", "consume"], "consume"),
        (["--scope=mint,consume"], "mint,consume"),
    ])
    func `a token has the scopes it was created with`(words: [String], scopes: String) async throws
    {
        let world = try await World()
        _ = try await world.broker("apply", try world.declare())
        let created = try await runProcess(
            ["env", "DATABASE_URL=\(world.url)", BrokerProgram.path]
                + ["token", "create", "--tenant", "acme"] + words)
        #expect(created.status == 0)
        #expect(created.errorText.contains("scope \(scopes);"))
        let listed = try await world.broker("token", "list").outputText
        #expect(listed.split(separator: "\t")[2] == scopes)
    }

    @Test func `a block is lifted the way it was made`() async throws {
        let world = try await World()
        _ = try await world.broker("apply", try world.declare())
        let jkt = "--" + Sample.jkt.dropFirst(2)
        #expect(try await world.broker("block", jkt).status == 64)
        #expect(try await world.broker("block", "--", jkt).status == 0)
        #expect(try await world.broker("block", Sample.jkt, "--client", "nobody").status == 66)
        for _ in 0..<2 {
            let result = try await world.broker(
                "block", Sample.jkt, "--client", "app", "--reason", "lost")
            #expect(result.outputText == "blocked \(Sample.jkt) for client app\n")
        }
        #expect(try await world.broker("unblock", Sample.jkt).status == 66)
        #expect(try await world.broker("block", Sample.jkt).outputText.contains("for all clients"))
        #expect(try await world.broker("unblock", Sample.jkt).status == 0)
        #expect(try await world.broker("unblock", Sample.jkt, "--client", "app").status == 0)
        #expect(try await world.broker("unblock", Sample.jkt, "--client", "app").status == 66)
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, predicate(last) { text.removeLast() }
        return String(text)
    }
}
