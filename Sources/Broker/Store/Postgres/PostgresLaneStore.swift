import Dispatch

/// The store of one lane over one Postgres connection: a line of mints, one of mints with shadow limits and one of uses, which take turns.
///
/// Sendable: everything but `init` happens on `queue`, the lane's.
final class PostgresLaneStore: AssertionStore, @unchecked Sendable {
    private let queue: DispatchQueue
    private let mints: BatchLine<MintBatches>
    /// Those with shadow limits.
    private let shadowed: BatchLine<ShadowedMintBatches>
    private let uses: BatchLine<ConsumeBatches>
    private let pipeline: LanePipeline

    init(queue: DispatchQueue, configuration: Configuration) {
        self.queue = queue
        mints = BatchLine(MintBatches(), configuration: configuration)
        shadowed = BatchLine(ShadowedMintBatches(), configuration: configuration)
        uses = BatchLine(ConsumeBatches(), configuration: configuration)
        pipeline = LanePipeline(
            queue: queue, configuration: configuration, works: [mints, shadowed, uses])
    }

    func record(
        _ record: MintRecord, whileCommitting: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (MintVerdict) -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(queue))
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
        dispatchPrecondition(condition: .onQueue(queue))
        uses.add(record, then: then)
        pipeline.wake()
    }

    /// Answers everything that waits or is under way with `closed`, and gives the connection up.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.pipeline.close()
                continuation.resume()
            }
        }
    }
}
