/// Turns microseconds since 1970 UTC into RFC 3339 text, without Foundation: it runs for every event.
enum Timestamp {
    /// For example `2026-02-28T23:59:59.000123Z`. Exact for every year from 1 to 9999.
    static func rfc3339(microseconds: Int64) -> String {
        let (days, microsecondOfDay) = microseconds.quotientAndRemainderFlooring(by: 86_400_000_000)
        let (year, month, day) = civilDate(daysSince1970: days)
        let second = microsecondOfDay / 1_000_000
        return String(unsafeUninitializedCapacity: 27) { text in
            var place = 0
            func write(_ number: Int64, _ width: Int, _ end: Unicode.Scalar) {
                var rest = number
                for digit in (place..<place + width).reversed() {
                    text[digit] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[place + width] = UInt8(ascii: end)
                place += width + 1
            }
            write(year, 4, "-")
            write(month, 2, "-")
            write(day, 2, "T")
            write(second / 3600, 2, ":")
            write(second / 60 % 60, 2, ":")
            write(second % 60, 2, ".")
            write(microsecondOfDay % 1_000_000, 6, "Z")
            return place
        }
    }

    /// Reads what `rfc3339` writes, and no other spelling of a moment; `nil` for anything else.
    static func microseconds(rfc3339 text: String) -> Int64? {
        let digits = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00.000000Z".utf8)
        guard digits.count == form.count else { return nil }
        for (octet, expected) in zip(digits, form) {
            let isGood =
                expected == UInt8(ascii: "0")
                ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) : octet == expected
            guard isGood else { return nil }
        }
        func number(_ places: Range<Int>) -> Int64 {
            digits[places].reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        let days = daysSince1970(number(0..<4), number(5..<7), number(8..<10))
        let seconds = (number(11..<13) * 60 + number(14..<16)) * 60 + number(17..<19)
        let moment = (days * 86_400 + seconds) * 1_000_000 + number(20..<26)
        // The 31st of April or the 25th hour would come back as another text.
        return rfc3339(microseconds: moment) == text ? moment : nil
    }

    /// The inverse of `civilDate`.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = yearFromMarch.quotientAndRemainderFlooring(by: 400)
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The proleptic Gregorian date, computed in eras of 400 years that begin on 1 March.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndRemainderFlooring(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension Int64 {
    fileprivate func quotientAndRemainderFlooring(by divisor: Int64) -> (
        quotient: Int64, remainder: Int64
    ) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
