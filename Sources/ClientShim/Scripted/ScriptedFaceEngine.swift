public import JOSE
import Synchronization

/// A face engine that follows a script, for tests and the demo. Its tokens are opaque texts that begin
/// with `scripted-face:`; a rotation gives the same face another text.
public final class ScriptedFaceEngine: FaceEngine {
    /// What the engine says of one frame.
    public enum Verdict: Sendable, Equatable {
        /// Not a living face.
        case notLive
        /// A living face, another person's.
        case mismatch
        /// The token's face.
        case match
    }

    static let prefix = "scripted-face:"

    private struct State {
        var verdicts: [Verdict]
        var matcherCalls = 0
    }

    private let state: Mutex<State>
    private let random: any RandomSource

    /// - Parameter verdicts: one for each frame, in order; when they are used up every frame matches.
    public init(verdicts: [Verdict] = [], random: any RandomSource = SystemRandom()) {
        state = Mutex(State(verdicts: verdicts))
        self.random = random
    }

    /// Name in the match statement.
    public var name: String { "scripted" }

    /// How often a frame reached the matcher.
    public var matcherCalls: Int { state.withLock { $0.matcherCalls } }

    /// A sealed token of a new face.
    public static func newToken(
        random: any RandomSource = SystemRandom()
    ) throws(FaceEngineError) -> SealedFaceToken {
        do {
            return SealedFaceToken(prefix + (try random.text(16)) + ".0")
        } catch {
            throw .failed(details: "no randomness")
        }
    }

    /// Opens a token with the known prefix.
    public func open(_ token: SealedFaceToken) async throws(FaceEngineError) -> OpenedFaceToken {
        guard token.expose().hasPrefix(Self.prefix) else { throw .unreadableToken }
        return OpenedFaceToken(handle: Secret(Array(token.expose().utf8)))
    }

    /// By the script.
    public func isLive(_ frame: FaceFrame) async throws(FaceEngineError) -> Bool {
        state.withLock { state in
            guard state.verdicts.first == .notLive else { return true }
            state.verdicts.removeFirst()
            return false
        }
    }

    /// By the script.
    public func matches(
        _ frame: FaceFrame, _ token: OpenedFaceToken
    ) async throws(FaceEngineError) -> Bool {
        state.withLock { state in
            state.matcherCalls += 1
            guard !state.verdicts.isEmpty else { return true }
            return state.verdicts.removeFirst() == .match
        }
    }

    /// Another text for the same face.
    public func rotate(_ token: OpenedFaceToken) async throws(FaceEngineError) -> SealedFaceToken {
        let text = String(decoding: token.handle.expose(), as: UTF8.self)
        let face = text.prefix { $0 != "." }
        do {
            return SealedFaceToken(face + "." + (try random.text(8)))
        } catch {
            throw .failed(details: "no randomness")
        }
    }
}
