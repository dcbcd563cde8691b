/// The way of a sign-in on one line, with the place where it stands in brackets.
struct ProgressBar: Equatable, Sendable {
    /// How far the sign-in had come when it ended early.
    private(set) var reached = 0
    private(set) var stage = Stage.idle

    private static let names = [
        "idle", "starting", "face token", "scan", "checking", "posting", "redeeming", "signed in",
    ]

    mutating func move(to stage: Stage) {
        self.stage = stage
        if let place = Self.place(of: stage) { reached = place }
    }

    /// - Parameter mark: how the present place is emphasized.
    func text(mark: (String) -> String = { $0 }) -> String {
        var parts = Self.names
        switch stage {
        case .cancelled, .failed:
            parts = Array(Self.names[...reached])
            parts.append(mark(stage == .cancelled ? "[cancelled]" : "[failed]"))
        case .tryAgain: parts[reached] = mark("[posting: try again]")
        case .faceKeys: parts[reached] = mark("[face keys]")
        default: parts[reached] = mark("[\(Self.names[reached])]")
        }
        return parts.joined(separator: " > ")
    }

    /// Index among `names`; `nil` for an end that is not on the way.
    private static func place(of stage: Stage) -> Int? {
        switch stage {
        case .idle: 0
        case .starting: 1
        case .faceToken: 2
        case .scan: 3
        case .checking, .faceKeys: 4
        case .posting, .tryAgain: 5
        case .redeeming: 6
        case .signedIn: 7
        case .cancelled, .failed: nil
        }
    }
}
