/// Mints of clients with shadow limits as a kind of batch of its own, so that all others pay nothing for them.
///
/// It has leases of its own, as another lane would.
struct ShadowedMintBatches: BatchKind {
    static let statement = LaneStatement(name: ShadowStatement.name, sql: ShadowStatement.sql)

    private var mints = MintBatches()
    /// Of the shadows.
    private var leases = LeaseBook()

    static func isWellFormed(_ record: MintRecord) -> Bool { MintBatches.isWellFormed(record) }

    static func unavailable(_ fault: StoreFault) -> MintVerdict { MintBatches.unavailable(fault) }

    mutating func batch(of records: [MintRecord], now: Int64) -> ShadowBatch {
        ShadowBatch(mints.batch(of: records, now: now), leases: &leases, now: now)
    }

    func parameters(of batch: ShadowBatch, now: Int64) -> StatementParameters {
        ShadowStatement.parameters(of: batch, now: now)
    }

    mutating func verdicts(
        _ result: borrowing QueryResult, on batch: ShadowBatch, sentAt: Int64
    ) -> [MintVerdict?]? {
        guard let verdicts = mints.verdicts(result, on: batch.mints, sentAt: sentAt) else {
            return nil
        }
        let recorded = verdicts.map { if case .recorded? = $0 { true } else { false } }
        guard let answer = ShadowStatement.answer(result, to: batch, recorded: recorded) else {
            return nil
        }
        for (quota, lease) in zip(batch.quotas, answer.leases) {
            leases.settle(
                quota, held: lease.held, leased: lease.leased, spent: lease.spent, sentAt: sentAt)
        }
        return zip(verdicts, answer.refusals).map { $0?.telling($1) }
    }

    mutating func giveUp(_ batch: ShadowBatch) {
        mints.giveUp(batch.mints)
        for quota in batch.quotas { leases.giveUp(quota) }
    }
}

extension MintVerdict {
    /// The same verdict with the shadows that would have refused.
    func telling(_ shadows: [ShadowRefusal]) -> MintVerdict {
        guard case .recorded(let remaining, let reset, _) = self else { return self }
        return .recorded(
            remaining: remaining, resetAfterMicroseconds: reset, shadows: shadows)
    }
}
