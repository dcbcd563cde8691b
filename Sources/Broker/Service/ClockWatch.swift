import Synchronization

/// A look at the database's clock between two looks at this machine's, all in microseconds since 1970.
struct ClockReading: Sendable, Equatable {
    let database: Int64
    let sentAt: Int64
    let receivedAt: Int64

    /// Microseconds this machine's clock is ahead of the database's, at the least; negative when it is behind. What the round trip
    /// took counts for neither.
    var ahead: Int64 {
        if sentAt > database { return sentAt - database }
        if receivedAt < database { return receivedAt - database }
        return 0
    }
}

/// Watches how far this machine's clock is from the database's, on which keys take over and limits are decided.
///
/// `iat` and `exp` of an assertion come from this machine's clock, and a provider need only take an `iat` up to ten seconds ahead of
/// its own (FAPI 2.0 §5.3.2.1).
final class ClockWatch: Sendable {
    /// From here on it is said, in the log and in the readiness.
    static let noticed: Int64 = 2_000_000
    /// Beyond this the database refuses every mint (record_batch).
    static let refused: Int64 = 30_000_000
    /// How often it is said again while it lasts.
    private static let repetition: Int64 = 60_000_000

    /// What is worth a line in the log.
    enum Remark: Sendable, Equatable {
        case off(ahead: Int64)
        case right
    }

    private struct State {
        var newest: ClockReading?
        /// On the steady clock.
        var saidAt: MonotonicTime?
    }

    private let state = Mutex(State())

    /// Takes a reading; gives what has to be said about it now.
    func observe(_ reading: ClockReading, now: MonotonicTime = .now()) -> Remark? {
        state.withLock { state in
            state.newest = reading
            let ahead = reading.ahead
            guard abs(ahead) >= Self.noticed else {
                guard state.saidAt != nil else { return nil }
                state.saidAt = nil
                return .right
            }
            if let saidAt = state.saidAt, now < saidAt.adding(microseconds: Self.repetition) {
                return nil
            }
            state.saidAt = now
            return .off(ahead: ahead)
        }
    }

    /// What a readiness probe is told; no numbers, since anybody may ask.
    var part: ReadinessReport.Part {
        let distance = state.withLock { abs($0.newest?.ahead ?? 0) }
        return ReadinessReport.Part(
            name: "clock", fault: distance > Self.refused ? "off the database's" : nil,
            notice: distance >= Self.noticed ? "off the database's, but mints pass" : nil)
    }
}
