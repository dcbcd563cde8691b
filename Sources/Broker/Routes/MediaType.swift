import SocketServer

/// The one media type of request bodies.
enum MediaType {
    /// Throws `unsupportedMediaType` unless a request says that its body is JSON without a content coding.
    static func requireJSON(_ headers: HTTPHeaders) throws(BrokerError) {
        guard headers.count("content-encoding") == 0, headers.count("content-type") == 1,
            let type = headers.first("content-type"), isJSON(type)
        else { throw .unsupportedMediaType }
    }

    /// Whether a `Content-Type` is `application/json`, in any letter case, with at most a UTF-8 charset (RFC 9110 §8.3).
    static func isJSON(_ field: String) -> Bool {
        if field == "application/json" { return true }
        let parts = field.lowercased().split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingBlanks
        }
        guard parts[0] == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { ["charset=utf-8", "charset=\"utf-8\""].contains($0) }
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
