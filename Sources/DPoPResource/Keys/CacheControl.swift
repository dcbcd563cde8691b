/// How long an answer may be kept (RFC 9111 §5.2.2).
enum CacheControl {
    /// Seconds from `max-age` less `Age`; 0 for `no-store` and `no-cache`; `nil` when the fields say nothing usable.
    static func maximumAge(_ fields: [String], age: String?) -> Int64? {
        var maximumAge: Int64?
        for directive in fields.flatMap({ $0.split(separator: ",") }) {
            let parts = directive.split(separator: "=", maxSplits: 1).map(trimmed)
            switch parts.first?.lowercased() {
            case "no-store", "no-cache": return 0
            case "max-age" where parts.count == 2:
                guard let seconds = seconds(parts[1]) else { continue }
                // The more careful of two contradicting values (RFC 9111 §4.2.1).
                maximumAge = min(seconds, maximumAge ?? .max)
            default: continue
            }
        }
        guard let maximumAge else { return nil }
        return max(0, maximumAge - (age.flatMap { seconds(trimmed($0[...])) } ?? 0))
    }

    private static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" || first == "\"" {
            text.removeFirst()
        }
        while let last = text.last, last == " " || last == "\t" || last == "\"" {
            text.removeLast()
        }
        return String(text)
    }
}
