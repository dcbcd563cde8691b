public import JOSE
import Synchronization

/// A face engine that follows a script, for tests and the demo. Its tokens are texts that begin with `scripted-face:`; a
/// rotation gives the same face another text.
///
/// Nothing seals these tokens: whoever holds one with face keys holds the keys. A real engine never gives such a token out.
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
    /// The face keys it makes and uses.
    let faceKeys: FaceKeyClass?

    /// - Parameters:
    ///   - verdicts: one for each frame, in order; when they are used up every frame matches.
    ///   - faceKeys: the class of face keys it puts into the tokens it rotates; `nil` for an engine without face keys.
    public init(
        verdicts: [Verdict] = [], random: any RandomSource = SystemRandom(),
        faceKeys: FaceKeyClass? = nil
    ) {
        state = Mutex(State(verdicts: verdicts))
        self.random = random
        self.faceKeys = faceKeys
    }

    /// Name in the match statement.
    public var name: String { "scripted" }

    /// How often a frame reached the matcher.
    public var matcherCalls: Int { state.withLock { $0.matcherCalls } }

    /// A token of a new face.
    ///
    /// - Parameter withFaceKeys: whether it holds face keys from the start, as registration makes them (R-004-61).
    public static func newToken(
        random: any RandomSource = SystemRandom(), withFaceKeys: Bool = false
    ) throws(FaceEngineError) -> SealedFaceToken {
        do {
            let seed = withFaceKeys ? "." + (try random.text(32)) : ""
            return SealedFaceToken(prefix + (try random.text(16)) + ".0" + seed)
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

    /// Another text for the same face, with face keys where the engine has them: a sign-in mends their absence (R-000-64).
    public func rotate(_ token: OpenedFaceToken) async throws(FaceEngineError) -> SealedFaceToken {
        let parts = Self.parts(of: token)
        guard let face = parts.first else { throw .unreadableToken }
        do {
            var text = face + "." + (try random.text(8))
            if parts.count > 2 {
                text += "." + parts[2]
            } else if faceKeys != nil {
                text += "." + (try random.text(32))
            }
            return SealedFaceToken(text)
        } catch {
            throw .failed(details: "no randomness")
        }
    }

    /// The seed of the face keys, when the token has one.
    static func seed(of token: OpenedFaceToken) -> [UInt8]? {
        let parts = parts(of: token)
        guard parts.count == 3, let seed = Base64URL.decode(parts[2]), seed.count == 32 else {
            return nil
        }
        return seed
    }

    /// Face, number of the rotation, and seed of the face keys.
    private static func parts(of token: OpenedFaceToken) -> [String] {
        String(decoding: token.handle.expose(), as: UTF8.self).split(separator: ".").map(
            String.init)
    }
}

/// Which algorithms the face keys are of.
public enum FaceKeyClass: Sendable, CaseIterable {
    /// P-256: ECDSA over the operand, a digest; DHKEM with HKDF-SHA256 (RFC 9180 §4.1), whose ciphertext is a point of 65 octets.
    case classical
    /// ML-DSA-65 (FIPS 204), with the request's context as its own; ML-KEM-768 (FIPS 203). OpenSSL has them from 3.5 on.
    case postQuantum
}
