import JOSE
import TestKit
import Testing

@testable import Broker

/// What the program says to a person or a script that calls it.
@Suite struct UsageTests {
    @Test(arguments: [
        "serve", "check-config", "migrate", "apply", "token", "block", "unblock", "limits",
        "key", "doctor",
    ])
    func `each command explains itself`(command: String) async throws {
        for flag in ["--help", "-h"] {
            let result = try await BrokerProgram.run(command, flag)
            #expect(result.status == 0)
            #expect(result.outputText.hasPrefix("Usage: broker "))
            #expect(result.outputText.contains("broker \(command)"))
            #expect(result.errorText.isEmpty)
        }
    }

    @Test func `the program lists its commands`() async throws {
        for word in ["--help", "-h", "help"] {
            let result = try await BrokerProgram.run(word)
            #expect(result.status == 0)
            for command in [
                "serve", "migrate", "apply", "token", "block", "limits", "key", "doctor",
            ] {
                #expect(result.outputText.contains("  \(command)"))
            }
        }
        #expect(try await runProcess([BrokerProgram.path]).status == 64)
    }

    @Test(arguments: [
        (["dance"], "unknown command 'dance'"), (["serve"], "--config is missing"),
        (["serve", "--config"], "--config needs a value"),
        (["serve", "--port", "1"], "unknown option --port"),
        (["check-config", "a"], "too many arguments"),
        (["apply"], "an argument is missing"), (["apply", "a", "b"], "too many arguments"),
        (["apply", "a", "--force"], "unknown option --force"),
        (["migrate"], "no database"), (["token"], "must be create, list or revoke"),
        (["token", "make"], "must be create, list or revoke"),
        (["token", "create"], "--tenant is missing"),
        (["token", "create", "--tenant", "a b"], "--tenant"),
        (["token", "create", "--tenant", "a", "--scope", "all"], "--scope"),
        (["token", "create", "--tenant", "a", "--scope", ""], "--scope"),
        (["token", "create", "--tenant", "a", "--scope", "mint,"], "--scope"),
        (["token", "create", "--tenant", "a", "--scope", "mint,mint"], "none twice"),
        (["token", "create", "--tenant", "a", "--scope", "mint, consume"], "--scope"),
        (["token", "create", "--tenant", "a", "--expires-in", "soon"], "--expires-in"),
        (["token", "create", "--tenant", "a", "--expires-in", "0d"], "--expires-in"),
        (["token", "create", "--tenant", "a", "--label", "a\nb"], "control characters"),
        (["token", "revoke"], "an argument is missing"),
        (["block", "short"], "JKT must be 43"), (["unblock"], "an argument is missing"),
        (["block", Sample.jkt, "--client", "a b"], "--client"),
        (["limits"], "must be show, override, clear or replay"),
        (["limits", "dance"], "must be show, override, clear or replay"),
        (["limits", "show", "--jkt", Sample.jkt], "--jkt needs --client"),
        (["limits", "show", "--client", "a b"], "--client"),
        (["limits", "clear"], "say whose limit"),
        (["limits", "clear", "--client", "a", "--jkt", "short"], "--jkt must be 43"),
        (["limits", "clear", "--client", "a", "--tenant", "b"], "do not go together"),
        (["limits", "clear", "--client", "a", "--each-install"], "unknown option --each-install"),
        (["limits", "override", "--tenant", "a", "--each-install"], "do not go together"),
        (["limits", "override", "--jkt", Sample.jkt], "say whose limit"),
        (["limits", "override", "--client", "a"], "--burst is missing"),
        (
            ["limits", "override", "--client", "a", "--burst", "0"],
            "--burst must be a whole number"
        ),
        (["limits", "override", "--client", "a", "--burst", "1", "--rate", "x"], "--rate must be"),
        (
            ["limits", "override", "--client", "a", "--burst=1", "--rate=1", "--per=86401"],
            "--per must be a whole number from 1 to 86400"
        ),
        (
            ["limits", "override", "--client", "a", "--burst=1", "--rate=1", "--per=1"],
            "--for is missing"
        ),
        (
            ["limits", "override", "--client", "a", "--burst=1", "--rate=1", "--per=1", "--for=1"],
            "--for must be"
        ),
        (["limits", "override", "--client", "a", "--lift", "--for=1h"], "takes no --for"),
        (["limits", "replay"], "an argument is missing"),
        (["limits", "replay", "log"], "--policy is missing"),
        (["limits", "replay", "-", "-", "--policy", "p"], "- is given twice"),
        (["key"], "must be generate, add"),
        (["key", "generate", "--out", "x"], "--alg is missing"),
        (["key", "generate", "--alg", "RS256", "--out", "x"], "--alg must be ES256 or PS256"),
        (["key", "generate", "--alg", "ES256"], "--out is missing"),
        (["doctor"], "no database"), (["doctor", "app"], "too many arguments"),
        (["doctor", "--client", "a b"], "--client"),
        (["doctor", "--probe", "--offline"], "--probe asks providers"),
        (["doctor", "--timeout", "0"], "--timeout must be"),
        (["doctor", "--timeout", "61"], "--timeout must be"),
        (["doctor", "--timeout", "soon"], "--timeout must be"),
    ])
    func `what is not understood ends with 64 and a sentence on standard error`(
        words: [String], message: String
    ) async throws {
        let result = try await runProcess(
            ["env", "-u", "DATABASE_URL", BrokerProgram.path] + words)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errorText.contains(message), "\(result.errorText)")
    }

    @Test func `a broken configuration is refused with every fault and its place`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            Array("{listen: {address: \"x\", port: 1},\n public_url: 5, lains: 2}".utf8), to: "c")
        for command in ["serve", "check-config"] {
            let result = try await BrokerProgram.run(command, "--config", path)
            #expect(result.status == 65)
            for fault in [
                "line 1, column 20: listen.address", "line 2, column 14: public_url", "lains",
            ] {
                #expect(result.errorText.contains("\(path): ") && result.errorText.contains(fault))
            }
        }
        let missing = try await BrokerProgram.run("serve", "--config", directory.file("none"))
        #expect(missing.status == 65)
        #expect(missing.errorText.contains("No such file"))
    }

    @Test func `a good configuration is called good`() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array(ServeConfigurationTests.good.utf8), to: "c")
        let result = try await BrokerProgram.run("check-config", "--config", path)
        #expect(result.status == 0)
        #expect(result.outputText == "\(path): good\n")
    }

    @Test func `the example in deploy is a good configuration`() async throws {
        let path = PostgresCluster.root + "/deploy/broker.json5"
        #expect(try await BrokerProgram.run("check-config", "--config", path).status == 0)
    }

    /// cases.md "Secrets in output".
    @Test(arguments: [
        "postgresql://u:canary-password@127.0.0.1:1/db",
        "host=127.0.0.1 port=1 password=canary-password",
        "postgresql://u:canary-password@127.0.0.1:99999999/db", "password=canary-password nonsense",
        "postgresql://u:canary-password@[::1/db",
        "postgresql://u:canary-password@127.0.0.1:1/db?x=1",
    ])
    func `a database that is not there is 69, and its password is told to nobody`(url: String)
        async throws
    {
        let results = [
            try await BrokerProgram.run(
                "migrate", "--migrations", PostgresCluster.migrations, "--database-url", url),
            try await BrokerProgram.run("token", "list", "--database-url", url),
            try await BrokerProgram.run("block", Sample.jkt, "--database-url", url),
        ]
        for result in results {
            #expect(result.status == 69)
            #expect(
                result.errorText.contains("database")
                    || result.errorText.contains("connection string"))
            #expect(!(result.outputText + result.errorText).contains("canary"))
        }
    }

    @Test(arguments: ["ES256", "PS256"])
    func `a generated key is private, never overwritten, and what it says it is`(alg: String)
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.file("new key.pem")
        let result = try await BrokerProgram.run("key", "generate", "--alg", alg, "--out", path)
        #expect(result.status == 0)
        let key = try PrivateKey.load(uri: "file:\(path)")
        #expect(key.algorithm.rawValue == alg)
        #expect(result.outputText == "kid \(key.publicJWK.thumbprint)\nuri file:\(path)\n")
        #expect(try await runChecked(["stat", "-c", "%a", path]) == Array("600\n".utf8))
        try await runChecked(["openssl", "pkey", "-check", "-noout", "-in", path])
        let before = try directory.read("new key.pem")
        let again = try await BrokerProgram.run("key", "generate", "--alg", alg, "--out", path)
        #expect(again.status == 65)
        #expect(again.errorText.contains("File exists"))
        #expect(try directory.read("new key.pem") == before)
        #expect(!result.outputText.contains("PRIVATE"))
    }

    @Test func `a key's relative path becomes an absolute URI`() async throws {
        let directory = try TemporaryDirectory()
        let result = try await runProcess([
            "env", "-C", directory.path, BrokerProgram.path, "key", "generate", "--alg", "ES256",
            "--out", "k.pem",
        ])
        let place = try await runChecked(["realpath", directory.file("k.pem")])
        #expect(result.outputText.hasSuffix("uri file:" + String(decoding: place, as: UTF8.self)))
    }
}
