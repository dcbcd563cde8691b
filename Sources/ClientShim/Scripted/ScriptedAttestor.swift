/// An attestor that gives evidence by a script, for tests and development builds.
public struct ScriptedAttestor: AppAttestor {
    private let script: @Sendable ([UInt8]) -> String?

    /// - Parameter script: the evidence over a challenge; `nil` for none.
    public init(_ script: @escaping @Sendable ([UInt8]) -> String?) {
        self.script = script
    }

    /// By the script.
    public func evidence(challenge: [UInt8]) async -> String? { script(challenge) }
}
