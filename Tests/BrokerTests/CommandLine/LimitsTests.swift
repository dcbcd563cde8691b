import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker limits`, as a person types it.
@Suite struct LimitsTests {
    private typealias World = AdministrationTests.World

    private func world() async throws -> World {
        let world = try await World()
        let limits =
            "limits: {install: {burst: 4, rate: 1, per: 60}, client: {burst: 10, rate: 1, per: 1}}"
        #expect(try await world.broker("apply", try world.declare(limits)).status == 0)
        return world
    }

    @Test func `show tells each limit and what is left of it`() async throws {
        let world = try await world()
        #expect(
            try await world.broker("limits", "show").outputText == """
                client app: 10 at once, 1 every 1 s; 10 left, full
                each install of app: 4 at once, 1 every 60 s

                """)
        // Four spent: it is full again in four minutes.
        try await PostgresCluster.query(
            """
            INSERT INTO broker.install_rate (client_id, dpop_jkt, policy, burst, step, granted, tat)
            SELECT 'app', '\(Sample.jkt)', 'install', 4, 60000000, 1,
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 240000000
            """, at: world.url)
        let shown = try await world.broker(
            "limits", "show", "--client", "app", "--jkt", Sample.jkt)
        #expect(
            shown.outputText.contains(
                "install \(Sample.jkt) of app: 4 at once, 1 every 60 s; 0 left, next in "))
        let json = try JSONValue(
            parsing: Array(
                try await world.broker(
                    "limits", "show", "--client=app", "--jkt=\(Sample.jkt)", "--json"
                ).outputText.utf8.dropLast()))
        #expect(json["revision"]?.integer == 1)
        #expect(json["now"]?.string.flatMap { Timestamp.microseconds(rfc3339: $0) } != nil)
        let install = try #require(json["limits"]?.array?.last)
        #expect(install["scope"]?.string == "install")
        #expect(install["jkt"]?.string == Sample.jkt)
        #expect(install["remaining"]?.integer == 0)
        let wait = try #require(install["retry_after_us"]?.integer)
        #expect(wait > 0 && wait <= 60_000_000)
        #expect(install["reset_after_us"]?.integer == wait + 180_000_000)
        #expect(install["override"] == nil)
        #expect(try await world.broker("limits", "show", "--client", "web").status == 66)
    }

    @Test func `show tells shadow limits beside those in force`() async throws {
        let world = try await World()
        #expect(
            try await world.broker(
                "apply",
                try world.declare(
                    """
                    limits: {
                        install: {burst: 4, rate: 1, per: 60}, client: {burst: 10, rate: 1, per: 1},
                        shadow: {install: {burst: 2, rate: 1, per: 60}, client: {burst: 5, rate: 1, per: 1}},
                    }
                    """)
            ).status == 0)
        // The shadow has spent both of its permits, the limit in force none.
        try await PostgresCluster.query(
            """
            INSERT INTO broker.install_rate (client_id, dpop_jkt, policy, burst, step, granted, tat)
            SELECT 'app', '\(Sample.jkt)', 'install~2/1/60', 2, 60000000, 1,
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 120000000
            """, at: world.url)
        let shown = try await world.broker("limits", "show", "--client", "app", "--jkt", Sample.jkt)
        let lines = shown.outputText.split(separator: "\n")
        #expect(
            lines.prefix(5) == [
                "client app: 10 at once, 1 every 1 s; 10 left, full",
                "client app, shadow: 5 at once, 1 every 1 s; 5 left, full",
                "each install of app: 4 at once, 1 every 60 s",
                "each install of app, shadow: 2 at once, 1 every 60 s",
                "install \(Sample.jkt) of app: 4 at once, 1 every 60 s; 4 left, full",
            ])
        #expect(
            lines.last?.hasPrefix(
                "install \(Sample.jkt) of app, shadow: 2 at once, 1 every 60 s; 0 left, next in ")
                == true)
        let json = try JSONValue(
            parsing: Array(
                try await world.broker("limits", "show", "--client=app", "--json")
                    .outputText.utf8.dropLast()))
        let shadows = (json["limits"]?.array ?? []).map { $0["shadow"]?.bool ?? false }
        #expect(shadows == [false, true, false, true])
    }

    @Test func `an override is made, shown with who and why, and lifted`() async throws {
        let world = try await world()
        let made = try await world.broker(
            "limits", "override", "--client", "app", "--jkt", Sample.jkt, "--burst", "50", "--rate",
            "5",
            "--per", "60", "--for", "2h", "--reason", "a tester")
        #expect(made.status == 0)
        let prefix = "install \(Sample.jkt) of app: 50 at once, 5 every 60 s, until "
        #expect(made.outputText.hasPrefix(prefix))
        let until = made.outputText.dropFirst(prefix.count).dropLast()
        #expect(Timestamp.microseconds(rfc3339: String(until)) != nil)
        let shown = try await world.broker("limits", "show", "--client", "app").outputText
        #expect(
            shown.hasSuffix(
                "install \(Sample.jkt) of app: 50 at once, 5 every 60 s; 50 left, full; "
                    + "override 1 by postgres until \(until): a tester\n"), "\(shown)")
        let lift = ["limits", "override", "--client", "app", "--jkt", Sample.jkt, "--lift"]
        let lifted = try await runProcess(
            ["env", "DATABASE_URL=\(world.url)", BrokerProgram.path] + lift)
        #expect(lifted.outputText == "install \(Sample.jkt) of app: as declared\n")
        let again = try await runProcess(
            ["env", "DATABASE_URL=\(world.url)", BrokerProgram.path] + lift)
        #expect(again.status == 66)
        #expect(again.errorText.contains("there is no override of install"))
    }

    @Test func `each install, a client and a tenant are overridden and cleared by name`()
        async throws
    {
        let world = try await world()
        let limit = ["--burst=9", "--rate=1", "--per=1", "--for=45s"]
        for (subject, words) in [
            ("each install of app", ["--client", "app", "--each-install"]),
            ("client app", ["--client", "app"]), ("tenant acme", ["--tenant", "acme"]),
        ] {
            let made = try await runProcess(
                ["env", "DATABASE_URL=\(world.url)", BrokerProgram.path, "limits", "override"]
                    + words + limit)
            #expect(made.outputText.hasPrefix("\(subject): 9 at once, 1 every 1 s, until "))
        }
        let shown = try await world.broker("limits", "show").outputText.split(separator: "\n")
        #expect(
            shown.map { $0.prefix { $0 != ":" } } == [
                "tenant acme", "client app", "each install of app",
            ])
        #expect(shown.allSatisfy { $0.contains(": 9 at once") && $0.contains("; override ") })
        #expect(
            try await world.broker("limits", "clear", "--tenant", "acme").outputText
                == "tenant acme: full again\n")
        #expect(
            try await world.broker("limits", "clear", "--client", "app", "--jkt", Sample.jkt)
                .outputText == "install \(Sample.jkt) of app: full again\n")
        #expect(try await world.broker("limits", "clear", "--client", "web").status == 66)
        #expect(try await world.broker("limits", "clear", "--tenant", "shop").status == 66)
        let nobody = try await world.broker(
            "limits", "override", "--tenant", "shop", "--burst=1", "--rate=1", "--per=1", "--for=1h"
        )
        #expect(nobody.status == 66)
        #expect(nobody.errorText.contains("there is no such tenant"))
    }

    @Test func `a login that may not is told so`() async throws {
        let world = try await world()
        try await PostgresCluster.query(
            """
            DO $$ BEGIN
                CREATE ROLE service_login LOGIN IN ROLE broker_service;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$
            """, at: world.url)
        let url = world.url.replacing("user=postgres", with: "user=service_login")
        let refused = try await BrokerProgram.run(
            "limits", "clear", "--client", "app", "--database-url", url)
        #expect(refused.status == 69)
        #expect(refused.errorText.contains("permission denied"))
    }

    @Test func `replay reads files and standard input, for people and for scripts`() async throws {
        let directory = try TemporaryDirectory()
        let policy = try directory.write(
            Array(
                "{tenants: {acme: {clients: {app: {limits: {install: {burst: 1, rate: 1, per: 60}}}}}}}"
                    .utf8), to: "policy")
        let lines = (0..<4).map { LogSample.mint(at: 1_772_323_199_000_000 + Int64($0)) } + ["oops"]
        let log = Array((lines.joined(separator: "\n") + "\n").utf8)
        let path = try directory.write(log, to: "log")
        let report = try await BrokerProgram.run("limits", "replay", path, "--policy", policy)
        #expect(report.status == 0)
        #expect(
            report.outputText.contains(
                "install: 0 refused then, 3 under these limits; 3 more (first at 2026-02-28T23:59:59.000001Z), 0 fewer"
            ))
        #expect(report.errorText.contains("1 lines are not the broker's"))
        #expect(report.errorText.contains("\(path):5: column 1: unexpected character"))
        let json = try await runProcess(
            [BrokerProgram.path, "limits", "replay", "-", "--policy", policy, "--json"], input: log)
        let value = try JSONValue(parsing: Array(json.outputText.utf8.dropLast()))
        #expect(value["policies"]?["install"]?["more"]?.integer == 3)
        #expect(value["left_out"]?["corrupt_lines"]?.array?.first?["line"]?.integer == 5)
        #expect(
            try await BrokerProgram.run("limits", "replay", "/none", "--policy", policy).status
                == 65)
        #expect(
            try await BrokerProgram.run("limits", "replay", path, "--policy", "/none").status == 65)
        #expect(
            try await BrokerProgram.run("limits", "replay", path, "--policy", path).status == 65)
    }
}
