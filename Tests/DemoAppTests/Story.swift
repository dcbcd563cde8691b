import Testing

/// A script for the demo, and how its part of the output is found again.
enum Story: String, CaseIterable {
    case happy
    case noMatch
    case cut
    case lostAnswer
    case expire
    case restart
    case crash
    case revoked
    case signOut

    static let all = Story.allCases

    /// Each begins and ends without a session, so that nothing of one reaches into the next.
    var script: String { "# story \(rawValue)\n" + commands + "\n" }

    private var commands: String {
        switch self {
        case .happy:
            """
            sign-in user
            wait scan
            match
            wait signed-in
            call
            wait done
            # end
            sign-out
            wait idle
            """
        case .noMatch:
            """
            sign-in user
            wait scan
            no-match
            wait scan
            match
            wait signed-in
            # end
            sign-out
            wait idle
            """
        case .cut:
            """
            sign-in user
            wait scan
            cut
            match
            wait try-again
            mend
            retry
            wait signed-in
            # end
            sign-out
            wait idle
            """
        case .lostAnswer:
            """
            sign-in user
            wait scan
            lose-answer 1 provider
            match
            wait signed-in
            # end
            sign-out
            wait idle
            """
        case .expire:
            """
            sign-in grace
            wait scan
            match
            wait signed-in
            # story expire
            expire
            call
            call
            wait done
            call
            wait done
            """
        case .restart:
            """
            restart
            call
            wait done
            # end
            sign-out
            wait idle
            """
        case .crash:
            """
            sign-in user
            wait scan
            slow 60000
            match
            wait posting
            crash
            mend
            sign-in user
            wait scan
            match
            wait signed-in
            # end
            sign-out
            wait idle
            """
        case .revoked:
            """
            revoke
            sign-in user
            wait failed
            restore
            """
        case .signOut:
            """
            sign-in user
            wait scan
            match
            wait signed-in
            # story signOut
            sign-out
            wait done
            call
            wait done
            """
        }
    }
}

/// What the demo printed, in parts.
struct Transcript {
    private let lines: [String]

    init(_ text: String) { lines = text.split(separator: "\n").map(String.init) }

    /// The lines from the story's last mark to the next mark.
    func part(_ story: Story) throws -> Part {
        let start = try #require(lines.lastIndex(of: "> # story \(story.rawValue)"))
        return Part(lines: lines[(start + 1)...].prefix { !$0.hasPrefix("> #") })
    }

    struct Part {
        let lines: ArraySlice<String>

        /// The marked places, one for each change of state.
        var places: [String] {
            lines.filter { $0.contains("  state ") }.compactMap { line in
                line.split(separator: " > ").first { $0.contains("[") }.map {
                    String($0.drop { $0 != "[" })
                }
            }
        }

        func has(_ text: String) -> Bool { count(text) > 0 }
        func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
        /// Its first line; after all others when there is none.
        func first(_ text: String) -> Int {
            lines.firstIndex { $0.contains(text) } ?? lines.endIndex
        }
    }

    /// How often the provider answered what, by the phone's lines.
    var provider: [String: Int] {
        var counts: [String: Int] = [:]
        for line in lines {
            let attempt = /net   [A-Z]+ [0-9.:]+(?<path>[^ ]*): (?:answered )?(?<status>[0-9]{3})/
            guard let match = line.firstMatch(of: attempt),
                match.output.path != "/v1/assertions"
            else { continue }
            let path = match.output.path.replacing(/ceremonies\/[^\/]*\//, with: "ceremonies/*/")
            counts["\(path) \(match.output.status)", default: 0] += 1
        }
        return counts
    }

    /// A line without times, ports and random names, which no two runs share.
    static func withoutChance(_ line: String) -> String {
        line.replacing(/[A-Za-z0-9_-]{4}…/, with: "…")
            .replacing(/dpop-[A-Za-z0-9_-]+/, with: "dpop-…")
            .replacing(/[0-9]+( ms| s\b)/, with: { "N\($0.output.1)" })
            .replacing(/^ *[0-9]+\.[0-9]/, with: "N")
            .replacing(/127\.0\.0\.1:[0-9]+/, with: "host")
    }
}

/// Tokens, assertions, proofs and other random texts that nobody may see.
enum Secrets {
    static func found(in text: String) -> [String] {
        let long = /[A-Za-z0-9_.-]{24,}/
        return text.matches(of: long).map { String($0.output) }.filter { run in
            !run.utf8.allSatisfy { (0x61...0x7a).contains($0) || "-._".utf8.contains($0) }
        }
            + text.matches(of: /eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_.-]{0,14}$/).map {
                String($0.output)
            }
            + text.matches(of: /scripted-face:[^ ]*/).map { String($0.output) }
    }
}
