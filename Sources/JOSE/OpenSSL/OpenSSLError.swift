internal import COpenSSL

/// What OpenSSL said about a failed call, for a log; never shown to a caller of the service.
public struct OpenSSLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL's reason texts, oldest first; empty when it gave none.
    public let reasons: [String]

    /// Takes everything out of this thread's error queue, so that the next call reports its own fault only.
    static func drain() -> OpenSSLError {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if let text = ERR_reason_error_string(code) { reasons.append(String(cString: text)) }
        }
        return OpenSSLError(reasons: reasons)
    }

    /// The reasons in one line.
    public var description: String {
        reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
    }
}
