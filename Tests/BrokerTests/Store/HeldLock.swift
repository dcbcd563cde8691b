@testable import Broker

/// Something locked in a transaction that stays open until told otherwise.
struct HeldLock: Sendable {
    private let connection: ControlConnection

    /// Returns once `statement` has its lock.
    init(_ statement: String, at url: String) async throws {
        connection = ControlConnection(conninfo: url)
        _ = try await connection.query("BEGIN")
        _ = try await connection.query(statement)
    }

    func release() async throws {
        _ = try await connection.query("ROLLBACK")
    }
}
