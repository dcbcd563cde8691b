/// Why a command ended without doing its work, and the exit code that says so to a script.
enum CommandError: Error, Sendable {
    /// The command line is not understood. Exit code 64.
    case usage(String)
    /// A file or setting was refused. Exit code 65.
    case refused(String)
    /// Something outside failed, such as the database. Exit code 69.
    case unavailable(String)
    /// What was named does not exist. Exit code 66.
    case notFound(String)
    /// All that can be done now is done, and the rest has to wait. Exit code 75.
    case notYet(String)
    /// The command did its work, and its work was to find faults. Exit code 1.
    case faultsFound(String)

    var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .refused: 65
        case .notFound: 66
        case .faultsFound: 1
        case .unavailable: 69
        case .notYet: 75
        }
    }

    var message: String {
        switch self {
        case .usage(let text), .refused(let text), .unavailable(let text), .notFound(let text),
            .notYet(let text), .faultsFound(let text):
            text
        }
    }
}
