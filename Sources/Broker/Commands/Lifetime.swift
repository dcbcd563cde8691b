/// A length of time as people write it on a command line: `90d`, `12h`, `30m`, `45s`.
enum Lifetime {
    /// Seconds, or `nil` for anything else; at most ten years.
    static func seconds(_ text: String) -> Int64? {
        guard let unit = text.last, let factor = factors[unit], let count = Int64(text.dropLast()),
            text.first?.isNumber == true, count > 0, count <= 315_360_000 / factor
        else { return nil }
        return count * factor
    }

    private static let factors: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
}
