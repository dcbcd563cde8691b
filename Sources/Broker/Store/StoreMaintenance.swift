/// Keeps the tables as small as the lifetimes allow: empties old jti partitions, forgets idle limits and overrides that have ended. Also rotates the
/// secret of the DPoP nonces once a day.
///
/// Every replica may run it, as often as it likes; the database lets one work at a time on jti, and skips
/// what others hold for limits.
struct StoreMaintenance: Sendable {
    /// What one round did.
    struct Round: Sendable, Equatable {
        /// The partitions emptied.
        var emptied: [String] = []
        /// How many limits were forgotten.
        var forgotten: Int64 = 0
        /// How many overrides of limits were forgotten, since they have ended.
        var endedOverrides: Int64 = 0
        /// Whether there is a new secret for DPoP nonces.
        var rotated = false
    }

    /// Pages of the limits' table in one transaction: 8 MB, some 50,000 rows.
    private static let pagesAtOnce: Int64 = 1024

    private let connection: ControlConnection

    init(connection: ControlConnection) {
        self.connection = connection
    }

    /// One round, to be run about once a minute.
    func run() async throws(PostgresError) -> Round {
        var round = Round()
        for row in try await connection.query(
            "SELECT emptied FROM broker.empty_expired_slots() AS emptied")
        {
            round.emptied.append(try row.text("emptied"))
        }
        var page: Int64 = 0
        var pages: Int64 = 1
        while page < pages {
            let rows = try await connection.query(
                "SELECT forgotten, table_blocks FROM broker.forget_idle_rates($1::bigint, $2::bigint)",
                .integer(page), .integer(Self.pagesAtOnce))
            guard let row = rows.first else { throw .unexpectedAnswer("no row") }
            round.forgotten += try row.integer("forgotten")
            pages = try row.integer("table_blocks")
            page += Self.pagesAtOnce
        }
        let ended = try await connection.query("SELECT broker.forget_ended_limits() AS ended")
        round.endedOverrides = try ended.first?.integer("ended") ?? 0
        // The first one is made by whoever loads the directory (DirectoryRepository).
        let rows = try await connection.query(
            """
            SELECT broker.rotate_nonce_secret() AS rotated
            WHERE EXISTS (SELECT FROM broker.server_secret WHERE name = 'dpop-nonce')
            """)
        round.rotated = try rows.first?.boolean("rotated") ?? false
        return round
    }
}
