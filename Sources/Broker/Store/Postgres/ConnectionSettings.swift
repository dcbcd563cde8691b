import CLibpq
import Glibc

/// A connection string taken apart, with defaults for what it leaves out.
struct ConnectionSettings {
    private var values: [(keyword: String, value: String)] = []

    /// What bounds every wait on a network that drops packets silently, and names us to operators.
    private static let defaults = [
        ("application_name", "broker"), ("connect_timeout", "5"), ("keepalives_idle", "10"),
        ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
        ("client_encoding", "UTF8"),
    ]

    /// `nil` when libpq cannot read it, or would read something else than was meant.
    init?(_ conninfo: String) {
        guard !ConnectionString.hasStrayAt(conninfo),
            let options = PQconninfoParse(conninfo, nil)
        else { return nil }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                values.append((String(cString: keyword), String(cString: value)))
            }
            option += 1
        }
        guard values.allSatisfy({ ConnectionString.isGood($0.value, for: $0.keyword) }) else {
            return nil
        }
        for (keyword, value) in Self.defaults
        where !values.contains(where: { $0.keyword == keyword }) {
            values.append((keyword, value))
        }
    }

    /// Lends the two null-terminated arrays libpq wants.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
        let keywords = values.map { strdup($0.keyword) }
        let texts = values.map { strdup($0.value) }
        defer { (keywords + texts).forEach { free($0) } }
        let keywordPointers = keywords.map { UnsafePointer($0) } + [nil]
        let textPointers = texts.map { UnsafePointer($0) } + [nil]
        return keywordPointers.withUnsafeBufferPointer { keywords in
            textPointers.withUnsafeBufferPointer { texts in
                // Neither is empty: both end in a null pointer.
                body(keywords.baseAddress.unsafelyUnwrapped, texts.baseAddress.unsafelyUnwrapped)
            }
        }
    }
}
