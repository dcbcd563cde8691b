/// What can go wrong between the broker and Postgres. The texts are for the log, never for a caller.
enum PostgresError: Error, Sendable, Equatable {
    /// The connection string is not one libpq can read, or has a setting with no such value. Its text may hold a password, so
    /// nothing of it is kept.
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

extension PostgresError {
    /// Why there is no connection, from libpq's own text in one line.
    ///
    /// libpq and the server quote a setting that they cannot read. In a connection string with a character too much or too
    /// few that is a piece of whatever stood there, the password as well, so such a text is not kept.
    static func noConnection(_ text: String) -> PostgresError {
        complaintsAboutSettings.contains { text.contains($0) }
            ? .malformedConnectionString : .cannotConnect(text)
    }

    /// What is in libpq's and the server's texts about settings, and in none about a server that cannot be reached.
    private static let complaintsAboutSettings = [
        "for connection option", "connection option \"", " value: \"",
        "invalid value for parameter",
        "unrecognized configuration parameter", "invalid port number", "invalid integer value",
        "invalid command-line argument", "requires a value", "invalid connection option",
        "invalid URI",
        "invalid percent-encoded", "forbidden value", "unexpected character", "missing \"=\"",
        "missing key/value separator", "extra key/value separator", "unterminated quoted string",
        "end of string reached", "could not match", "could not parse network address",
        "definition of service", "service file", "sslmode value", "weak sslmode",
        "require_auth method", "gssencmode value", "sslcertmode value", "requirepeer specifies",
    ]
}

extension PostgresError: CustomStringConvertible {
    var description: String {
        switch self {
        case .malformedConnectionString:
            "the connection string is not a libpq URI or keyword list, or has a setting that is none; "
                + "in a URI a password's special characters must be percent-encoded"
        case .cannotConnect(let why): "cannot connect: \(why)"
        case .timedOut: "the database did not answer in time"
        case .connectionLost(let why): "connection lost: \(why)"
        case .server(let sqlState, let message): "\(message) (SQLSTATE \(sqlState))"
        case .unexpectedAnswer(let what): "unexpected answer: \(what)"
        }
    }
}
