import CCurl

/// The header lines of one request as libcurl wants them.
final class HeaderLines {
    private(set) var list: UnsafeMutablePointer<curl_slist>?

    /// - Returns: `nil` when a name is no token or a value holds CR, LF or NUL (RFC 9110 §5.5).
    init?(_ exchange: Exchange) {
        // No waiting for `100 Continue`, and no content type of libcurl's own invention.
        add("Expect:")
        if !exchange.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            add("Content-Type:")
        }
        for (name, value) in exchange.headers {
            let isToken = !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte)
            let isClean = value.utf8.allSatisfy { $0 == 9 || ($0 >= 32 && $0 != 127) }
            guard isToken, isClean else { return nil }
            // libcurl's form for a field with an empty value is "name;".
            add(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
    }

    deinit { curl_slist_free_all(list) }

    private func add(_ line: String) {
        // On failure (out of memory) libcurl gives null and keeps the list as it was.
        if let longer = curl_slist_append(list, line) { list = longer }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
