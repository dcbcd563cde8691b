import JOSE

/// The rules of an in-app sign-in as a value: an event in, a new state and effects out.
/// No clock, network, key or task in here. The diagram is `docs/flows/sign-in.md`.
struct SignInMachine: Sendable, Equatable {
    private(set) var state: State
    let pki: SignInPkiRequest?

    /// - Parameter isValid: whether the config passed `SignInConfig.isValid`.
    init(pki: SignInPkiRequest?, isValid: Bool) {
        self.pki = pki
        state = isValid ? .starting(lostAnswers: 0) : .failed(.invalidConfiguration)
    }

    /// What to do first.
    var firstEffects: [SignInEffect] { isOver ? [] : [.start] }

    var isOver: Bool {
        switch state {
        case .signedIn, .cancelled, .failed: true
        default: false
        }
    }

    /// Each state carries what is true in it. Names are those of `SignInState`.
    enum State: Sendable, Equatable {
        case starting(lostAnswers: Int)
        case downloadingFaceToken(Ceremony, lostAnswers: Int)
        case awaitingFaceCapture(Capture, lastError: FaceError?)
        case verifyingFace(Capture)
        case runningPki(Capture, kind: PkiCeremonyKind)
        case postingResult(Posting, lostAnswers: Int)
        case postingResultFailed(Posting, reason: PostFailure, retryAfter: Int?)
        case redeemingCode(Posting)
        /// Tokens are checked and on their way to the disk: past cancelling and expiry, since the
        /// sign-in has happened and only its record is missing. Shown as `redeemingCode`.
        case storingSession(Posting)
        case signedIn(TokenSession, SignInPkiResult?)
        case cancelled
        case failed(SignInFailure)
    }

    static let mismatchesMax = 3
    static let completionsAfterLostTokenMax = 2

    /// An event the state has no use for changes nothing: late answers and double taps happen.
    mutating func handle(_ event: SignInEvent) -> [SignInEffect] {
        switch event {
        case .started(let step): started(step)
        case .faceToken(let step): faceToken(step)
        case .frame(let frame): tookFrame(frame)
        case .verdict(let verdict): judged(verdict)
        case .pkiFinished(let result): pkiFinished(result)
        case .proofMade(let proof): proofMade(proof)
        case .completed(let step): completed(step)
        case .redeemed(let step): redeemed(step)
        case .tokensRejected(let token): tokensRejected(token)
        case .stored(let session): stored(session)
        case .deviceFailed(let details): deviceFailed(details)
        case .retry: retry()
        case .cancel: cancel()
        case .expired: expire()
        }
    }

    // MARK: - Answers

    private mutating func started(_ step: SignInStep<Ceremony>) -> [SignInEffect] {
        guard case .starting(let lostAnswers) = state else {
            // Cancelled while the call was out: the session it opened is closed again.
            if case .cancelled = state, case .served(let ceremony) = step {
                return [.abort(ceremony, .userCancelled)]
            }
            return []
        }
        switch step {
        case .served(let ceremony):
            state = .downloadingFaceToken(ceremony, lostAnswers: 0)
            return [.armExpiry(ceremony), .fetchFaceToken(ceremony)]
        case .lost where lostAnswers == 0:
            state = .starting(lostAnswers: 1)
            return [.start]
        case .lost: return fail(.network)
        case .busy(let busy): return fail(SignInFailure(busy))
        case .refused(let failure): return fail(failure)
        }
    }

    private mutating func faceToken(_ step: SignInStep<FaceTokenAnswer>) -> [SignInEffect] {
        guard case .downloadingFaceToken(let ceremony, let lostAnswers) = state else { return [] }
        switch step {
        case .served(let answer): return opened(answer, ceremony)
        case .lost where lostAnswers == 0:
            state = .downloadingFaceToken(ceremony, lostAnswers: 1)
            return [.fetchFaceToken(ceremony)]
        case .lost: return fail(.network)
        case .busy(let busy): return fail(SignInFailure(busy))
        case .refused(let failure): return fail(failure)
        }
    }

    private mutating func opened(
        _ answer: FaceTokenAnswer, _ ceremony: Ceremony
    ) -> [SignInEffect] {
        let token: OpenedFaceToken
        switch answer.content {
        case .opened(let opened): token = opened
        case .passwordProtected:
            let message = "the account's face token carries a password"
            return fail(.server(message: message), aborting: ceremony, .passwordProtected)
        case .unreadable:
            let message = "the face token cannot be opened"
            return fail(.server(message: message), aborting: ceremony, .faceTokenUnreadable)
        }
        if let failure = pkiFailure(answer) {
            return fail(failure, aborting: ceremony, .pkiRefused)
        }
        state = .awaitingFaceCapture(
            Capture(
                ceremony: ceremony.expiring(answer.providerExpiresAt), token: token,
                branding: answer.branding),
            lastError: nil)
        return []
    }

    /// R-000-61 and R-000-62, decided before the scan.
    private func pkiFailure(_ answer: FaceTokenAnswer) -> SignInFailure? {
        guard let pki else { return nil }
        if !pki.isValid { return .invalidPkiRequest }
        if !answer.pkiAvailable { return .pkiNotAvailable }
        if pki.scope == .tenant, !answer.pkiTenantScopeAllowed { return .pkiScopeNotAllowed }
        return nil
    }

    private mutating func completed(_ step: SignInStep<Secret<String>>) -> [SignInEffect] {
        guard case .postingResult(let posting, let lostAnswers) = state else { return [] }
        switch step {
        case .served(let code):
            state = .redeemingCode(posting)
            return [.redeem(code)]
        case .lost where lostAnswers == 0:
            state = .postingResult(posting, lostAnswers: 1)
            return [.complete(posting.proof)]
        case .lost(let reason): return park(posting, reason, nil)
        case .busy(let busy): return park(posting, PostFailure(busy), busy.retryAfter)
        case .refused(let failure): return fail(failure)
        }
    }

