import Synchronization

/// A network that answers from a function, for tests. Keeps every request.
public final class ScriptedTransport: HTTPTransport {
    private let requestLog = Mutex<[HTTPRequest]>([])
    private let respond: @Sendable (HTTPRequest) async -> HTTPOutcome

    /// - Parameter respond: gives the outcome of each request.
    public init(_ respond: @escaping @Sendable (HTTPRequest) async -> HTTPOutcome) {
        self.respond = respond
    }

    /// Every request so far, in order.
    public var requests: [HTTPRequest] { requestLog.withLock { $0 } }

    /// Answers by the script.
    public func send(_ request: HTTPRequest) async -> HTTPOutcome {
        requestLog.withLock { $0.append(request) }
        return await respond(request)
    }
}
