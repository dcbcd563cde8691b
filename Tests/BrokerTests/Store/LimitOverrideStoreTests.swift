import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

/// Overrides in Postgres, and what the role of whoever is on call may do.
@Suite struct LimitOverrideStoreTests {
    private static let hour = LimitSettings(burst: 3, rate: 1, per: 3600)

    private func world() async throws -> (url: String, limits: LimitRepository) {
        let url = try await PostgresCluster.shared().freshDatabase()
        try await PostgresCluster.query(
            """
            INSERT INTO broker.tenant (tenant_id) VALUES ('acme');
            INSERT INTO broker.client (client_id, tenant_id, settings) VALUES
                ('app', 'acme', '{"alg":"ES256","issuers":["https://idp.example"],"gates":["dpop"]}')
            """, at: url)
        return (url, LimitRepository(connection: ControlConnection(conninfo: url)))
    }

    private func app() throws -> LimitOverride.Subject { .client(try Sample.clientId("app")) }

    private func install() throws -> LimitOverride.Subject {
        .install(try #require(DpopJkt(Sample.jkt)), of: try Sample.clientId("app"))
    }

    private func revision(_ url: String) async throws -> String {
        try await PostgresCluster.query("SELECT revision FROM broker.declaration", at: url)
    }

    @Test func `an override is a new revision, replaces the one before, and is lifted once`()
        async throws
    {
        let (url, limits) = try await world()
        for number in 1...2 {
            let made = try await limits.override(
                try app(), Self.hour, seconds: 60, reason: "r\(number)")
            guard case .made = made else {
                Issue.record("\(made)")
                return
            }
            #expect(try await revision(url) == "\(number)")
        }
        let overrides = try await limits.rows(jkt: nil).overrides
        #expect(overrides.map(\.reason) == ["r2"])
        #expect(overrides.map(\.madeBy) == ["postgres"])
        #expect(try await limits.lift(try app()))
        #expect(try await revision(url) == "3")
        #expect(try await !limits.lift(try app()))
        #expect(try await revision(url) == "3", "no replica reloads for nothing")
    }

    @Test func `nobody's limit is overridden, and nothing changes`() async throws {
        let (url, limits) = try await world()
        let nobodies: [LimitOverride.Subject] = [
            .client(try Sample.clientId("web")), .eachInstall(of: try Sample.clientId("web")),
            .install(try #require(DpopJkt(Sample.jkt)), of: try Sample.clientId("web")),
            .tenant(try Sample.tenantId("shop")),
        ]
        for nobody in nobodies {
            #expect(
                try await limits.override(nobody, Self.hour, seconds: 60, reason: "")
                    == .unknownSubject)
            #expect(try await !limits.clear(nobody))
        }
        #expect(try await revision(url) == "0")
    }

    @Test func `a client that is removed takes its overrides along`() async throws {
        let (url, limits) = try await world()
        for subject in [try app(), try install()] {
            _ = try await limits.override(subject, Self.hour, seconds: 60, reason: "")
        }
        try await PostgresCluster.query("DELETE FROM broker.client", at: url)
        #expect(try await limits.rows(jkt: nil).overrides.isEmpty)
    }

    @Test func `there are a thousand at most, and those that have ended count for nothing`()
        async throws
    {
        let (url, limits) = try await world()
        try await PostgresCluster.query(
            """
            INSERT INTO broker.limit_override
                (scope, client_id, dpop_jkt, burst, rate, per, reason, made_by, ends_at)
            SELECT 'install', 'app', left(md5(i::text) || md5('x' || i), 43), 1, 1, 1, '', 'me',
                now() + interval '1 hour' FROM generate_series(1, 1000) AS i
            """, at: url)
        #expect(
            try await limits.override(try app(), Self.hour, seconds: 60, reason: "") == .tooMany)
        #expect(try await revision(url) == "0", "a refusal leaves nothing behind")
        try await PostgresCluster.query(
            """
            UPDATE broker.limit_override SET created_at = now() - interval '2 hours',
                ends_at = now() - interval '1 hour' WHERE override_id = 7
            """, at: url)
        let made = try await limits.override(try app(), Self.hour, seconds: 60, reason: "")
        guard case .made = made else {
            Issue.record("\(made)")
            return
        }
    }

