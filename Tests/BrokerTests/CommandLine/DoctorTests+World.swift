import JOSE
import TestKit
import Testing

extension DoctorTests {
    /// A deployment with one thing of each kind as it should be, but for what a test changes.
    struct World {
        let base: AdministrationTests.World
        let directory: TemporaryDirectory
        /// A login that is a member of `broker_service` and nothing else.
        let serviceURL: String

        init(client: String = "", migrated: Bool = true) async throws {
            base = try await AdministrationTests.World(migrated: migrated)
            directory = try TemporaryDirectory()
            serviceURL = base.url.replacing("user=postgres", with: "user=doctor_service_login")
            guard migrated else { return }
            try await query(
                """
                DO $$ BEGIN
                    CREATE ROLE doctor_service_login LOGIN IN ROLE broker_service;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                END $$
                """)
            #expect(try await base.broker("apply", try base.declare(client)).status == 0)
            #expect(try await base.broker("token", "create", "--tenant", "acme").status == 0)
            try await query("SELECT broker.rotate_nonce_secret()")
        }

        func query(_ sql: String) async throws {
            _ = try await PostgresCluster.query(sql, at: base.url)
        }

        /// The configuration of a `serve` over the database.
        func configuration(_ url: String? = nil, more: String = "") throws -> String {
            let urlFile = try directory.write(Array("\(url ?? serviceURL)\n".utf8), to: "url")
            return try directory.write(
                Array(
                    """
                    {listen: {address: "127.0.0.1", port: 0}, public_url: "https://broker.example",
                     database_url_file: "\(urlFile)", \(more)
                     migrations_directory: "\(PostgresCluster.migrations)"}
                    """.utf8), to: "broker.json5")
        }

        /// What `--json` says, with the exit code.
        func doctor(_ words: String...) async throws -> Report {
            let result = try await runProcess(
                [
                    "env", "DATABASE_URL=\(base.url)", BrokerProgram.path, "doctor", "--offline",
                    "--json", "--migrations", PostgresCluster.migrations,
                ] + words)
            return Report(
                result: result,
                json: try JSONValue(parsing: Array(result.outputText.utf8.dropLast())))
        }
    }

    struct Report {
        let result: ProcessResult
        let json: JSONValue

        var findings: [JSONValue] { json["findings"]?.array ?? [] }

        func codes(_ level: String) -> [String] {
            findings.filter { $0["level"]?.string == level }.compactMap { $0["code"]?.string }
        }

        /// Of logins that other tests made in the same cluster nothing is asked here.
        var warnings: [String] { codes("warning").filter { !$0.hasPrefix("role.") } }
    }
}
