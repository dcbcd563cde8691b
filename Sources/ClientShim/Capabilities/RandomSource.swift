import JOSE

/// Where every verifier, nonce, proof id and install id comes from.
public protocol RandomSource: Sendable {
    /// `count` bytes nobody can foretell.
    func bytes(_ count: Int) throws(RandomSourceError) -> [UInt8]
}

/// The generator gave nothing.
public struct RandomSourceError: Error, Equatable {
    /// The only error there is.
    public init() {}
}

/// The system's generator.
public struct SystemRandom: RandomSource {
    /// The system's generator.
    public init() {}

    /// `count` bytes nobody can foretell.
    public func bytes(_ count: Int) throws(RandomSourceError) -> [UInt8] {
        do { return try SecureRandom.bytes(count) } catch { throw RandomSourceError() }
    }
}

extension RandomSource {
    /// `count` random bytes as base64url text.
    func text(_ count: Int) throws(RandomSourceError) -> String {
        Base64URL.encode(try bytes(count))
    }
}