    @Test func `one that has ended is told to nobody, and leaves with the maintenance`()
        async throws
    {
        let (url, limits) = try await world()
        _ = try await limits.override(try app(), Self.hour, seconds: 3600, reason: "")
        let lane = TestLane(postgres: url) { $0.waitingLimit = 20_000 }
        let policy = try #require(try await limits.rows(jkt: nil).overrides.first).declared.policy
        #expect(await lane.record(.valid(client: policy, revision: 1)).isRecorded)
        try await PostgresCluster.query(
            """
            UPDATE broker.limit_override SET created_at = now() - interval '2 hours',
                ends_at = now() - interval '30 seconds'
            """, at: url)
        #expect(try await limits.rows(jkt: nil).overrides.isEmpty)
        #expect(try await !limits.lift(try app()))
        let maintenance = StoreMaintenance(connection: ControlConnection(conninfo: url))
        _ = try await limits.override(try app(), Self.hour, seconds: 3600, reason: "")
        try await PostgresCluster.query(
            """
            UPDATE broker.limit_override SET created_at = now() - interval '2 hours',
                ends_at = now() - interval '70 seconds';
            UPDATE broker.shared_rate SET tat = 0 WHERE policy = '\(policy.state)'
            """, at: url)
        #expect(try await maintenance.run().endedOverrides == 1)
        #expect(
            try await PostgresCluster.query("SELECT count(*) FROM broker.shared_rate", at: url)
                == "0", "nothing is left of it")
        #expect(try await maintenance.run().endedOverrides == 0)
    }

    @Test func `what its limit still owes stays, and so do the limits of others`() async throws {
        let (url, limits) = try await world()
        let lane = TestLane(postgres: url) { $0.waitingLimit = 20_000 }
        for policy in [RatePolicy.only(5, name: "client"), .only(5, name: "client@77")] {
            #expect(await lane.record(.valid(client: policy)).isRecorded)
        }
        _ = try await StoreMaintenance(connection: limits.connection).run()
        #expect(
            try await PostgresCluster.query("SELECT count(*) FROM broker.shared_rate", at: url)
                == "2")
    }

    @Test(arguments: [
        "'install', 'acme', NULL, NULL", "'install', 'acme', 'app', '\(Sample.jkt)'",
        "'client', 'acme', NULL, NULL", "'client', 'acme', 'app', NULL",
        "'client', NULL, 'app', '\(Sample.jkt)'", "'tenant', NULL, 'app', NULL",
        "'tenant', 'acme', NULL, '\(Sample.jkt)'", "'install', NULL, 'app', 'short'",
        "'each', NULL, 'app', NULL",
    ])
    func `a row that makes no sense is refused by the table`(subject: String) async throws {
        let (_, limits) = try await world()
        await #expect(throws: PostgresError.self) {
            try await limits.connection.query(
                "SELECT broker.override_limit(\(subject), 1, 1, 1, 60, '')")
        }
        #expect(try await limits.rows(jkt: nil).overrides.isEmpty)
    }

    @Test(arguments: [
        "0, 1, 1, 60", "1, 0, 1, 60", "1, 1, 0, 60", "1000001, 1, 1, 60", "1, 1, 86401, 60",
        "1, 1, 1, 0", "1, 1, 1, -5",
    ])
    func `numbers out of bounds are refused by the table`(numbers: String) async throws {
        let (_, limits) = try await world()
        await #expect(throws: PostgresError.self) {
            try await limits.connection.query(
                "SELECT broker.override_limit('client', NULL, 'app', NULL, \(numbers), '')")
        }
    }

    /// The URL of a login that is only a member of `broker_operator`.
    private func onCall(_ url: String) async throws -> String {
        try await PostgresCluster.query(
            """
            DO $$ BEGIN
                CREATE ROLE oncall LOGIN IN ROLE broker_operator;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$
            """, at: url)
        return url.replacing("user=postgres", with: "user=oncall")
    }

    @Test func `whoever is on call shows, overrides, lifts and clears, under their own name`()
        async throws
    {
        let (url, _) = try await world()
        let limits = LimitRepository(
            connection: ControlConnection(conninfo: try await onCall(url)))
        for subject in [try app(), try install()] {
            let made = try await limits.override(subject, Self.hour, seconds: 60, reason: "x")
            #expect(made != .unknownSubject)
            #expect(try await limits.clear(subject))
        }
        let rows = try await limits.rows(jkt: nil)
        #expect(rows.overrides.map(\.madeBy) == ["oncall", "oncall"])
        #expect(rows.clients.map(\.id.rawValue) == ["app"])
        #expect(try await limits.lift(try app()))
    }

    @Test(arguments: [
        "SELECT FROM broker.api_token", "SELECT FROM broker.signing_key",
        "SELECT FROM broker.server_secret", "SELECT FROM broker.blocked_install",
        "SELECT FROM broker.assertion_jti", "SELECT broker.bump_revision()",
        "UPDATE broker.declaration SET revision = 0", "UPDATE broker.client SET settings = '{}'",
        "INSERT INTO broker.limit_override DEFAULT VALUES", "DELETE FROM broker.limit_override",
        "UPDATE broker.limit_override SET made_by = 'you'", "UPDATE broker.shared_rate SET tat = 0",
        "DELETE FROM broker.install_rate", "SELECT broker.forget_ended_limits()",
        "SELECT broker.rotate_nonce_secret()",
    ])
    func `whoever is on call may not`(statement: String) async throws {
        let (url, _) = try await world()
        let oncall = try await onCall(url)
        await #expect {
            try await ControlConnection(conninfo: oncall).query(statement)
        } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
    }
}
