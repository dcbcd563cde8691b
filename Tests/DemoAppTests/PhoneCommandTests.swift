import Testing

@testable import DemoApp

@Suite struct PhoneCommandTests {
    @Test(arguments: [
        ("sign-in", PhoneCommand.signIn(user: "user")), ("s other", .signIn(user: "other")),
        ("match", .show(.owner)), ("n", .show(.stranger)), ("not-live", .show(.photograph)),
        ("lose-request 2", .loseRequests(2, of: nil)),
        ("la 1 provider", .loseAnswers(1, of: .provider)), ("slow 0", .slow(milliseconds: 0)),
        ("  wait   try-again ", .wait(.tryAgain)), ("q", .quit), ("expire", .expire),
    ])
    func `a line is a command, by its name or its short form`(
        _ line: String, _ command: PhoneCommand
    ) throws {
        #expect(try PhoneCommand(line) == command)
    }

    @Test(arguments: ["", "   ", "# a note", "#sign-in"])
    func `an empty line and a note are nothing to do`(_ line: String) throws {
        #expect(try PhoneCommand(line) == nil)
    }

    @Test(arguments: [
        ("singin", "'singin' is no command: help lists them"),
        ("SIGN-IN", "'SIGN-IN' is no command: help lists them"),
        (
            "lose-request",
            "lose-request needs a number from 1 to 99; use: lose-request N [broker|provider]"
        ),
        ("slow -1", "slow needs a number from 0 to 60000; use: slow MS"),
        ("slow 60001", "slow needs a number from 0 to 60000; use: slow MS"),
        (
            "la 1 api",
            "'api' is neither broker nor provider; use: lose-answer N [broker|provider]"
        ),
        ("sign-in Ada", "a user is 1 to 20 letters from a to z; use: sign-in [USER]"),
        ("sign-in a@b", "a user is 1 to 20 letters from a to z; use: sign-in [USER]"),
        ("cut now", "'now' is too much; use: cut"),
        (
            "wait home",
            "wait needs one of: idle, scan, posting, try-again, signed-in, cancelled, failed, done"
        ),
    ])
    func `a line that is no command says what to do`(_ line: String, _ reason: String) {
        #expect(throws: CommandFault(reason)) { try PhoneCommand(line) }
    }

    @Test func `help lists every command once, and no two share a word`() {
        let words = CommandList.entries.flatMap { [$0.name.rawValue, $0.short] }
        #expect(Set(words).count == words.count)
        #expect(CommandList.help.count == CommandName.allCases.count)
        for name in CommandName.allCases {
            #expect(CommandList.help.count { $0.contains("  \(name.rawValue) ") } == 1)
        }
    }
}
