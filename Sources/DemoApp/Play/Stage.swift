import ClientShim

/// Where the phone is: the states of `docs/flows/sign-in.md`, and what comes before and after a sign-in.
enum Stage: Equatable, Sendable {
    case idle
    case starting
    case faceToken
    case scan(Scan)
    case checking
    case faceKeys
    case posting
    case tryAgain(reason: String, retryAfter: Int?)
    case redeeming
    case signedIn
    case cancelled
    case failed(String)

    /// What is known while the camera is on.
    struct Scan: Equatable, Sendable {
        let mismatches: Int
        let mismatchesMax: Int
        let lastError: FaceError?
        /// Until the provider's session ends.
        let secondsLeft: Int64
    }

    /// - Parameter now: seconds since 1970 UTC.
    init(_ state: SignInState, now: Int64) {
        self =
            switch state {
            case .starting: .starting
            case .downloadingFaceToken: .faceToken
            case .awaitingFaceCapture(let request):
                .scan(
                    Scan(
                        mismatches: request.attemptsUsed, mismatchesMax: request.attemptsMax,
                        lastError: request.lastError,
                        secondsLeft: max(0, request.expiresAtUnix - now)))
            case .verifyingFace: .checking
            case .runningPki: .faceKeys
            case .postingResult: .posting
            case .postingResultFailed(let reason, let retryAfter):
                .tryAgain(reason: Self.text(reason), retryAfter: retryAfter)
            case .redeemingCode: .redeeming
            case .signedIn: .signedIn
            case .cancelled: .cancelled
            case .failed(let reason): .failed("\(reason)")
            }
    }

    private static func text(_ reason: PostFailure) -> String {
        switch reason {
        case .noAnswer: "no answer came"
        case .server(let status): "the provider answered \(status)"
        case .rateLimited: "the provider asks to wait"
        case .assertionUnavailable: "the broker gave no assertion"
        }
    }

    /// Whether a sign-in is on its way.
    var isOpen: Bool {
        switch self {
        case .idle, .signedIn, .cancelled, .failed: false
        default: true
        }
    }

    /// Whether only a person brings it further.
    var isAtRest: Bool {
        switch self {
        case .scan, .tryAgain: true
        default: !isOpen
        }
    }

    /// What the phone waits for, why, and for how long it may; `nil` when it waits for nobody.
    var waiting: String? {
        switch self {
        case .scan(let scan):
            let last =
                switch scan.lastError {
                case .faceMismatch: "that was another face; "
                case .livenessFailed: "that was no living face; "
                case nil: ""
                }
            let left = scan.mismatchesMax - scan.mismatches
            return last + "the camera waits for a face: match, no-match, not-live or cancel"
                + " (\(left) of \(scan.mismatchesMax) tries left, \(scan.secondsLeft) s)"
        case .tryAgain(let reason, let retryAfter):
            let when = retryAfter.map { ", not before \($0) s" } ?? ""
            return "\(reason): retry sends the same proof again, without a scan\(when)"
        case .failed(let reason): return "failed: \(reason)"
        default: return nil
        }
    }
}

/// What `wait` can wait for: a state, or that nothing moves any more (`done`).
enum WaitTarget: String, Sendable, CaseIterable {
    case idle
    case scan
    case posting
    case tryAgain = "try-again"
    case signedIn = "signed-in"
    case cancelled
    case failed
    case done

    func isReached(at stage: Stage) -> Bool {
        switch (self, stage) {
        case (.idle, .idle), (.scan, .scan), (.posting, .posting), (.tryAgain, .tryAgain),
            (.signedIn, .signedIn), (.cancelled, .cancelled), (.failed, .failed):
            true
        case (.done, _): stage.isAtRest
        default: false
        }
    }
}
