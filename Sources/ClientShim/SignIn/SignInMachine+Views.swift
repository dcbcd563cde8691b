extension SignInState {
    /// What the app sees of the machine.
    init(_ machine: SignInMachine) {
        self =
            switch machine.state {
            case .starting: .starting
            case .downloadingFaceToken: .downloadingFaceToken
            case .awaitingFaceCapture(let capture, let lastError):
                .awaitingFaceCapture(
                    FaceCaptureRequest(
                        attemptsUsed: capture.mismatches,
                        attemptsMax: SignInMachine.mismatchesMax, lastError: lastError,
                        expiresAtUnix: capture.ceremony.expiresAt, branding: capture.branding))
            case .verifyingFace: .verifyingFace
            case .runningPki(_, let kind): .runningPki(kind: kind)
            case .postingResult: .postingResult
            case .postingResultFailed(_, let reason, let retryAfter):
                .postingResultFailed(reason: reason, retryAfter: retryAfter)
            case .redeemingCode, .storingSession: .redeemingCode
            case .signedIn(let session, let pki): .signedIn(session: session, pki: pki)
            case .cancelled: .cancelled
            case .failed(let reason): .failed(reason: reason)
            }
    }
}

extension FaceCaptureUiState {
    /// What the capture surface sees of the machine.
    init(_ machine: SignInMachine) {
        self =
            switch machine.state {
            case .starting, .downloadingFaceToken: .waiting
            case .awaitingFaceCapture(let capture, let lastError):
                .ready(
                    attemptsUsed: capture.mismatches, attemptsMax: SignInMachine.mismatchesMax,
                    lastError: lastError,
                    context: capture.branding.map { CaptureContext(branding: $0) })
            case .verifyingFace, .runningPki: .checking
            case .postingResult, .redeemingCode, .storingSession: .posting
            case .postingResultFailed(_, _, let retryAfter): .postFailed(retryAfter: retryAfter)
            case .signedIn: .done(.succeeded)
            case .cancelled: .done(.cancelled)
            case .failed(.faceMismatchMaxRetries):
                .done(.failed(reason: .faceMismatchMaxRetries))
            case .failed(.expired): .done(.failed(reason: .expired))
            case .failed: .done(.failed(reason: .flowFailed))
            }
    }
}
