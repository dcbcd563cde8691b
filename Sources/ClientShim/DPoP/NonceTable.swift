import Synchronization

/// The newest DPoP nonce of each origin (R-100-32). Bounded: the origin unused longest leaves first.
/// Nothing is kept over a restart.
final class NonceTable: Sendable {
    static let maximumOrigins = 64

    private let entries = Mutex<[(origin: String, nonce: String)]>([])

    /// The newest nonce of that origin.
    func nonce(for origin: String) -> String? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.origin == origin }) else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.nonce
        }
    }

    /// Records what an answer carries, whatever its status.
    func record(_ answer: HTTPAnswer, from origin: String) {
        if let nonce = Self.nonce(in: answer) { record(nonce, for: origin) }
    }

    /// Records a nonce, unless it is not one.
    func record(_ nonce: String, for origin: String) {
        guard Self.isNonce(nonce) else { return }
        entries.withLock { entries in
            entries.removeAll { $0.origin == origin }
            if entries.count >= Self.maximumOrigins { entries.removeFirst() }
            entries.append((origin, nonce))
        }
    }

    /// The nonce an answer carries: exactly one `DPoP-Nonce` of the allowed characters (RFC 9449 §8.1).
    static func nonce(in answer: HTTPAnswer) -> String? {
        answer.single("DPoP-Nonce").flatMap { isNonce($0) ? $0 : nil }
    }

    private static func isNonce(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 1024
            && text.utf8.allSatisfy {
                $0 == 0x21 || (0x23...0x5b).contains($0) || (0x5d...0x7e).contains($0)
            }
    }
}
