import Dispatch

/// A connection for work that may wait: admin commands, snapshots, maintenance. It blocks a queue of
/// its own, never a lane or a Swift concurrency thread.
///
/// It connects when first used, and again after the connection was lost; a lost statement is not
/// repeated.
/// Sendable: `link` is only touched on `queue`.
final class ControlConnection: @unchecked Sendable {
    private let conninfo: String
    private let queue = DispatchQueue(label: "broker.store.control")
    private let connectLimitMilliseconds: Int
    private let statementLimitMilliseconds: Int
    private var link: PostgresLink?

    /// - Parameters:
    ///   - conninfo: A libpq URI or keyword list.
    ///   - statementLimitMilliseconds: How long one statement may take before the connection is dropped.
    init(
        conninfo: String, connectLimitMilliseconds: Int = 5000,
        statementLimitMilliseconds: Int = 30_000
    ) {
        self.conninfo = conninfo
        self.connectLimitMilliseconds = connectLimitMilliseconds
        self.statementLimitMilliseconds = statementLimitMilliseconds
    }

    /// Runs one statement. Parameters are bound in order to $1, $2, …
    func query(
        _ sql: String, _ parameters: SQLValue...
    ) async throws(PostgresError) -> [SQLRow] {
        try await perform { session throws(PostgresError) in try session.query(sql, parameters) }
    }

    /// Runs `body` in one transaction: committed when it returns, rolled back when it throws.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (ControlSession) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        try await perform { session throws(PostgresError) in
            try session.query("BEGIN")
            let value: Value
            do throws(PostgresError) {
                value = try body(session)
            } catch {
                // When this fails too the connection is gone, and the transaction with it.
                _ = try? session.query("ROLLBACK")
                throw error
            }
            try session.query("COMMIT")
            return value
        }
    }

    /// Closes the connection; the next statement opens another.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.link = nil
                continuation.resume()
            }
        }
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (ControlSession) throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let outcome: Result<Value, PostgresError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: self.performOnQueue(body))
            }
        }
        return try outcome.get()
    }

    private func performOnQueue<Value: Sendable>(
        _ body: (ControlSession) throws(PostgresError) -> Value
    ) -> Result<Value, PostgresError> {
        do throws(PostgresError) {
            let link = try connected()
            return .success(
                try body(
                    ControlSession(
                        link: link, statementLimitMilliseconds: statementLimitMilliseconds)))
        } catch {
            if error.spoilsConnection { link = nil }
            return .failure(error)
        }
    }

    private func connected() throws(PostgresError) -> PostgresLink {
        if let link, link.stillStands() { return link }
        link = nil
        let fresh = try PostgresLink(
            connecting: conninfo, deadline: .now().adding(milliseconds: connectLimitMilliseconds))
        link = fresh
        return fresh
    }
}

/// What a `ControlConnection` lends to the work it runs: blocking calls, on its queue, only for the
/// time of that work.
struct ControlSession {
    fileprivate let link: PostgresLink
    fileprivate let statementLimitMilliseconds: Int

    /// Runs one statement. Parameters are bound in order to $1, $2, …
    @discardableResult
    func query(_ sql: String, _ parameters: SQLValue...) throws(PostgresError) -> [SQLRow] {
        try query(sql, parameters)
    }

    /// Runs one statement. Parameters are bound in order to $1, $2, …
    @discardableResult
    func query(_ sql: String, _ parameters: [SQLValue]) throws(PostgresError) -> [SQLRow] {
        var bound = StatementParameters()
        for parameter in parameters { parameter.append(to: &bound) }
        let result = try link.run(sql, bound, deadline: deadline)
        let columns = (0..<result.columnCount).map { result.name(ofColumn: $0) }
        var rows: [SQLRow] = []
        rows.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            var values: [String?] = []
            for column in columns.indices { values.append(result.text(row: row, column: column)) }
            rows.append(SQLRow(columns: columns, values: values))
        }
        return rows
    }

    /// Runs a script of several statements without parameters, such as a migration.
    func script(_ sql: String) throws(PostgresError) {
        try link.runScript(sql, deadline: deadline)
    }

    private var deadline: MonotonicTime { .now().adding(milliseconds: statementLimitMilliseconds) }
}
