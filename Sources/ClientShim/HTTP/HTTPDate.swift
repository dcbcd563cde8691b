/// The date of an HTTP header in its preferred form, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Seconds since 1970 UTC; `nil` for any other form. The obsolete forms are not read: a wrong guess
    /// about a clock is worse than none.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].count == 4, parts[0].last == ",", parts[5] == "GMT",
            let day = number(parts[1], 2), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], 4)
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = number(time[0], 2), let minute = number(time[1], 2),
            let second = number(time[2], 2), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60, year >= 1970
        else { return nil }
        let days = daysSince1970(year: year, month: month + 1, day: day)
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, _ digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        return Int64(text)
    }

    /// Days in the proleptic Gregorian calendar, by counting the years from March.
    private static func daysSince1970(year: Int64, month: Int, day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
