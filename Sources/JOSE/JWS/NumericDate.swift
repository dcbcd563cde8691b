extension JSONValue {
    /// The value as a NumericDate in seconds since 1970 UTC (RFC 7519 §2): a number, fractional or not, from 0 to 2^53.
    ///
    /// `nil` for anything else, digits in quotes among them.
    public var numericDate: Double? {
        guard let seconds = number?.double, seconds >= 0, seconds <= 9_007_199_254_740_992 else {
            return nil
        }
        return seconds
    }
}
