internal import Glibc

/// The times one lane works with: a monotonic one for deadlines, the calendar's for `Date`.
struct LaneClock {
    /// The shortest time between two looks at the deadlines.
    static let timerGrain: UInt64 = 20_000_000

    /// Nanoseconds of `CLOCK_MONOTONIC`, which is also what `DispatchTime` counts on Linux.
    private(set) var now: UInt64 = 0
    private var second = -1
    private var cachedDateField: [UInt8] = []

    init() { read() }

    mutating func read() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        now = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// `Date: …` and its CR LF, made anew once a second.
    var dateField: [UInt8] {
        mutating get {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME_COARSE, &time)
            if time.tv_sec != second {
                second = time.tv_sec
                let text = IMFFixdate.text(secondsSince1970: max(second, 0))
                cachedDateField = Array("Date: \(text)\r\n".utf8)
            }
            return cachedDateField
        }
    }
}
