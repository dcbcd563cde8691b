import JOSE

/// What can happen to a sign-in: answers to its effects, the user's controls, time.
enum SignInEvent: Sendable {
    case started(SignInStep<Ceremony>)
    case faceToken(SignInStep<FaceTokenAnswer>)
    case frame(FaceFrame)
    case verdict(FaceVerdict)
    /// `nil` when the face token has no such keys.
    case pkiFinished(SignInPkiResult?)
    case proofMade(Secret<String>)
    case completed(SignInStep<Secret<String>>)
    case redeemed(SignInStep<TokenGrant>)
    /// Tokens came and failed a check; what should be revoked of them.
    case tokensRejected(RevocableToken)
    /// The session record is durable.
    case stored(TokenSession)
    /// Key store, disk or face engine failed; developer text.
    case deviceFailed(String)
    case retry
    case cancel
    case expired
}

/// What a sign-in wants done. Each but `wipe`, `abort`, `revoke` and `armExpiry` ends in one event.
enum SignInEffect: Sendable, Equatable {
    case start
    case armExpiry(Ceremony)
    case fetchFaceToken(Ceremony)
    case verify(FaceFrame, OpenedFaceToken)
    case wipe(FaceFrame)
    case runPki(SignInPkiRequest, OpenedFaceToken)
    /// Rotates the face token and signs the completion, once (R-000-17, R-100-51).
    case makeProof(Capture)
    case complete(Secret<String>)
    case redeem(Secret<String>)
    case store(TokenGrant)
    case abort(Ceremony, AbortReason)
    case revoke(RevocableToken)
}

/// How one wire call of the flow ended.
enum SignInStep<Value: Sendable>: Sendable {
    case served(Value)
    /// No answer, or no assertion to ask with (R-101-05).
    case lost(PostFailure)
    case busy(Busy)
    case refused(SignInFailure)

    var postFailure: PostFailure {
        switch self {
        case .lost(let reason): reason
        case .busy(let busy): PostFailure(busy)
        case .served, .refused: .noAnswer
        }
    }

    var retryAfter: Int? {
        if case .busy(let busy) = self { busy.retryAfter } else { nil }
    }
}

extension PostFailure {
    init(_ busy: Busy) {
        self = busy.status == 429 ? .rateLimited : .server(status: busy.status)
    }
}

extension SignInFailure {
    /// A busy answer at a step that has no retry.
    init(_ busy: Busy) {
        self =
            busy.status == 429
            ? .rateLimited(retryAfter: busy.retryAfter)
            : .server(message: "answer \(busy.status)")
    }
}

/// The session at the provider. Its `auth_session` is not here: any answer may replace it (R-000-12).
struct Ceremony: Sendable, Equatable {
    let sid: String
    /// Seconds since 1970 UTC by this device's clock.
    let expiresAt: Int64
    /// The same moment by the provider's clock, for the completion's `exp` (R-100-51).
    var providerExpiresAt: Int64

    func expiring(_ providerExpiresAt: Int64?) -> Ceremony {
        var ceremony = self
        if let providerExpiresAt { ceremony.providerExpiresAt = providerExpiresAt }
        return ceremony
    }
}

/// What the face-token call gave.
struct FaceTokenAnswer: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case opened(OpenedFaceToken)
        case passwordProtected
        case unreadable
    }

    let content: Content
    let branding: Branding?
    let pkiAvailable: Bool
    let pkiTenantScopeAllowed: Bool
    /// Seconds since 1970 UTC by the provider's clock, when it said.
    let providerExpiresAt: Int64?
}

/// What is known while the face is captured.
struct Capture: Sendable, Equatable {
    let ceremony: Ceremony
    let token: OpenedFaceToken
    let branding: Branding?
    var mismatches = 0
    var pki: SignInPkiResult?
}

/// A proof of the match on its way to the provider, the same bytes every time (R-000-22).
struct Posting: Sendable, Equatable {
    let ceremony: Ceremony
    let proof: Secret<String>
    let pki: SignInPkiResult?
    /// Automatic re-sends of the completion after lost token answers, in this sign-in.
    var completionsAfterLostToken = 0
}

/// What liveness and match say of a frame.
enum FaceVerdict: Sendable, Equatable {
    case notLive, mismatch, match
}

/// `fail_reason` of an abort.
enum AbortReason: String, Sendable {
    case userCancelled = "user_cancelled"
    case faceMismatchMaxRetries = "face_mismatch_max_retries"
    case passwordProtected = "face_token_password_protected"
    case faceTokenUnreadable = "face_token_unreadable"
    case pkiRefused = "pki_refused"
    case deviceError = "device_error"
}
