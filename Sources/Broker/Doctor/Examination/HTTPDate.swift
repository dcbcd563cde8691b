/// The date of an HTTP field in its preferred form, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Seconds since 1970 UTC; `nil` for any other form. The obsolete forms are not read: a wrong guess about a clock is
    /// worse than none.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].last == ",", parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = String(month + 1)
        let date = "\(parts[3])-\(number.count == 1 ? "0" : "")\(number)-\(parts[1])"
        // The strict reader refuses whatever is not two digits, or no day of the calendar.
        return Timestamp.microseconds(rfc3339: "\(date)T\(parts[4]).000000Z").map { $0 / 1_000_000 }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
