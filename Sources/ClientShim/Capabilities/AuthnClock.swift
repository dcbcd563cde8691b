/// Time as the flows see it.
public protocol AuthnClock: Sendable {
    /// Whole seconds since 1970 UTC, by this device's clock.
    func now() -> Int64

    /// Milliseconds from some fixed moment, never going back; runs on while the device sleeps.
    func monotonicMilliseconds() -> Int64

    /// Returns after that time, or throws when the task is cancelled before.
    func sleep(milliseconds: Int64) async throws(CancellationError)
}

/// The device's own clocks.
public struct SystemClock: AuthnClock {
    private static let origin = ContinuousClock.now

    /// The device's own clocks.
    public init() {}

    /// Whole seconds since 1970 UTC.
    public func now() -> Int64 { PosixTime.secondsSince1970() }

    /// Milliseconds since this process first asked.
    public func monotonicMilliseconds() -> Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - Self.origin).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// Sleeps on the continuous clock, which runs on while the device sleeps.
    public func sleep(milliseconds: Int64) async throws(CancellationError) {
        do {
            try await Task.sleep(for: .milliseconds(milliseconds), clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }
}
