internal import Glibc

/// The machine's calendar.
enum CalendarTime {
    /// Seconds since 1970 UTC.
    @Sendable static func now() -> Int64 { Int64(time(nil)) }
}
