/// What a capture surface talks to; one surface serves every flow.
public protocol FaceCaptureDriver: Sendable {
    /// The current state, then each later one; ends after `done`.
    func stateStream() -> AsyncStream<FaceCaptureUiState>
    /// Hands over a frame; dropped unless the state is `ready` (R-100-65).
    func submitFaceCapture(_ frame: FaceFrame)
    /// Sends the proof again after `postFailed`; otherwise nothing (R-100-66).
    func retry()
    /// Cancels the flow.
    func cancel()
}

/// What a capture surface shows.
public enum FaceCaptureUiState: Sendable, Equatable {
    /// The flow has not reached capture yet.
    case waiting
    /// A frame is wanted.
    case ready(attemptsUsed: Int, attemptsMax: Int, lastError: FaceError?, context: CaptureContext?)
    /// Liveness, then match, are running.
    case checking
    /// The proof is on its way.
    case posting
    /// The proof could not be delivered; seconds to wait, when the peer said.
    case postFailed(retryAfter: Int?)
    /// Over.
    case done(CaptureOutcome)
}

/// Who asks for the face, for the surface to show.
public struct CaptureContext: Sendable, Equatable {
    /// The organisation.
    public var branding: Branding
}

/// How a capture ended.
public enum CaptureOutcome: Sendable, Equatable {
    /// The flow went through.
    case succeeded
    /// The app or the user cancelled.
    case cancelled
    /// The flow failed.
    case failed(reason: FaceCaptureFailure)
}

/// Why a capture failed, as far as a surface cares.
public enum FaceCaptureFailure: Sendable, Equatable {
    /// The third mismatch.
    case faceMismatchMaxRetries
    /// The session's time ran out.
    case expired
    /// The flow failed for another reason, which its own state tells.
    case flowFailed
}
