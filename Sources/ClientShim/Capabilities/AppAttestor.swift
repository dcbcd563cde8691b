/// Platform evidence that a genuine build of the app runs (R-000-08).
public protocol AppAttestor: Sendable {
    /// Evidence over `challenge`, as the text the provider expects; `nil` when the platform has none.
    func evidence(challenge: [UInt8]) async -> String?
}

/// For platforms without attestation.
public struct NoAppAttestor: AppAttestor {
    /// Evidence of nothing.
    public init() {}
    /// Always `nil`.
    public func evidence(challenge: [UInt8]) async -> String? { nil }
}
