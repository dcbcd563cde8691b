/// The wait a busy peer asks for (R-100-27).
enum RetryAfter {
    static let maximumSeconds = 3600

    /// Whole seconds, 0 to 3600, from either form of the header (RFC 9110 §10.2.3); `nil` when it is
    /// absent, doubled or unreadable.
    /// - Parameter now: seconds since 1970 UTC, by the device.
    static func seconds(in answer: HTTPAnswer, now: Int64) -> Int? {
        guard let text = answer.single("Retry-After") else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
            // More digits than fit mean "very long".
            return min(Int(text) ?? maximumSeconds, maximumSeconds)
        }
        guard let date = HTTPDate.seconds(text) else { return nil }
        // The date is on the peer's clock, so it is compared with the peer's own date when it gave one.
        let reference = answer.single("Date").flatMap(HTTPDate.seconds) ?? now
        return Int(min(max(date - reference, 0), Int64(maximumSeconds)))
    }
}
