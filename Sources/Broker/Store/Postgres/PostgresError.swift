/// What can go wrong between the broker and Postgres. The texts are for the log, never for a caller.
enum PostgresError: Error, Sendable, Equatable {
    /// The connection string is not one libpq can read. Its text may hold a password, so it is not kept.
    case malformedConnectionString
    /// No connection: nobody listens, the login was refused, or no server takes writes.
    case cannotConnect(String)
    /// No answer in time; what was asked may still happen.
    case timedOut
    /// The connection went; what was asked may have happened.
    case connectionLost(String)
    /// The server refused the statement.
    case server(sqlState: String, message: String)
    /// The answer has another shape than asked for.
    case unexpectedAnswer(String)

    /// Five characters of SQLSTATE where the server gave one.
    var sqlState: String? {
        if case .server(let sqlState, _) = self { sqlState } else { nil }
    }

    /// Whether the connection is of no use any more. 25006: it leads to a server that takes no
    /// writes (a demoted primary), and only a new one can find the new primary.
    var spoilsConnection: Bool {
        switch self {
        case .malformedConnectionString, .cannotConnect, .timedOut, .connectionLost: true
        case .server(let sqlState, _): sqlState == "25006" || sqlState.hasPrefix("57P")
        case .unexpectedAnswer: false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    var description: String {
        switch self {
        case .malformedConnectionString: "the connection string is not a libpq URI or keyword list"
        case .cannotConnect(let why): "cannot connect: \(why)"
        case .timedOut: "the database did not answer in time"
        case .connectionLost(let why): "connection lost: \(why)"
        case .server(let sqlState, let message): "\(message) (SQLSTATE \(sqlState))"
        case .unexpectedAnswer(let what): "unexpected answer: \(what)"
        }
    }
}
