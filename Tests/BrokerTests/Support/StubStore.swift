import SocketServer
import Synchronization

@testable import Broker

/// A store that says what a test tells it to, in the order the promises of `AssertionStore` allow.
final class StubStore: AssertionStore {
    struct Answer: Sendable {
        let verdict: MintVerdict
        var signs = true
    }

    private let lane: Lane
    private let answers: @Sendable (MintRecord) -> Answer
    private let uses: @Sendable (ConsumeRecord) -> ConsumeVerdict

    init(
        _ lane: Lane,
        uses: @escaping @Sendable (ConsumeRecord) -> ConsumeVerdict = { _ in .alreadyUsed },
        _ answers: @escaping @Sendable (MintRecord) -> Answer
    ) {
        self.lane = lane
        self.uses = uses
        self.answers = answers
    }

    func record(
        _ record: MintRecord, whileCommitting: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (MintVerdict) -> Void
    ) {
        let answer = answers(record)
        lane.async {
            if answer.signs { whileCommitting() }
            then(answer.verdict)
        }
    }

    func consume(
        _ record: ConsumeRecord, then: @escaping @Sendable (ConsumeVerdict) -> Void
    ) {
        let verdict = uses(record)
        lane.async { then(verdict) }
    }
}
