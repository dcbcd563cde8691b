import Synchronization

/// A clock that only a test moves. Seconds since 1970 UTC.
final class ManualClock: Sendable {
    private let seconds = Mutex<Int64>(1_800_000_000)

    var now: Int64 { seconds.withLock { $0 } }

    func advance(_ by: Int64) { seconds.withLock { $0 += by } }
}
