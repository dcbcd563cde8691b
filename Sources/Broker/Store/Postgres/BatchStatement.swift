/// The one statement that decides and commits a batch: its text, its parameters, its rows.
enum BatchStatement {
    static let name = "broker_record_batch"

    static let sql = String(decoding: PackageResources.record_batch_sql, as: UTF8.self)

    /// - Parameter now: Microseconds since 1970 UTC on the broker's clock.
    static func parameters(of batch: MintBatch, now: Int64) -> StatementParameters {
        let records = batch.records
        let quotas = batch.quotas
        var bound = StatementParameters(reservingBytes: 512 + records.count * 320)
        bound.append(bigint: now)
        bound.append(integer: Int32(records.count))
        bound.append(bigints: records.lazy.map(\.revision))
        bound.append(texts: records.lazy.map(\.clientId))
        bound.append(texts: records.lazy.map(\.dpopJkt))
        bound.append(texts: records.lazy.map(\.jti))
        bound.append(bigints: records.lazy.map(\.expiresAt))
        bound.append(byteas: records.lazy.map { $0.proof?.hash })
        bound.append(bigints: records.lazy.map { $0.proof?.issuedAt ?? 0 })
        bound.append(texts: records.lazy.map(\.install.name))
        bound.append(integers: records.lazy.map { Int32(clamping: $0.install.burst) })
        bound.append(bigints: records.lazy.map(\.install.stepMicroseconds))
        bound.append(integers: batch.clientLimits)
        bound.append(integers: batch.tenantLimits)
        bound.append(texts: quotas.lazy.map(\.limit.scope.rawValue))
        bound.append(texts: quotas.lazy.map(\.limit.subject))
        bound.append(texts: quotas.lazy.map(\.limit.policy.name))
        bound.append(integers: quotas.lazy.map { Int32(clamping: $0.databaseBurst) })
        bound.append(bigints: quotas.lazy.map(\.limit.policy.stepMicroseconds))
        bound.append(bigints: quotas.lazy.map(\.held))
        bound.append(bigints: quotas.lazy.map(\.wish))
        bound.append(booleans: quotas.lazy.map(\.isShort))
        return bound
    }

    /// Reads the rows, in whatever order they come; `nil` unless there is exactly one a record.
    static func answer(_ result: borrowing QueryResult, to batch: MintBatch) -> BatchAnswer? {
        guard result.columnCount == 5 else { return nil }
        var decisions = [BatchAnswer.Decision?](repeating: nil, count: batch.records.count)
        var leases = [BatchAnswer.Lease?](repeating: nil, count: batch.quotas.count)
        for row in 0..<result.rowCount {
            guard let isLease = result.integer(UInt8.self, row: row, column: 0),
                let place = result.integer(Int32.self, row: row, column: 1),
                let verdict = result.integer(Int32.self, row: row, column: 2),
                let remaining = result.integer(Int64.self, row: row, column: 3),
                let microseconds = result.integer(Int64.self, row: row, column: 4)
            else { return nil }
            let index = Int(place) - 1
            if isLease != 0 {
                guard leases.indices.contains(index) else { return nil }
                leases[index] = BatchAnswer.Lease(held: remaining, leased: microseconds)
            } else {
                guard decisions.indices.contains(index), decisions[index] == nil,
                    let code = BatchAnswer.Code(rawValue: verdict)
                else { return nil }
                decisions[index] = BatchAnswer.Decision(
                    code: code, remaining: remaining, microseconds: microseconds)
            }
        }
        let complete = decisions.compactMap(\.self)
        guard complete.count == decisions.count else { return nil }
        return BatchAnswer(decisions: complete, leases: leases)
    }
}
