import JOSE

/// Ties an answer, a log line and the caller's own trace together.
enum RequestId {
    /// The trace id of a valid W3C `traceparent` field, otherwise 128 new random bits, as 32 hex digits.
    static func choose(traceparent: String?) -> String {
        if let traceparent, let id = traceId(of: traceparent) { return id }
        // A request id is no secret: without randomness it is merely less useful.
        let bytes = (try? SecureRandom.identifier()) ?? [UInt8](repeating: 0, count: 16)
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
        text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (place, byte) in bytes.enumerated() {
                text[2 * place] = digit(byte >> 4)
                text[2 * place + 1] = digit(byte & 0xf)
            }
            return bytes.count * 2
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
