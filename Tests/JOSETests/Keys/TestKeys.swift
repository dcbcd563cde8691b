import JOSE

/// Keys made once for the whole run, since an RSA key takes long to make.
enum TestKeys {
    private static let made: [JWSAlgorithm: Result<PrivateKey, KeyError>] = [
        .ES256: generate(.ES256), .PS256: generate(.PS256),
    ]

    /// The run's key for `algorithm`.
    static func key(_ algorithm: JWSAlgorithm) throws -> PrivateKey {
        guard let result = made[algorithm] else { throw KeyError.unusable }
        return try result.get()
    }

    private static func generate(_ algorithm: JWSAlgorithm) -> Result<PrivateKey, KeyError> {
        do { return .success(try PrivateKey.generate(algorithm)) } catch { return .failure(error) }
    }
}