    private mutating func redeemed(_ step: SignInStep<TokenGrant>) -> [SignInEffect] {
        guard case .redeemingCode(var posting) = state else {
            // The flow ended while the exchange was out: nobody will use what it issued.
            if isOver, case .served(let grant) = step { return [.revoke(grant.revocable)] }
            return []
        }
        switch step {
        case .served(let grant):
            state = .storingSession(posting)
            return [.store(grant)]
        case .refused(let failure): return fail(failure)
        case .lost, .busy:
            guard posting.completionsAfterLostToken < Self.completionsAfterLostTokenMax else {
                return park(posting, step.postFailure, step.retryAfter)
            }
            posting.completionsAfterLostToken += 1
            state = .postingResult(posting, lostAnswers: 0)
            return [.complete(posting.proof)]
        }
    }

    private mutating func tokensRejected(_ issued: RevocableToken) -> [SignInEffect] {
        let revocation = [SignInEffect.revoke(issued)]
        guard case .redeemingCode = state else { return isOver ? revocation : [] }
        state = .failed(.tokenRejected)
        return revocation
    }

    private mutating func stored(_ session: TokenSession) -> [SignInEffect] {
        guard case .storingSession(let posting) = state else { return [] }
        state = .signedIn(session, posting.pki)
        return []
    }

    // MARK: - On the device

    private mutating func tookFrame(_ frame: FaceFrame) -> [SignInEffect] {
        guard case .awaitingFaceCapture(let capture, _) = state else { return [.wipe(frame)] }
        state = .verifyingFace(capture)
        return [.verify(frame, capture.token)]
    }

    private mutating func judged(_ verdict: FaceVerdict) -> [SignInEffect] {
        guard case .verifyingFace(var capture) = state else { return [] }
        switch verdict {
        case .notLive:
            state = .awaitingFaceCapture(capture, lastError: .livenessFailed)
            return []
        case .mismatch:
            capture.mismatches += 1
            if capture.mismatches >= Self.mismatchesMax {
                return fail(
                    .faceMismatchMaxRetries, aborting: capture.ceremony, .faceMismatchMaxRetries)
            }
            state = .awaitingFaceCapture(capture, lastError: .faceMismatch)
            return []
        case .match:
            guard let pki else { return [.makeProof(capture)] }
            state = .runningPki(capture, kind: pki.kind)
            return [.runPki(pki, capture.token)]
        }
    }

    private mutating func pkiFinished(_ result: SignInPkiResult?) -> [SignInEffect] {
        guard case .runningPki(var capture, _) = state else { return [] }
        guard let result else {
            return fail(.pkiKeysNotReady, aborting: capture.ceremony, .pkiRefused)
        }
        capture.pki = result
        if let kind = pki?.kind { state = .runningPki(capture, kind: kind) }
        return [.makeProof(capture)]
    }

    private mutating func proofMade(_ proof: Secret<String>) -> [SignInEffect] {
        switch state {
        case .verifyingFace(let capture), .runningPki(let capture, _):
            let posting = Posting(ceremony: capture.ceremony, proof: proof, pki: capture.pki)
            state = .postingResult(posting, lostAnswers: 0)
            return [.complete(proof)]
        default: return []
        }
    }

    /// The key store, the disk or the face engine failed: nothing a retry on the wire could mend.
    private mutating func deviceFailed(_ details: String) -> [SignInEffect] {
        isOver ? [] : fail(.server(message: details), aborting: ceremony, .deviceError)
    }

    // MARK: - Controls

    private mutating func retry() -> [SignInEffect] {
        guard case .postingResultFailed(let posting, _, _) = state else { return [] }
        state = .postingResult(posting, lostAnswers: 0)
        return [.complete(posting.proof)]
    }

    private mutating func cancel() -> [SignInEffect] {
        guard mayEndEarly else { return [] }
        let abort = ceremony.map { [SignInEffect.abort($0, .userCancelled)] } ?? []
        state = .cancelled
        return abort
    }

    private mutating func expire() -> [SignInEffect] {
        mayEndEarly ? fail(.expired) : []
    }

    private var mayEndEarly: Bool {
        if case .storingSession = state { return false }
        return !isOver
    }

    // MARK: - Ends

    private mutating func park(
        _ posting: Posting, _ reason: PostFailure, _ retryAfter: Int?
    ) -> [SignInEffect] {
        state = .postingResultFailed(posting, reason: reason, retryAfter: retryAfter)
        return []
    }

    private mutating func fail(_ failure: SignInFailure) -> [SignInEffect] {
        state = .failed(failure)
        return []
    }

    private mutating func fail(
        _ failure: SignInFailure, aborting ceremony: Ceremony?, _ reason: AbortReason
    ) -> [SignInEffect] {
        state = .failed(failure)
        return ceremony.map { [.abort($0, reason)] } ?? []
    }

    /// The session at the provider, once there is one.
    private var ceremony: Ceremony? {
        switch state {
        case .downloadingFaceToken(let ceremony, _): ceremony
        case .awaitingFaceCapture(let capture, _), .verifyingFace(let capture),
            .runningPki(let capture, _):
            capture.ceremony
        case .postingResult(let posting, _), .postingResultFailed(let posting, _, _),
            .redeemingCode(let posting), .storingSession(let posting):
            posting.ceremony
        case .starting, .signedIn, .cancelled, .failed: nil
        }
    }
}
