#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The one place that asks the operating system for the time of day.
enum PosixTime {
    static func secondsSince1970() -> Int64 { Int64(time(nil)) }
}
