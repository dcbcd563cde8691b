import Dispatch
import SocketServer

/// The store of one lane over one Postgres connection: a line of mints, one of mints with shadow limits and one of uses, which take turns.
///
/// Sendable: everything but `init` happens on the lane's queue.
final class PostgresLaneStore: AssertionStore, @unchecked Sendable {
    private let lane: Lane
    private let mints: BatchLine<MintBatches>
    /// Those with shadow limits.
    private let shadowed: BatchLine<ShadowedMintBatches>
    private let uses: BatchLine<ConsumeBatches>
    private let pipeline: LanePipeline

    init(lane: Lane, configuration: Configuration) {
        self.lane = lane
        mints = BatchLine(MintBatches(), configuration: configuration)
        shadowed = BatchLine(ShadowedMintBatches(), configuration: configuration)
        uses = BatchLine(ConsumeBatches(), configuration: configuration)
        pipeline = LanePipeline(
            lane: lane, configuration: configuration, works: [mints, shadowed, uses])
    }

    func record(
        _ record: MintRecord, whileCommitting: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (MintVerdict) -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(lane.queue))
        if record.shadows.isEmpty {
            mints.add(record, whileCommitting: whileCommitting, then: then)
        } else {
            shadowed.add(record, whileCommitting: whileCommitting, then: then)
        }
        pipeline.wake()
    }

    func consume(
        _ record: ConsumeRecord, then: @escaping @Sendable (ConsumeVerdict) -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(lane.queue))
        uses.add(record, then: then)
        pipeline.wake()
    }

    /// Answers everything that waits or is under way with `closed`, and gives the connection up.
    func close() async {
        await withCheckedContinuation { continuation in
            lane.async {
                self.pipeline.close()
                continuation.resume()
            }
        }
    }
}
