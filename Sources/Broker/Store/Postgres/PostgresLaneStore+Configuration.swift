extension PostgresLaneStore {
    /// How one lane talks to Postgres. Times are milliseconds.
    struct Configuration: Sendable {
        /// A libpq URI or keyword list; several hosts and `target_session_attrs=read-write` are fine.
        var conninfo: String
        /// The most records in one statement.
        var batchLimit = 256
        /// The most records that wait; beyond that the answer is `overloaded` at once.
        var queueLimit = 4096
        /// How long a record may wait to be sent, an outage of the database included.
        var waitingLimit = 1000
        /// How long a batch, or the preparing of its statement, may go unanswered before its connection is dropped.
        var answerLimit = 5000
        /// How long connecting may take.
        var connectLimit = 5000
        /// The first pause after a failed connection; it doubles up to `longestBackoff`, with jitter.
        var shortestBackoff = 20
        var longestBackoff = 1000
        /// False: the statement is sent as text each time, for a pooler that keeps no prepared
        /// statements. The store also turns to that by itself when it meets one.
        var usesPreparedStatement = true
        /// Microseconds since 1970 UTC on the broker's clock.
        var wallClock: @Sendable () -> Int64 = wallClockMicroseconds

        init(conninfo: String) {
            self.conninfo = conninfo
        }
    }
}
