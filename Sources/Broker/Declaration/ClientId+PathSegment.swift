import AssertionMint

extension ClientId {
    /// Whether a URL can have it as one segment of its path: only then can its key set be fetched.
    ///
    /// `.` and `..` lead elsewhere, with `%2E` too (RFC 3986 §5.2.4, §6.2.2.2), so clients and proxies remove them. Between
    /// `%2F` and `%5C` they are refused by our own server, since not everybody in front of it takes those for one segment.
    var fitsPathSegment: Bool {
        !rawValue.utf8
            .split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    }
}
