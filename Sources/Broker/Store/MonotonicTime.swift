import Glibc

/// A moment on the machine's steady clock: never set back, without relation to the calendar.
struct MonotonicTime: Sendable, Hashable, Comparable {
    let nanoseconds: UInt64

    static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(
            nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    func adding(microseconds: Int64) -> MonotonicTime {
        let added = nanoseconds.addingReportingOverflow(UInt64(max(0, microseconds)) &* 1000)
        return MonotonicTime(nanoseconds: added.overflow ? .max : added.partialValue)
    }

    func adding(milliseconds: Int) -> MonotonicTime {
        adding(microseconds: Int64(milliseconds) * 1000)
    }

    /// Whole milliseconds from now until then, rounded up; 0 when it has passed.
    var millisecondsLeft: Int32 {
        let now = MonotonicTime.now()
        guard self > now else { return 0 }
        return Int32(clamping: (nanoseconds - now.nanoseconds + 999_999) / 1_000_000)
    }
}

/// Microseconds since 1970 UTC on this machine's clock.
func wallClockMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}
