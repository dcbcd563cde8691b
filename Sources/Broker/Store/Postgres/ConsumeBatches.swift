/// Uses of assertions as a kind of batch: each identifier is burnt once.
struct ConsumeBatches: BatchKind {
    static let statement = LaneStatement(
        name: "broker_consume_batch",
        sql: String(decoding: PackageResources.consume_batch_sql, as: UTF8.self))

    /// The numbers of `consume_batch.sql`.
    private enum Code: Int32 {
        case consumed = 0
        case alreadyUsed
        case stale
        case clockSkew
    }

    static func isWellFormed(_ record: ConsumeRecord) -> Bool { record.isWellFormed }

    static func unavailable(_ fault: StoreFault) -> ConsumeVerdict { .unavailable(fault) }

    func batch(of records: [ConsumeRecord], now: Int64) -> [ConsumeRecord] { records }

    func parameters(of batch: [ConsumeRecord], now: Int64) -> StatementParameters {
        var bound = StatementParameters(reservingBytes: 128 + batch.count * 64)
        bound.append(bigint: now)
        bound.append(integer: Int32(batch.count))
        bound.append(bigints: batch.lazy.map(\.revision))
        bound.append(byteas: batch.lazy.map { Optional($0.hash) })
        bound.append(bigints: batch.lazy.map(\.expiresAt))
        return bound
    }

    /// Reads the rows, in whatever order they come; `nil` unless there is exactly one a record.
    func verdicts(
        _ result: borrowing QueryResult, on batch: [ConsumeRecord], sentAt: Int64
    ) -> [ConsumeVerdict?]? {
        guard result.columnCount == 2, result.rowCount == batch.count else { return nil }
        var verdicts = [ConsumeVerdict?](repeating: nil, count: batch.count)
        for row in 0..<result.rowCount {
            guard let place = result.integer(Int32.self, row: row, column: 0),
                verdicts.indices.contains(Int(place) - 1), verdicts[Int(place) - 1] == nil,
                let code = result.integer(Int32.self, row: row, column: 1).flatMap(
                    Code.init(rawValue:))
            else { return nil }
            verdicts[Int(place) - 1] =
                switch code {
                case .consumed: .consumed
                case .alreadyUsed: .alreadyUsed
                case .stale: .stale
                case .clockSkew: .unavailable(.clockSkew)
                }
        }
        return verdicts
    }

    func giveUp(_ batch: [ConsumeRecord]) {}
}
