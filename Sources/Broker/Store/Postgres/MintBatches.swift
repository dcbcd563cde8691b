/// Mints as a kind of batch: limits, proofs and identifiers in one statement, with this lane's leases.
struct MintBatches: BatchKind {
    static let statement = LaneStatement(name: BatchStatement.name, sql: BatchStatement.sql)

    private var leases = LeaseBook()

    static func isWellFormed(_ record: MintRecord) -> Bool { record.isWellFormed }

    static func unavailable(_ fault: StoreFault) -> MintVerdict {
        // All else that could be there twice gives way (ON CONFLICT).
        .unavailable(fault == .refused(sqlState: "23505") ? .jtiTaken : fault)
    }

    mutating func batch(of records: [MintRecord], now: Int64) -> MintBatch {
        MintBatch(records, leases: &leases, now: now)
    }

    func parameters(of batch: MintBatch, now: Int64) -> StatementParameters {
        BatchStatement.parameters(of: batch, now: now)
    }

    mutating func verdicts(
        _ result: borrowing QueryResult, on batch: MintBatch, sentAt: Int64
    ) -> [MintVerdict?]? {
        guard let answer = BatchStatement.answer(result, to: batch) else { return nil }
        batch.settle(answer, leases: &leases, sentAt: sentAt)
        return answer.decisions.enumerated().map { batch.verdict($1, at: $0) }
    }

    mutating func giveUp(_ batch: MintBatch) {
        batch.giveUp(leases: &leases)
    }
}
