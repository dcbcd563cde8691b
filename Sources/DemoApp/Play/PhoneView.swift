/// What happened on the phone, in the order in which it is shown.
enum PhoneEvent: Equatable, Sendable {
    /// A command of a script.
    case typed(String)
    /// A sentence for the person.
    case said(String)
    /// A command that was not carried out.
    case refused(String)
    /// The sign-in was told something, and will move.
    case asked
    case stage(Stage)
    case attempt(HTTPAttempt)
    /// The SDK's own diagnostic event.
    case step(String)
    case disk(String)
    /// A call of the app's begins.
    case began(String)
    case ended(String)
    /// The app's process is gone, with all that it was doing.
    case died
}

/// What the phone is doing, kept by its events. A value; `Board` holds the one there is.
struct PhoneView: Equatable, Sendable {
    private(set) var bar = ProgressBar()
    /// The sign-in was told something and has not moved yet.
    private(set) var isMoving = false
    /// Calls of the app under way.
    private(set) var running = 0

    var stage: Stage { bar.stage }

    mutating func apply(_ event: PhoneEvent) {
        switch event {
        case .asked: isMoving = true
        case .stage(let stage):
            isMoving = false
            bar.move(to: stage)
        case .began: running += 1
        // One that began before a restart may end after it.
        case .ended: running = max(0, running - 1)
        case .died:
            isMoving = false
            running = 0
        case .typed, .said, .refused, .attempt, .step, .disk: break
        }
    }

    /// How a wait stands.
    enum WaitAnswer: Equatable, Sendable {
        case reached
        case notYet
        /// Nothing moves any more, so it will not come.
        case never
    }

    func answer(to target: WaitTarget) -> WaitAnswer {
        if isMoving || running > 0 { return .notYet }
        if target.isReached(at: stage) { return .reached }
        return stage.isAtRest ? .never : .notYet
    }
}
