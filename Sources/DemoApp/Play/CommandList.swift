/// The commands as they are typed.
enum CommandName: String, Sendable, CaseIterable {
    case signIn = "sign-in"
    case match
    case noMatch = "no-match"
    case notLive = "not-live"
    case retry
    case cancel
    case cut
    case mend
    case loseRequest = "lose-request"
    case loseAnswer = "lose-answer"
    case slow
    case call
    case expire
    case revoke
    case restore
    case signOut = "sign-out"
    case restart
    case crash
    case status
    case wait
    case help
    case quit
}

/// What `help` lists.
enum CommandList {
    struct Entry: Sendable {
        let name: CommandName
        /// One or two letters.
        let short: String
        let arguments: String
        let meaning: String

        var usage: String { name.rawValue + (arguments.isEmpty ? "" : " \(arguments)") }
    }

    static let entries = CommandName.allCases.map { name in
        let (short, arguments, meaning) = text(of: name)
        return Entry(name: name, short: short, arguments: arguments, meaning: meaning)
    }

    static func entry(_ word: String) -> Entry? {
        entries.first { $0.name.rawValue == word || $0.short == word }
    }

    static var help: [String] {
        entries.map { entry in
            let usage = entry.usage + String(repeating: " ", count: max(1, 30 - entry.usage.count))
            let short = entry.short + String(repeating: " ", count: 4 - entry.short.count)
            return "\(short)\(usage)\(entry.meaning)"
        }
    }

    private static func text(of name: CommandName) -> (String, String, String) {
        switch name {
        case .signIn: ("s", "[USER]", "start a sign-in; the user is enrolled when new")
        case .match: ("m", "", "show the camera the enrolled face")
        case .noMatch: ("n", "", "show the camera another face; the third ends the sign-in")
        case .notLive: ("p", "", "show the camera a photograph; does not count")
        case .retry: ("r", "", "send the same proof of the match again")
        case .cancel: ("x", "", "cancel the sign-in")
        case .cut: ("c", "", "cut the phone's network")
        case .mend: ("d", "", "mend the network: nothing is cut, lost or slow any more")
        case .loseRequest: ("lr", "N [broker|provider]", "lose the next N messages on their way")
        case .loseAnswer: ("la", "N [broker|provider]", "lose the answers to the next N messages")
        case .slow: ("w", "MS", "hold each message back for MS milliseconds; 0 for none")
        case .call: ("a", "", "call the sandbox's API with the session")
        case .expire: ("e", "", "let the access token's time be up")
        case .revoke: ("v", "", "the administrator revokes this device's key")
        case .restore: ("g", "", "the administrator takes that back")
        case .signOut: ("o", "", "sign out")
        case .restart: ("t", "", "end the app and start it again")
        case .crash: ("k", "", "the same in the middle of a sign-in")
        case .status: ("i", "", "who is signed in, and what lies on the disk")
        case .wait: ("z", "WHAT", "until " + WaitTarget.list)
        case .help: ("h", "", "this list")
        case .quit: ("q", "", "end; so does Ctrl-C")
        }
    }
}

extension WaitTarget {
    fileprivate static var list: String {
        let words = allCases.map(\.rawValue)
        return words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    }
}
