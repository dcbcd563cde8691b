/// Where a sign-in is (flows §3.3).
public enum SignInState: Sendable, Equatable {
    /// Opening a session at the provider.
    case starting
    /// Fetching and opening the face token.
    case downloadingFaceToken
    /// Waiting for a frame.
    case awaitingFaceCapture(FaceCaptureRequest)
    /// Liveness and match are running.
    case verifyingFace
    /// A face-key operation is running.
    case runningPki(kind: PkiCeremonyKind)
    /// The proof of the match is on its way.
    case postingResult
    /// The proof could not be delivered; `retry()` sends it again.
    case postingResultFailed(reason: PostFailure, retryAfter: Int?)
    /// The code is being exchanged, and the session stored.
    case redeemingCode
    /// Signed in; the session is on disk.
    case signedIn(session: TokenSession, pki: SignInPkiResult?)
    /// The app cancelled.
    case cancelled
    /// Over, for this reason.
    case failed(reason: SignInFailure)

    /// Whether nothing more will happen.
    public var isTerminal: Bool {
        switch self {
        case .signedIn, .cancelled, .failed: true
        default: false
        }
    }
}

/// What the capture surface needs to know.
public struct FaceCaptureRequest: Sendable, Equatable {
    /// Mismatches so far.
    public var attemptsUsed: Int
    /// Mismatches that end the flow.
    public var attemptsMax: Int
    /// What was wrong with the last frame.
    public var lastError: FaceError?
    /// When the session ends, seconds since 1970 UTC by this device's clock.
    public var expiresAtUnix: Int64
    /// Who asks, for the surface.
    public var branding: Branding?
}

/// What was wrong with a frame.
public enum FaceError: Sendable, Equatable {
    /// Not a living face; does not count.
    case livenessFailed
    /// Another face; counts.
    case faceMismatch
}

/// The organisation that asks.
public struct Branding: Sendable, Equatable {
    /// Its name, as the provider gave it.
    public var organisation: String?

    /// Branding with a name.
    public init(organisation: String?) {
        self.organisation = organisation
    }
}

/// Why a proof could not be delivered.
public enum PostFailure: Sendable, Equatable {
    /// No answer came.
    case noAnswer
    /// The provider answered with this 5xx status.
    case server(status: Int)
    /// The provider asks to wait.
    case rateLimited
    /// The provider of client assertions had none.
    case assertionUnavailable
}

/// Why a sign-in failed (flows §3.12). Associated texts are for developers, never for users (R-100-72).
public enum SignInFailure: Error, Sendable, Equatable {
    /// No key here, or the session can never complete: run registration.
    case notEnrolled
    /// No answer within the budget: offer to start again.
    case network
    /// The provider refused, or its answer made no sense.
    case server(message: String)
    /// The start limit is reached; seconds to wait, when the provider said.
    case rateLimited(retryAfter: Int?)
    /// The third mismatch.
    case faceMismatchMaxRetries
    /// The session's time ran out.
    case expired
    /// A setting at the provider forbids this sign-in; the code names it (flows §3.2).
    case notAllowed(code: String)
    /// The evidence for a genuine app is missing or was refused.
    case attestationRejected
    /// The enrolled key was revoked.
    case deviceKeyRevoked
    /// The enrolled key was replaced by another device's.
    case deviceKeyReplaced
    /// The user may not use this application.
    case accessDenied
    /// The provider wants a browser.
    case browserRequired(requestUri: String?)
    /// A check of the tokens failed.
    case tokenRejected
    /// The config is wrong; nothing was sent.
    case invalidConfiguration
    /// The tenant has no face keys.
    case pkiNotAvailable
    /// The face-key request is malformed.
    case invalidPkiRequest
    /// The tenant scope is not allowed.
    case pkiScopeNotAllowed
    /// The user's face token has no such keys yet; one plain sign-in cures it.
    case pkiKeysNotReady
}
