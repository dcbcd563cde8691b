/// The longest the server waits, each counted from one moment and never extended by octets that trickle in.
public struct HTTPDeadlines: Sendable {
    /// The TLS handshake, from the connection's start.
    public var handshake: Duration = .seconds(10)
    /// A request's head, from its first octet; on a new connection from its start.
    public var head: Duration = .seconds(10)
    /// A whole request, from the same moment as its head.
    public var request: Duration = .seconds(15)
    /// The handler's answer, from the request's last octet.
    public var answer: Duration = .seconds(30)
    /// The peer's taking of an answer, from when the socket would take no more.
    public var write: Duration = .seconds(20)
    /// The next request on a kept connection.
    public var idle: Duration = .seconds(60)
    /// The first request on a connection that was opened just before the server began to stop: its client may have sent one
    /// already, and cannot know that it was not run.
    public var firstWhileDraining: Duration = .seconds(1)
    /// The peer's end of the connection, after the last answer.
    public var linger: Duration = .seconds(2)

    /// The defaults.
    public init() {}

    func nanoseconds(_ phase: ConnectionTiming.Phase) -> UInt64 {
        let duration =
            switch phase {
            case .handshake: handshake
            case .headArrives: head
            case .requestArrives: request
            case .answer: answer
            case .write: write
            case .idle: idle
            case .firstWhileDraining: firstWhileDraining
            case .linger: linger
            }
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // A century is for ever, and keeps the sum with the clock far from overflow.
        return UInt64(min(seconds, 3_155_760_000)) * 1_000_000_000
            + UInt64(attoseconds / 1_000_000_000)
    }
}
