internal import COpenSSL

/// A secret shared with one other party, such as an organisation's API client secret: it makes HS256 codes (RFC 7518 §3.2),
/// and does nothing else.
///
/// A kind of its own. It is no `PrivateKey` and has neither a `PublicJWK` nor a `JWSAlgorithm`, so nothing that signs
/// assertions, publishes keys or checks signatures can be given one; and no key can be turned into one.
///
/// Sendable: nothing changes the octets between `init` and `deinit`.
public final class SharedSecret: @unchecked Sendable {
    /// The `alg` of what it makes.
    public static let algorithm = "HS256"

    private let octets: UnsafeMutableBufferPointer<UInt8>

    /// Keeps a copy of `octets`, out of reach of Swift's own copies, until this object goes.
    init(copying octets: [UInt8]) {
        self.octets = .allocate(capacity: octets.count)
        _ = self.octets.initialize(from: octets)
    }

    deinit {
        OPENSSL_cleanse(octets.baseAddress, octets.count)
        octets.deallocate()
    }

    /// HMAC-SHA-256 over `input`, 32 octets.
    public func code(over input: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.length)
        var written: UInt32 = 0
        let done = HMAC(
            Algorithms.sha256, octets.baseAddress, Int32(octets.count), input, input.count, &code,
            &written)
        guard done != nil, written == SHA256.length else { throw OpenSSLError.drain() }
        return code
    }
}

extension SharedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<secret>`.
    public var description: String { "<secret>" }
    /// Always `<secret>`.
    public var debugDescription: String { "<secret>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
