import Glibc

/// The time of day as a value, so that tests can set it.
struct WallClock: Sendable {
    /// Microseconds since 1970 UTC.
    let microseconds: @Sendable () -> Int64

    /// Seconds since 1970 UTC, rounded down: an `iat` must never lie in the future.
    var seconds: Int64 { microseconds() / 1_000_000 }

    /// The system's clock.
    static let system = WallClock {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }
}
