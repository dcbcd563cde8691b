import Synchronization
import TestKit

@testable import ClientShim

/// Another transport, of which chosen requests wait until they are let go, or lose their answers.
final class HeldTransport: HTTPTransport {
    private struct State {
        var isHolding: (@Sendable (HTTPRequest) -> Bool)?
        var isLosing: (@Sendable (HTTPRequest) -> Bool)?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// What waits, or has waited.
    let held = EventTrail<HTTPRequest>()
    private let inner: any HTTPTransport
    private let state = Mutex(State())

    init(_ inner: any HTTPTransport) { self.inner = inner }

    /// From now on such requests wait.
    func hold(where isHeld: @escaping @Sendable (HTTPRequest) -> Bool) {
        state.withLock { $0.isHolding = isHeld }
    }

    /// The next such request arrives, its answer does not.
    func loseAnswer(where isLost: @escaping @Sendable (HTTPRequest) -> Bool) {
        state.withLock { $0.isLosing = isLost }
    }

    /// Nothing waits any more.
    func letGo() {
        let waiting = state.withLock { state in
            state.isHolding = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func send(_ request: HTTPRequest) async -> HTTPOutcome {
        if state.withLock({ $0.isHolding?(request) == true }) {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting.append(continuation) }
                held.append(request)
            }
        }
        let isLost = state.withLock { state in
            guard state.isLosing?(request) == true else { return false }
            state.isLosing = nil
            return true
        }
        let outcome = await inner.send(request)
        return isLost ? .lost(.broken) : outcome
    }
}

extension HTTPRequest {
    /// Whether it asks for a refresh.
    var isRefresh: Bool {
        guard case .bytes(let bytes) = body else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("grant_type=refresh_token")
    }
}
