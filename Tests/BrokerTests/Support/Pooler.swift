import Glibc
import TestKit

/// A PgBouncer in transaction mode in front of a cluster.
struct Pooler: Sendable {
    let process: RunningProcess
    private let directory: TemporaryDirectory

    /// - Parameter sessions: connections to the server; fewer than clients, so that these take turns on them.
    init(before cluster: PostgresCluster, sessions: Int) async throws {
        directory = try TemporaryDirectory()
        chmod(directory.path, 0o777)  // PgBouncer does not run as root, and its socket lies here
        let settings = """
            [databases]
            * = host=\(cluster.socketDirectory) port=5432 user=postgres
            [pgbouncer]
            unix_socket_dir = \(directory.path)
            listen_port = 6432
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(sessions)
            max_client_conn = 100
            """
        let path = try directory.write(Array(settings.utf8), to: "pgbouncer.ini")
        chmod(path, 0o644)
        process = try RunningProcess(
            [
                "sh", "-c",
                """
                if [ "$(id -u)" = 0 ]; then set -- setpriv --reuid postgres --regid postgres --clear-groups "$@"; fi
                exec "$@" 2>&1
                """, "pooler", "/usr/sbin/pgbouncer", path,
            ], environment: BrokerProgram.environment)
        _ = try await process.line { $0.contains("process up") }
    }

    /// The same database through the pooler.
    func url(of database: String) -> String {
        let name = database.split(separator: "?")[0]
        return "\(name)?host=\(directory.path)&port=6432&user=postgres"
    }

    func stop() async {
        process.signal(SIGTERM)
        _ = await process.status()
    }
}
