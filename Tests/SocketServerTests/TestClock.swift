@testable import SocketServer

/// A calendar clock that stands where a test puts it, in seconds since 1970 UTC.
final class TestClock: Sendable {
    private let time: Locked<Int64>

    init(_ seconds: Int64) { time = Locked(seconds) }

    /// Begins at the machine's time.
    convenience init() {
        self.init(TLSConfiguration(certificateChainFile: "", privateKeyFile: "").now())
    }

    var now: Int64 { time.withLock { $0 } }
    func advance(_ seconds: Int64) { time.withLock { $0 += seconds } }
    func set(_ seconds: Int64) { time.withLock { $0 = seconds } }
}
