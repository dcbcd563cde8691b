import JOSE
import TestKit
import Testing

@testable import Broker

/// `broker doctor` over a database of its own; nobody is asked over the network.
@Suite struct DoctorTests {
    @Test func `a deployment as it should be ends with 0 and nothing but ok`() async throws {
        let world = try await World()
        let report = try await world.doctor("--config", try world.configuration())
        #expect(report.result.status == 0, "\(report.result.outputText)")
        #expect(report.codes("fault").isEmpty)
        #expect(report.warnings.isEmpty)
        #expect(
            Set(report.codes("ok")).isSuperset(of: [
                "database.reachable", "clock.agrees", "schema.current", "role.restricted",
                "key.signs", "gate.open", "limits.fit",
            ]))
        #expect(report.result.errorText.isEmpty)
        #expect(report.json["result"]?.string == "warning" || report.json["result"]?.string == "ok")
        let service = report.findings.filter { $0["role"]?.string == "doctor_service_login" }
        #expect(service.compactMap { $0["code"]?.string } == ["role.restricted"])
    }

    @Test func `the table says the same to people, with what to do`() async throws {
        let world = try await World(client: "limits: {install: {burst: 2, rate: 1, per: 60}}")
        let result = try await world.base.broker(
            "doctor", "--offline", "--migrations", PostgresCluster.migrations)
        #expect(result.status == 1)
        #expect(result.errorText.hasPrefix("broker doctor: 1 fault, "))
        let lines = result.outputText.split(separator: "\n").map(String.init)
        let place = try #require(lines.firstIndex { $0.contains("limits.below_sign_in") })
        #expect(lines[place].hasPrefix("fault    limits.below_sign_in"))
        #expect(lines[place].hasSuffix("client app"))
        #expect(lines[place + 1].contains("2 at once, 1 every 60 s"))
        #expect(lines[place + 2].contains("→ raise burst"))
        #expect(lines.last?.hasPrefix("1 fault, ") == true)
    }

    @Test func `a dry mint shows header and claims, no signature, and records nothing`()
        async throws
    {
        let world = try await World()
        let report = try await world.doctor()
        let mint = try #require(report.json["dry_mints"]?.array?.first)
        #expect(mint["client_id"]?.string == "app")
        #expect(mint["header"]?["alg"]?.string == "ES256")
        #expect(mint["header"]?["typ"]?.string == "client-authentication+jwt")
        #expect(mint["claims"]?["aud"]?.string == Sample.issuer)
        #expect(mint["claims"]?["iss"]?.string == "app")
        #expect(mint["claims"]?["jti"]?.string?.count == 24)
        let text = report.result.outputText
        #expect(!text.contains("eyJ"), "nothing that could be a part of a JWS")
        #expect(!text.contains("PRIVATE"))
        let rows = try await PostgresCluster.query(
            "SELECT count(*) FROM broker.assertion_jti", at: world.base.url)
        #expect(rows == "0")
    }

    @Test func `a key that is gone, or another one, is a fault by name`() async throws {
        let world = try await World()
        let path = String(world.base.keyURI.dropFirst(5))
        try await runChecked(["mv", path, path + ".away"])
        var report = try await world.doctor()
        #expect(report.result.status == 1)
        #expect(report.codes("fault") == ["key.unusable"])
        _ = try await BrokerProgram.run("key", "generate", "--alg", "ES256", "--out", path)
        report = try await world.doctor()
        #expect(report.codes("fault") == ["key.unusable"])
        let detail = report.findings.compactMap { $0["detail"]?.string }.first {
            $0.contains("another key")
        }
        #expect(detail?.contains("app.pem") == true)
        try await runChecked(["mv", path + ".away", path])
        #expect(try await world.doctor().result.status == 0)
    }

    @Test func `gates that let nobody in are faults`() async throws {
        let world = try await World()
        try await world.query("UPDATE broker.api_token SET revoked_at = now()")
        #expect(try await world.doctor().codes("fault") == ["gate.no_token"])
        try await world.query(
            """
            UPDATE broker.client SET settings = settings ||
            '{"gates": ["mtls"], "certificates": [{"san_dns": "backend.example"}]}'
            """)
        let blind = try await world.doctor()
        #expect(blind.codes("fault").isEmpty)
        #expect(
            blind.json["not_checked"]?.array?.contains { $0.string?.contains("mtls") == true }
                == true)
        let report = try await world.doctor("--config", try world.configuration())
        #expect(report.codes("fault") == ["gate.no_certificates"])
    }

    @Test func `tokens and nonces that outlive their time are warnings`() async throws {
        let world = try await World()
        try await world.query(
            """
            UPDATE broker.api_token SET expires_at = now() + interval '9 years';
            UPDATE broker.server_secret SET created_at = created_at - interval '3 days'
            """)
        #expect(try await world.doctor().warnings == ["gate.stale_nonces", "token.long_lived"])
        try await world.query("UPDATE broker.api_token SET expires_at = 'infinity'")
        let endless = try await world.doctor()
        #expect(endless.warnings.contains("token.without_expiry"))
        #expect(endless.result.status == 1, "no replica could read it")
    }

    @Test func `an override that is in force is what counts`() async throws {
        let world = try await World()
        let made = try await world.base.broker(
            "limits", "override", "--client", "app", "--burst", "3", "--rate", "1", "--per", "60",
            "--for", "1h")
        #expect(made.status == 0)
        #expect(try await world.doctor().codes("fault") == ["limits.below_sign_in"])
    }

    @Test func `a login that may do too much is told, by what it may do`() async throws {
        let world = try await World()
        let owner = try await world.doctor("--config", try world.configuration(world.base.url))
        let postgres = owner.findings.filter { $0["role"]?.string == "postgres" }
        #expect(postgres.compactMap { $0["code"]?.string } == ["role.too_strong"])
        try await world.query(
            """
            DO $$ BEGIN
                CREATE ROLE doctor_strong_login LOGIN IN ROLE broker_service;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$;
            GRANT DELETE ON broker.assertion_jti_03 TO doctor_strong_login;
            GRANT EXECUTE ON FUNCTION broker.bump_revision() TO doctor_strong_login
            """)
        let report = try await world.doctor()
        let strong = report.findings.filter { $0["role"]?.string == "doctor_strong_login" }
        #expect(
            strong.compactMap { $0["detail"]?.string }
                == ["it may DELETE on assertion_jti; it may call bump_revision"])
    }

    @Test func `a secret of transport tokens that 'serve' could not open is a fault`() async throws
    {
        let world = try await World()
        let path = try world.directory.write(Array(Sample.secretText.utf8), to: "org.secret")
        let tokens = """
            transport_tokens: {secret: "file:\(path)", cid: "org-17", iss: "https://bank.example",
                aud: "https://sso.example"}
            """
        #expect(try await world.base.broker("apply", try world.base.declare(tokens)).status == 0)
        let good = try await world.doctor()
        #expect(good.codes("fault").isEmpty)
        #expect(good.codes("ok").contains("secret.usable"))
        #expect(!good.result.outputText.contains(Sample.secretText))
        try await runChecked(["chmod", "604", path])
        #expect(try await world.doctor().codes("fault") == ["secret.unusable"])
        try await runChecked(["rm", path])
        let gone = try await world.doctor()
        #expect(gone.result.status == 1)
        #expect(gone.codes("fault") == ["secret.unusable"])
        let fault = gone.findings.first { $0["code"]?.string == "secret.unusable" }
        #expect(fault?["client_id"]?.string == "app")
        #expect(fault?["detail"]?.string?.contains("org.secret") == true)
        _ = try world.directory.write(Array("canary".utf8), to: "org.secret")
        let short = try await world.doctor()
        #expect(short.codes("fault") == ["secret.unusable"])
        #expect(!short.result.outputText.contains("canary"))
    }

    @Test func `a key that another client has too is told with --client as well`() async throws {
        let world = try await World()
        let client =
            "{alg: \"ES256\", issuers: [\"\(Sample.issuer)\"], gates: [\"dpop\"], keys: [{uri: \"\(world.base.keyURI)\", state: \"active\"}]}"
        let declaration = try world.directory.write(
            Array("{tenants: {acme: {clients: {app: \(client), web: \(client)}}}}".utf8),
            to: "two.json5")
        #expect(try await world.base.broker("apply", declaration).status == 0)
        #expect(try await world.doctor().warnings == ["key.shared", "key.shared"])
        let one = try await world.doctor("--client", "app")
        #expect(one.warnings == ["key.shared"])
        // The other is not looked at.
        #expect(!one.findings.contains { $0["client_id"]?.string == "web" })
        #expect(one.codes("ok").count(where: { $0 == "key.signs" }) == 1)
    }

    @Test func `each way a database fails has its code, and the exit code is 1`() async throws {
        let world = try await World(migrated: false)
        #expect(try await world.doctor().codes("fault") == ["schema.missing"])
        try await world.query("CREATE SCHEMA broker")
        #expect(try await world.doctor().codes("fault") == ["schema.missing"])
        for (url, code) in [
            ("postgresql://u:canary-password@127.0.0.1:1/db", "database.unreachable"),
            ("password=canary-password nonsense", "database.malformed_url"),
            ("postgres://u:canary-password/x@127.0.0.1/db", "database.malformed_url"),
        ] {
            let report = try await world.doctor("--database-url", url)
            #expect(report.result.status == 1)
            #expect(report.codes("fault") == [code])
            #expect(!(report.result.outputText + report.result.errorText).contains("canary"))
        }
    }

    @Test func `a schema that is older, newer or changed is told apart`() async throws {
        let world = try await World()
        try await world.query("UPDATE broker.schema_migration SET digest = repeat('0', 64)")
        #expect(try await world.doctor().codes("fault") == ["schema.contradicts"])
        let newer = try await World()
        try await newer.query(
            "INSERT INTO broker.schema_migration VALUES (9999, 'x', repeat('0', 64))")
        #expect(try await newer.doctor().warnings == ["schema.newer"])
        let older = try await World()
        try await older.query(
            "DELETE FROM broker.schema_migration WHERE version = (SELECT max(version) FROM broker.schema_migration)"
        )
        #expect(try await older.doctor().codes("fault") == ["schema.outdated"])
    }

    @Test func `a login without the right to look says so`() async throws {
        let world = try await World()
        try await world.query(
            """
            DO $$ BEGIN
                CREATE ROLE doctor_nobody LOGIN;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$
            """)
        let report = try await world.doctor(
            "--database-url",
            world.base.url.replacing("user=postgres", with: "user=doctor_nobody"))
        #expect(Set(report.codes("fault")) == ["database.no_privilege"])
    }

    @Test func `a row that cannot be understood is named`() async throws {
        let world = try await World()
        try await world.query("UPDATE broker.client SET settings = '{\"alg\": 5}'")
        let report = try await world.doctor()
        #expect(report.codes("fault") == ["declaration.unreadable"])
        #expect(
            report.findings.contains { $0["detail"]?.string?.contains("client app") == true })
    }

    @Test func `--client narrows, and an unknown one is 66`() async throws {
        let world = try await World()
        #expect(try await world.doctor("--client", "app").result.status == 0)
        let result = try await world.base.broker(
            "doctor", "--offline", "--client", "web", "--migrations", PostgresCluster.migrations)
        #expect(result.status == 66)
        #expect(result.output.isEmpty)
    }

    @Test func `a database without clients is no fault`() async throws {
        let world = try await World()
        try await world.query("DELETE FROM broker.client")
        let report = try await world.doctor()
        #expect(report.result.status == 0)
        #expect(report.warnings == ["declaration.empty"])
    }
}
