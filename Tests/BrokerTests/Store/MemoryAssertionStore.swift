import Dispatch
import SocketServer

@testable import Broker

/// The store's twin in memory, one a lane over one `MemoryDatabase`: for tests that need no Postgres.
/// Sendable: `leases` is only touched on the lane's queue.
final class MemoryAssertionStore: AssertionStore, @unchecked Sendable {
    private let lane: Lane
    private let database: MemoryDatabase
    private var leases = LeaseBook()

    init(lane: Lane, database: MemoryDatabase) {
        self.lane = lane
        self.database = database
    }

    func record(
        _ record: MintRecord, whileCommitting: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (MintVerdict) -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(lane.queue))
        guard record.isWellFormed else { return then(.unavailable(.malformedRecord)) }
        // As with Postgres, the answer comes in a later turn of the lane.
        lane.async {
            if let fault = self.database.fault { return then(.unavailable(fault)) }
            whileCommitting()
            then(self.decide(record))
        }
    }

    func consume(
        _ record: ConsumeRecord, then: @escaping @Sendable (ConsumeVerdict) -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(lane.queue))
        guard record.isWellFormed else { return then(.unavailable(.malformedRecord)) }
        lane.async {
            if let fault = self.database.fault { return then(.unavailable(fault)) }
            then(self.database.consume(record, brokerNow: wallClockMicroseconds()))
        }
    }

    private func decide(_ record: MintRecord) -> MintVerdict {
        while true {
            let now = Int64(MonotonicTime.now().nanoseconds / 1000)
            let batch = MintBatch([record], leases: &leases, now: now)
            guard let answer = database.decide(batch, brokerNow: wallClockMicroseconds()) else {
                batch.giveUp(leases: &leases)
                return .unavailable(.jtiTaken)
            }
            batch.settle(answer, leases: &leases, sentAt: now)
            guard let verdict = batch.verdict(answer.decisions[0], at: 0) else { continue }
            guard case .recorded = verdict, !record.shadows.isEmpty else { return verdict }
            return verdict.telling(database.shadows(of: record))
        }
    }
}
