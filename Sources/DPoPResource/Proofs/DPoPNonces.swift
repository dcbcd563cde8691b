import JOSE
import Synchronization

/// Server nonces without a memory of each: an HMAC over the time slot; the current and the previous slot's are good
/// (RFC 9449 §8, §11.3). All nodes of an API that share the secrets take one another's nonces.
public final class DPoPNonces: Sendable {
    private let purpose: String
    private let slotSeconds: Int64
    /// Oldest first, never empty.
    private let secrets: Mutex<[NonceSecret]>

    /// - Parameters:
    ///   - purpose: keeps the nonces of two servers with one secret apart.
    ///   - slotSeconds: a nonce is good for this long at least and twice this long at most; 1 or more.
    public init(_ secret: NonceSecret, purpose: String, slotSeconds: Int64 = 120) {
        self.purpose = purpose
        self.slotSeconds = max(1, slotSeconds)
        secrets = Mutex([secret])
    }

    /// Adds a secret. It checks nonces at once and makes them from its own moment on, so that every node knows it before any
    /// uses it (docs/adr/0008); the ones before it check for three slots more and are then forgotten.
    ///
    /// - Parameter now: seconds since 1970 UTC.
    public func rotate(to secret: NonceSecret, now: Int64) {
        secrets.withLock { secrets in
            secrets.append(secret)
            secrets.sort { $0.since < $1.since }
            secrets = Self.checking(secrets, slotSeconds, now)
        }
    }

    /// The newest nonce.
    ///
    /// - Parameter now: seconds since 1970 UTC.
    public func current(_ now: Int64) -> String {
        let maker = secrets.withLock { secrets in
            secrets.last { $0.since <= now } ?? secrets[0]
        }
        return nonce(now / slotSeconds, maker)
    }

    /// Whether a client may still use `nonce`.
    ///
    /// - Parameter now: seconds since 1970 UTC.
    public func accepts(_ nonce: String, _ now: Int64) -> Bool {
        let known = Self.checking(secrets.withLock { $0 }, slotSeconds, now)
        let slot = now / slotSeconds
        return known.contains { secret in
            [slot, slot - 1].contains {
                constantTimeEquals(Array(nonce.utf8), Array(self.nonce($0, secret).utf8))
            }
        }
    }

    /// All but those whose successor has been making nonces for three slots.
    private static func checking(
        _ secrets: [NonceSecret], _ slotSeconds: Int64, _ now: Int64
    ) -> [NonceSecret] {
        let first = secrets.lastIndex { $0.since + 3 * slotSeconds <= now } ?? 0
        return Array(secrets[first...])
    }

    private func nonce(_ slot: Int64, _ secret: NonceSecret) -> String {
        let code = SHA256.authenticationCode(
            of: Array("\(purpose) \(slot)".utf8), key: secret.octets.expose())
        return Base64URL.encode(code.prefix(18))
    }
}

/// What nonces are made with.
public struct NonceSecret: Sendable {
    let octets: Secret<[UInt8]>
    let since: Int64

    /// - Parameters:
    ///   - octets: from the system's generator, 32 of them or more; `nil` for fewer.
    ///   - since: the moment from which it makes nonces, seconds since 1970 UTC; far enough ahead that every node has it by
    ///     then. The first secret makes them at once, whatever its moment.
    public init?(_ octets: [UInt8], since: Int64 = 0) {
        guard octets.count >= 32 else { return nil }
        self.octets = Secret(octets)
        self.since = since
    }
}
