import Glibc

/// Running a statement to its end on the calling thread, for connections that are not a lane's.
extension PostgresLink {
    /// Runs one statement, results in text format.
    func run(
        _ sql: String, _ parameters: StatementParameters, deadline: MonotonicTime
    ) throws(PostgresError) -> QueryResult {
        try finish(sent: send(sql, parameters, binaryResult: false), deadline: deadline)
    }

    /// Runs a script of several statements.
    func runScript(_ sql: String, deadline: MonotonicTime) throws(PostgresError) {
        _ = try finish(sent: sendScript(sql), deadline: deadline)
    }

    /// Flushes, reads all results, and gives the last one or throws the first error.
    private func finish(sent: Bool, deadline: MonotonicTime) throws(PostgresError) -> QueryResult {
        guard sent else { throw .connectionLost(lastMessage) }
        var flushed = flush()
        while flushed == .some {
            guard wait(for: Int16(POLLIN | POLLOUT), until: deadline) else { throw .timedOut }
            guard consumeInput() else { throw .connectionLost(lastMessage) }
            flushed = flush()
        }
        guard flushed == .all else { throw .connectionLost(lastMessage) }
        var last: QueryResult?
        var firstError: PostgresError?
        while true {
            switch nextResult() {
            case .result(let result):
                firstError = firstError ?? result.error
                last = consume result
            case .needsInput:
                guard wait(for: Int16(POLLIN), until: deadline) else { throw .timedOut }
                guard consumeInput() else { throw firstError ?? .connectionLost(lastMessage) }
            case .done:
                if let firstError { throw firstError }
                guard let result = last.take() else { throw .connectionLost(lastMessage) }
                return result
            }
        }
    }
}
