import Dispatch
import SocketServer
import Synchronization
import TestKit

@testable import Broker

/// A lane with a store, to be called from tests.
struct TestLane: Sendable {
    let lane = Lane(index: 0)
    var queue: DispatchQueue { lane.queue }
    let store: any AssertionStore

    init(_ makeStore: (Lane) -> any AssertionStore) {
        store = makeStore(lane)
    }

    init(
        postgres url: String,
        _ change: (inout PostgresLaneStore.Configuration) -> Void = { _ in }
    ) {
        var configuration = PostgresLaneStore.Configuration(conninfo: url)
        change(&configuration)
        self.init { PostgresLaneStore(lane: $0, configuration: configuration) }
    }

    /// One record's verdict. Checks the promises about the callbacks on the way.
    func record(_ record: MintRecord) async -> MintVerdict {
        await self.record([record])[0]
    }

    /// The verdicts on records given to the store in one turn of the lane, and so in one batch when the store is
    /// connected and idle.
    func record(_ records: [MintRecord]) async -> [MintVerdict] {
        await withCheckedContinuation { continuation in
            let collected = Collected(count: records.count) { continuation.resume(returning: $0) }
            lane.async {
                for (index, record) in records.enumerated() {
                    store.record(record) {
                        collected.signed(index)
                    } then: {
                        dispatchPrecondition(condition: .onQueue(queue))
                        collected.answered(index, $0)
                    }
                }
            }
        }
    }

    /// One use's verdict.
    func consume(_ record: ConsumeRecord) async -> ConsumeVerdict {
        await consume([record])[0]
    }

    /// The verdicts on uses given to the store in one turn of the lane.
    func consume(_ records: [ConsumeRecord]) async -> [ConsumeVerdict] {
        await withCheckedContinuation { continuation in
            let collected = Mutex(
                (verdicts: [ConsumeVerdict?](repeating: nil, count: records.count), count: 0))
            lane.async {
                for (index, record) in records.enumerated() {
                    store.consume(record) { verdict in
                        dispatchPrecondition(condition: .onQueue(queue))
                        let complete = collected.withLock { state -> [ConsumeVerdict]? in
                            precondition(state.verdicts[index] == nil, "then ran twice")
                            state.verdicts[index] = verdict
                            state.count += 1
                            return state.count == records.count
                                ? state.verdicts.compactMap(\.self) : nil
                        }
                        if let complete { continuation.resume(returning: complete) }
                    }
                }
            }
        }
    }

    func close() async {
        if let store = store as? PostgresLaneStore { await store.close() }
    }
}

/// Gathers verdicts until all are there.
private final class Collected: Sendable {
    private struct State {
        var verdicts: [MintVerdict?]
        var signed: [Bool]
        var missing: Int
    }

    private let state: Mutex<State>
    private let done: @Sendable ([MintVerdict]) -> Void

    init(count: Int, done: @escaping @Sendable ([MintVerdict]) -> Void) {
        state = Mutex(
            State(
                verdicts: Array(repeating: nil, count: count),
                signed: Array(repeating: false, count: count), missing: count))
        self.done = done
    }

    func signed(_ index: Int) {
        state.withLock {
            precondition(!$0.signed[index], "whileCommitting ran twice")
            $0.signed[index] = true
        }
    }

    func answered(_ index: Int, _ verdict: MintVerdict) {
        let complete = state.withLock { state -> [MintVerdict]? in
            precondition(state.verdicts[index] == nil, "then ran twice")
            if case .recorded = verdict {
                precondition(state.signed[index], "recorded without whileCommitting")
            }
            state.verdicts[index] = verdict
            state.missing -= 1
            return state.missing == 0 ? state.verdicts.compactMap(\.self) : nil
        }
        if let complete { done(complete) }
    }
}

extension MintVerdict {
    var isRecorded: Bool { if case .recorded = self { true } else { false } }
    var isLimited: Bool { if case .limited = self { true } else { false } }
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }

    func isLimited(by policy: RatePolicy) -> Bool {
        if case .limited(policy, _) = self { true } else { false }
    }
}
