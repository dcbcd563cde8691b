import Testing

@testable import Broker

@Suite struct ArgumentsTests {
    func parse(
        _ words: [String], positional: ClosedRange<Int> = 0...1
    ) throws -> Arguments {
        try Arguments(
            words, options: ["--to", "--from"], flags: ["--dry-run"], positional: positional)
    }

    func usage(_ words: [String], positional: ClosedRange<Int> = 0...1) -> String? {
        do {
            _ = try Arguments(
                words, options: ["--to", "--from"], flags: ["--dry-run"], positional: positional)
            return nil
        } catch {
            return error.exitCode == 64 ? error.message : "not a usage error"
        }
    }

    @Test(arguments: [["--to", "x"], ["--to=x"]])
    func `an option's value stands apart or behind an equals sign`(_ words: [String]) throws {
        #expect(try parse(words).value("--to") == "x")
    }

    @Test func `a value may be empty, hold equals signs, or look like an option`() throws {
        #expect(try parse(["--to="]).value("--to") == "")
        #expect(try parse(["--to=a=b"]).value("--to") == "a=b")
        #expect(try parse(["--to", "--from"]).value("--to") == "--from")
    }

    @Test func `flags and words may stand in any order`() throws {
        let arguments = try parse(["file", "--dry-run", "--to", "x"])
        #expect(arguments.positional == ["file"])
        #expect(arguments.has("--dry-run"))
        #expect(!arguments.has("--to"))
    }

    @Test func `one dash begins a word, and after two dashes everything is a word`() throws {
        #expect(try parse(["-abc"]).positional == ["-abc"])
        #expect(try parse(["-"]).positional == ["-"])
        #expect(try parse(["--", "--to"]).positional == ["--to"])
        #expect(try parse(["--", "--"]).positional == ["--"])
    }

    @Test(arguments: [
        (["--to"], "--to needs a value"), (["--to", "a", "--to", "b"], "--to is given twice"),
        (["--nope"], "unknown option --nope"), (["--nope=secret"], "unknown option --nope"),
        (["--dry-run=1"], "--dry-run takes no value"), (["a", "b"], "too many arguments"),
        (["--To", "a"], "unknown option --To"),
    ])
    func `what is not understood is a usage error`(words: [String], message: String) {
        #expect(usage(words) == message)
    }

    @Test func `a missing word is a usage error`() {
        #expect(usage([], positional: 1...1) == "an argument is missing")
        #expect(usage(["--"], positional: 1...1) == "an argument is missing")
    }

    @Test func `a required option that is absent is named`() throws {
        let arguments = try parse([])
        let error = try #require(throws: CommandError.self) { try arguments.required("--to") }
        #expect(error.message == "--to is missing")
        #expect(error.exitCode == 64)
    }

    @Test(arguments: ["a\nb", "\u{1b}[2J", "a\u{85}", "a\u{7f}", "\t"])
    func `a remark must be inert on a terminal`(_ text: String) throws {
        let arguments = try parse(["--to", text])
        #expect(throws: CommandError.self) { try arguments.remark("--to", maximumLength: 10) }
    }

    @Test func `a remark is counted in octets`() throws {
        #expect(try parse(["--to", "äöü"]).remark("--to", maximumLength: 6) == "äöü")
        let long = try parse(["--to", "äöüa"])
        #expect(throws: CommandError.self) { try long.remark("--to", maximumLength: 6) }
        #expect(try parse([]).remark("--to", maximumLength: 6) == "")
    }

    @Test func `each kind of end has its own exit code`() {
        let codes = [
            CommandError.usage(""), .refused(""), .notFound(""), .unavailable(""),
        ].map(\.exitCode)
        #expect(codes == [64, 65, 66, 69])
    }
}
