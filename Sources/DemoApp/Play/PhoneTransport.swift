import ClientShim
import Synchronization

/// The phone's radio, as it outlives the app's processes: what becomes of messages, and what was seen of them.
final class PhoneNetwork: Sendable {
    private struct State {
        var conditions = NetworkConditions()
        var history = AttemptHistory()
    }

    private let state = Mutex(State())

    func change(_ body: (inout NetworkConditions) -> Void) {
        state.withLock { body(&$0.conditions) }
    }

    var text: String { state.withLock { $0.conditions.text } }

    func startOver() { state.withLock { $0.history.startOver() } }

    fileprivate func begin(
        _ request: HTTPRequest, to peer: Peer
    ) -> (HTTPAttempt, NetworkConditions.Fate, delay: Int) {
        state.withLock { state in
            (
                state.history.begin(request), state.conditions.fate(ofMessageTo: peer),
                state.conditions.delayMilliseconds
            )
        }
    }

    fileprivate func end(_ attempt: HTTPAttempt) {
        state.withLock { $0.history.end(attempt) }
    }
}

/// Sends through the phone's network and shows each message. A wrapper as any app could write one.
struct PhoneTransport: HTTPTransport {
    let wrapped: any HTTPTransport
    let network: PhoneNetwork
    let life: Lifeline
    let board: Board
    let clock: any AuthnClock
    /// Messages to it are the broker's, all others the provider's.
    let brokerURL: String

    func send(_ request: HTTPRequest) async -> HTTPOutcome {
        guard life.isAlive else { return .unsent(.cancelled) }
        let peer = request.url.hasPrefix(brokerURL + "/") ? Peer.broker : .provider
        let startedAt = clock.monotonicMilliseconds()
        var (attempt, fate, delay) = network.begin(request, to: peer)
        if delay > 0 {
            board.post(.said("a message to the \(peer.rawValue) waits \(delay) ms: slow network"))
            try? await clock.sleep(milliseconds: Int64(delay))
            guard life.isAlive else { return .unsent(.cancelled) }
        }
        let outcome: HTTPOutcome
        switch fate {
        case .cut:
            outcome = .unsent(.unreachable)
            attempt.result = .cut
        case .requestLost:
            outcome = .lost(.timedOut)
            attempt.result = .requestLost
        case .passes, .answerLost:
            let real = await wrapped.send(request)
            attempt.result = Self.result(of: real, isLost: fate == .answerLost)
            outcome = fate == .answerLost ? .lost(.broken) : real
        }
        attempt.milliseconds = clock.monotonicMilliseconds() - startedAt
        guard life.isAlive else { return .lost(.cancelled) }
        network.end(attempt)
        board.post(.attempt(attempt))
        return outcome
    }

    private static func result(of outcome: HTTPOutcome, isLost: Bool) -> HTTPAttempt.Result {
        switch outcome {
        case .answer(let answer) where isLost: .answerLost(answer.status)
        case .answer(let answer): .answered(answer.status, code: Redaction.code(answer))
        case .lost(let reason), .unsent(let reason): .noAnswer("\(reason)")
        }
    }
}
