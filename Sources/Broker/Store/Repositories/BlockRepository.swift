import AssertionMint
import JOSE

/// Blocked installs in the database.
struct BlockRepository: Sendable {
    let connection: ControlConnection

    /// Blocks an install from the next batch of every replica on; blocking it again changes the reason only.
    ///
    /// - Returns: `false` when there is no such client.
    func block(_ block: Block, reason: String) async throws(PostgresError) -> Bool {
        try await connection.transaction { session throws(PostgresError) in
            if let client = block.client {
                let known = try session.query(
                    "SELECT FROM broker.client WHERE client_id = $1", .text(client.rawValue))
                guard !known.isEmpty else { return false }
            }
            try session.query(
                """
                INSERT INTO broker.blocked_install (dpop_jkt, client_id, reason) VALUES ($1, $2::text, $3)
                ON CONFLICT (dpop_jkt, COALESCE(client_id, '')) DO UPDATE SET reason = EXCLUDED.reason
                """, .text(block.jkt.rawValue), Self.client(block), .text(reason))
            try session.query("SELECT broker.bump_revision()")
            return true
        }
    }

    /// Lifts a block.
    ///
    /// - Returns: `false` when there was none.
    func unblock(_ block: Block) async throws(PostgresError) -> Bool {
        try await connection.transaction { session throws(PostgresError) in
            let lifted = try session.query(
                """
                DELETE FROM broker.blocked_install
                WHERE dpop_jkt = $1 AND client_id IS NOT DISTINCT FROM $2::text RETURNING 1
                """, .text(block.jkt.rawValue), Self.client(block))
            guard !lifted.isEmpty else { return false }
            try session.query("SELECT broker.bump_revision()")
            return true
        }
    }

    private static func client(_ block: Block) -> SQLValue {
        block.client.map { .text($0.rawValue) } ?? .null
    }
}
