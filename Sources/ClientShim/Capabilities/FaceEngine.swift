public import JOSE

/// Liveness, match and the sealed face token. An engine gets no network and no key labels (R-100-12).
public protocol FaceEngine: Sendable {
    /// Name in the match statement.
    var name: String { get }

    /// Opens a sealed face token.
    func open(_ token: SealedFaceToken) async throws(FaceEngineError) -> OpenedFaceToken

    /// Whether the frame shows a living face.
    func isLive(_ frame: FaceFrame) async throws(FaceEngineError) -> Bool

    /// Whether the frame shows the token's face. Called only for a frame that passed liveness (R-100-60).
    func matches(_ frame: FaceFrame, _ token: OpenedFaceToken) async throws(FaceEngineError) -> Bool

    /// A new sealed token for the same face; the old one stays good until the new one is accepted.
    func rotate(_ token: OpenedFaceToken) async throws(FaceEngineError) -> SealedFaceToken

    /// Whether this engine can do such operations on this device, as the algorithms at hand allow. Where it cannot, the flow ends
    /// in `pkiNotAvailable` before the scan (R-000-62, R-000-63).
    func canRunPki(_ kind: PkiCeremonyKind) -> Bool

    /// Runs a key operation with the keys inside the token (R-000-60 to 67).
    func runPki(
        _ request: SignInPkiRequest, scope: PkiScope, _ token: OpenedFaceToken
    ) async throws(FaceEngineError) -> SignInPkiResult
}

extension FaceEngine {
    /// What an engine can do it can do everywhere, unless it says otherwise.
    public func canRunPki(_ kind: PkiCeremonyKind) -> Bool { true }

    /// An engine without face keys.
    public func runPki(
        _ request: SignInPkiRequest, scope: PkiScope, _ token: OpenedFaceToken
    ) async throws(FaceEngineError) -> SignInPkiResult {
        throw .pkiKeysMissing
    }
}

/// A face token as the portal stores it, unreadable to anyone but the engine.
public typealias SealedFaceToken = Secret<String>

/// A face token the engine has opened. `handle` means something to that engine only.
public struct OpenedFaceToken: Sendable, Equatable {
    /// Whatever the engine needs to find the token again.
    public let handle: Secret<[UInt8]>

    /// For the engine.
    public init(handle: Secret<[UInt8]>) {
        self.handle = handle
    }
}

/// What an engine can fail with.
public enum FaceEngineError: Error, Equatable {
    /// The token is not one this engine can open.
    case unreadableToken
    /// The face keys are missing from the token.
    case pkiKeysMissing
    /// Anything else; text for developers.
    case failed(details: String)
}
