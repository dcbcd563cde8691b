/// What a person at the demo's phone asks for.
enum PhoneCommand: Equatable, Sendable {
    case signIn(user: String)
    case show(Picture)
    case retry
    case cancel
    case cut
    case mend
    case loseRequests(Int, of: Peer?)
    case loseAnswers(Int, of: Peer?)
    case slow(milliseconds: Int)
    case call
    case expire
    case revoke
    case restore
    case signOut
    case restart
    case crash
    case status
    case wait(WaitTarget)
    case help
    case quit

    /// Who signs in when nobody is named.
    static let defaultUser = "user"

    /// - Returns: `nil` for an empty line and for one that begins with `#`.
    init?(_ line: String) throws(CommandFault) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let name = words.first, !name.hasPrefix("#") else { return nil }
        guard let entry = CommandList.entry(name) else {
            throw CommandFault("'\(name)' is no command: help lists them")
        }
        var arguments = CommandArguments(entry: entry, rest: Array(words.dropFirst()))
        self = try Self.command(entry.name, &arguments)
        try arguments.end()
    }

    private static func command(
        _ name: CommandName, _ arguments: inout CommandArguments
    ) throws(CommandFault) -> PhoneCommand {
        switch name {
        case .signIn: .signIn(user: try arguments.user() ?? defaultUser)
        case .match: .show(.owner)
        case .noMatch: .show(.stranger)
        case .notLive: .show(.photograph)
        case .retry: .retry
        case .cancel: .cancel
        case .cut: .cut
        case .mend: .mend
        case .loseRequest: .loseRequests(try arguments.number(1...99), of: try arguments.peer())
        case .loseAnswer: .loseAnswers(try arguments.number(1...99), of: try arguments.peer())
        case .slow: .slow(milliseconds: try arguments.number(0...60_000))
        case .call: .call
        case .expire: .expire
        case .revoke: .revoke
        case .restore: .restore
        case .signOut: .signOut
        case .restart: .restart
        case .crash: .crash
        case .status: .status
        case .wait: .wait(try arguments.target())
        case .help: .help
        case .quit: .quit
        }
    }
}

/// What is held before the camera.
enum Picture: String, Sendable {
    case owner = "the enrolled face"
    case stranger = "another face"
    case photograph = "a photograph of the face"
}

/// Who is at the other end of a message.
enum Peer: String, Sendable, CaseIterable {
    case broker
    case provider
}

/// Why a command was not carried out; says what to do instead.
struct CommandFault: Error, Equatable, Sendable {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The words behind a command's name.
private struct CommandArguments {
    let entry: CommandList.Entry
    var rest: [String]

    private var usage: String { "use: \(entry.usage)" }

    private mutating func next() -> String? { rest.isEmpty ? nil : rest.removeFirst() }

    mutating func number(_ range: ClosedRange<Int>) throws(CommandFault) -> Int {
        guard let number = next().flatMap({ Int($0) }), range.contains(number) else {
            let name = entry.name.rawValue
            throw CommandFault(
                "\(name) needs a number from \(range.lowerBound) to \(range.upperBound); \(usage)")
        }
        return number
    }

    mutating func peer() throws(CommandFault) -> Peer? {
        guard let word = next() else { return nil }
        guard let peer = Peer(rawValue: word) else {
            throw CommandFault("'\(word)' is neither broker nor provider; \(usage)")
        }
        return peer
    }

    /// A user becomes part of an email address and of a key's label.
    mutating func user() throws(CommandFault) -> String? {
        guard let word = next() else { return nil }
        let isPlain = word.utf8.allSatisfy { (0x61...0x7a).contains($0) }
        guard isPlain, word.utf8.count <= 20 else {
            throw CommandFault("a user is 1 to 20 letters from a to z; \(usage)")
        }
        return word
    }

    mutating func target() throws(CommandFault) -> WaitTarget {
        guard let word = next(), let target = WaitTarget(rawValue: word) else {
            let all = WaitTarget.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFault("wait needs one of: \(all)")
        }
        return target
    }

    func end() throws(CommandFault) {
        if let word = rest.first { throw CommandFault("'\(word)' is too much; \(usage)") }
    }
}
