import JOSE
import Synchronization

/// The nonces that one secret makes, one a time slot. Every call asks for one or two, so those of the slots around now are kept.
final class SlotNonces: Sendable {
    private static let kept = 4

    private let secret: [UInt8]
    private let recent = Mutex<[(slot: Int64, nonce: String)]>([])

    init(secret: [UInt8]) { self.secret = secret }

    /// 24 base64url characters.
    subscript(slot: Int64) -> String {
        recent.withLock { recent in
            if let known = recent.first(where: { $0.slot == slot }) { return known.nonce }
            let code = SHA256.authenticationCode(of: Array("dpop-nonce \(slot)".utf8), key: secret)
            let nonce = Base64URL.encode(code.prefix(18))
            if recent.count == Self.kept { recent.removeFirst() }
            recent.append((slot, nonce))
            return nonce
        }
    }
}
