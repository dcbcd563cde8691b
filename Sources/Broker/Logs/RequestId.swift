import JOSE

/// Ties an answer, a log line and the caller's own trace together.
enum RequestId {
    /// The trace id of a valid W3C `traceparent` field, otherwise 128 new random bits, as 32 hex digits.
    static func choose(traceparent: String?) -> String {
        if let traceparent, let id = traceId(of: traceparent) { return id }
        // A request id is no secret: without randomness it is merely less useful.
        let bytes = (try? SecureRandom.bytes(16)) ?? [UInt8](repeating: 0, count: 16)
        return hex(bytes)
    }

    /// Trace Context §3.2: `version-traceid-parentid-flags`, lower-case hex, neither id all zeros.
    static func traceId(of traceparent: String) -> String? {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff",
            parts[1].utf8.count == 32,
            parts[2].utf8.count == 16, parts[3].utf8.count == 2,
            parts.prefix(4).allSatisfy(isLowerHex),
            parts[0] != "00" || parts.count == 4, parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return String(parts[1])
    }

    private static func isLowerHex(_ text: Substring) -> Bool {
        text.utf8.allSatisfy(digits.contains)
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xf)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
