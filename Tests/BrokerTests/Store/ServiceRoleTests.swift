import TestKit
import Testing

@testable import Broker

/// The role of `broker serve`: what it needs, and no more.
@Suite struct ServiceRoleTests {
    /// A database, and the URL of a login that is only a member of `broker_service`.
    private static func world() async throws -> (admin: String, service: String) {
        let url = try await Deployment.migratedDatabase(in: .shared())
        try await PostgresCluster.query(
            """
            DO $$ BEGIN
                CREATE ROLE service_login LOGIN IN ROLE broker_service;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$
            """, at: url)
        return (url, url.replacing("user=postgres", with: "user=service_login"))
    }

    /// One for all statements that are refused: they change nothing.
    private static let refusing = Task { try await world() }

    @Test func `mints, keeps house and answers the probe`() async throws {
        let (admin, service) = try await Self.world()
        let lane = TestLane(postgres: service) { $0.waitingLimit = 20_000 }
        let policy = RatePolicy.only(5, name: "shared")
        let verdicts = await lane.record([
            .valid(proof: .fresh(), client: policy, tenant: policy), .valid(),
        ])
        #expect(verdicts.allSatisfy { $0.isRecorded })
        let shadow = LimitSettings(burst: 1, rate: 1, per: 60)
        let shadows = ShadowLimits(
            install: shadow.shadow(of: .install), client: shadow.shadow(of: .client))
        #expect(await lane.record(.valid(shadows: shadows)).isRecorded)
        let use = ConsumeRecord.valid()
        #expect(await lane.consume(use) == .consumed)
        #expect(await lane.consume(use) == .alreadyUsed)
        let connection = ControlConnection(conninfo: service)
        #expect(try await StoreMaintenance(connection: connection).run() == .init())
        let directory = DirectoryRepository(connection: connection, keys: SigningKeys())
        try await directory.ensureNonceSecret()
        _ = try await directory.look()
        try await PostgresCluster.query(
            "UPDATE broker.server_secret SET created_at = created_at - interval '1 day'", at: admin)
        #expect(try await StoreMaintenance(connection: connection).run() == .init(rotated: true))
        let version = try Migrator(directory: PostgresCluster.migrations).newestVersion
        let readiness = StoreReadiness(connection: connection, schemaVersion: version)
        #expect(await readiness.check() == .ready)
    }

    @Test(arguments: [
        "DELETE FROM broker.assertion_jti", "UPDATE broker.assertion_jti SET slot = 0",
        "TRUNCATE broker.assertion_jti", "TRUNCATE broker.assertion_jti_00",
        "DELETE FROM broker.assertion_jti_03", "SELECT client_id FROM broker.assertion_jti",
        "SELECT dpop_jkt FROM broker.assertion_jti", "SELECT jti FROM broker.assertion_jti_03",
        "DELETE FROM broker.proof_jti", "TRUNCATE broker.proof_jti_01",
        "DELETE FROM broker.consumed_jti", "UPDATE broker.consumed_jti SET slot = 0",
        "TRUNCATE broker.consumed_jti", "TRUNCATE broker.consumed_jti_07",
        "DELETE FROM broker.consumed_jti_07", "DROP TABLE broker.consumed_jti_07",
        "UPDATE broker.declaration SET revision = 0", "SELECT broker.bump_revision()",
        "INSERT INTO broker.tenant (tenant_id) VALUES ('mine')",
        "UPDATE broker.signing_key SET signs_at = now()",
        "UPDATE broker.signing_key SET state = 'active'",
        "UPDATE broker.client SET settings = '{}'", "DELETE FROM broker.blocked_install",
        "UPDATE broker.api_token SET revoked_at = NULL", "DELETE FROM broker.server_secret",
        "UPDATE broker.server_secret SET value = ''",
        "INSERT INTO broker.server_secret VALUES ('dpop-nonce', now(), sha256('known'))",
        "DELETE FROM broker.install_rate",
        "DELETE FROM broker.shared_rate",
        // All four are behind record_batch.
        "INSERT INTO broker.assertion_jti VALUES (1, 0, 'x', 'app', 'y')",
        "INSERT INTO broker.proof_jti VALUES (0, '\\x00')",
        "UPDATE broker.install_rate SET tat = 0", "UPDATE broker.shared_rate SET tat = 0",
        "SELECT tat FROM broker.install_rate", "SELECT jti FROM broker.assertion_jti",
        "SELECT hash FROM broker.proof_jti", "SELECT broker.proof_seen(0, '\\x00')",
        "SELECT broker.override_limit('client', NULL, 'app', NULL, 9, 9, 9, 9, '')",
        "SELECT broker.lift_override('client', NULL, 'app', NULL)",
        "SELECT broker.clear_limit('client', NULL, 'app', NULL)",
        "SELECT reason FROM broker.limit_override", "DELETE FROM broker.limit_override",
        "INSERT INTO broker.limit_override DEFAULT VALUES",
        "UPDATE broker.limit_override SET burst = 1000000",
        "INSERT INTO broker.schema_migration VALUES (9, 'x', 'y')",
        "CREATE TABLE broker.mine ()", "DROP TABLE broker.proof_jti",
    ])
    func `may not`(_ statement: String) async throws {
        let service = try await Self.refusing.value.service
        await #expect {
            try await ControlConnection(conninfo: service).query(statement)
        } throws: { ($0 as? PostgresError)?.sqlState == "42501" }
    }
}
