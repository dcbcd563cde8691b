@testable import ClientShim

/// One sign-in as the app saw it.
///
/// Sendable: touched on the run's thread only.
final class FlowRecord: @unchecked Sendable {
    let id: Int
    let process: AppProcess
    let flow: SignInFlow
    /// Session records written before it began.
    let writesBefore: Int
    /// Milliseconds since 1970.
    private let begunAt: Int64
    private(set) var states: [SignInState] = []
    private(set) var scans = 0
    private(set) var mismatches = 0
    /// When it told of its end, milliseconds since 1970.
    private(set) var endedAt: Int64?
    /// Frames that were given to it.
    var frames: [FaceFrame] = []
    /// What its capture surface was told last.
    var lastCapture: FaceCaptureUiState?
    var isOver = false

    init(id: Int, process: AppProcess, flow: SignInFlow, writesBefore: Int, at now: Int64) {
        self.id = id
        self.process = process
        self.flow = flow
        self.writesBefore = writesBefore
        begunAt = now
    }

    /// Milliseconds from its beginning to its end.
    var duration: Int64? { endedAt.map { $0 - begunAt } }

    /// Takes the next state, and says what is wrong with it.
    func add(_ state: SignInState, at now: Int64) -> String? {
        let before = states.last
        states.append(state)
        if state.isTerminal { endedAt = now }
        guard let before else { return nil }
        if before == state { return "a state is told twice" }
        guard Self.followers[before.name]?.contains(state.name) == true else {
            return "states come out of order: \(before.name), \(state.name)"
        }
        if case .awaitingFaceCapture(let wait) = state { return check(wait) }
        if case .failed(.faceMismatchMaxRetries) = state, mismatches != wait.attemptsMax - 1 {
            return "mismatches are counted wrong"
        }
        return nil
    }

    private var wait = FaceCaptureRequest(
        attemptsUsed: 0, attemptsMax: 3, lastError: nil, expiresAtUnix: 0, branding: nil)

    private func check(_ wait: FaceCaptureRequest) -> String? {
        self.wait = wait
        if wait.lastError == nil { scans += 1 }
        if wait.lastError == .faceMismatch { mismatches += 1 }
        if scans > 1 { return "a face is scanned again without need" }
        return wait.attemptsUsed != mismatches || mismatches >= wait.attemptsMax
            ? "mismatches are counted wrong" : nil
    }

    /// The arrows of flows §3.6, without those to `failed` and `cancelled`, which every state has.
    private static let arrows: [String: Set<String>] = [
        "starting": ["downloadingFaceToken"],
        "downloadingFaceToken": ["awaitingFaceCapture"],
        "awaitingFaceCapture": ["verifyingFace"],
        "verifyingFace": ["awaitingFaceCapture", "postingResult"],
        "postingResult": ["redeemingCode", "postingResultFailed"],
        "postingResultFailed": ["postingResult"],
        "redeemingCode": ["postingResult", "postingResultFailed", "signedIn"],
    ]
    private static let followers = arrows.mapValues { $0.union(["failed", "cancelled"]) }
}

extension SignInState {
    /// Its case alone.
    var name: String {
        switch self {
        case .starting: "starting"
        case .downloadingFaceToken: "downloadingFaceToken"
        case .awaitingFaceCapture: "awaitingFaceCapture"
        case .verifyingFace: "verifyingFace"
        case .runningPki: "runningPki"
        case .postingResult: "postingResult"
        case .postingResultFailed: "postingResultFailed"
        case .redeemingCode: "redeemingCode"
        case .signedIn: "signedIn"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }

    /// Whether only the user can bring it on.
    var waitsForUser: Bool { name == "awaitingFaceCapture" || name == "postingResultFailed" }
}
