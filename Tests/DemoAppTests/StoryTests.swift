import Foundation
import JOSE
import TestKit
import Testing

/// Whole stories through the real broker, provider and database, played by `script/demo`.
@Suite(.serialized) struct StoryTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test
    func
        `R-000-22 R-000-23 R-000-52 the stories end as told, and the provider saw what the phone shows`()
        async throws
    {
        let script = try directory.write(Array(Story.all.map(\.script).joined().utf8), to: "script")
        let result = try await runProcess(demo(["--script", script]))
        #expect(result.status == 0, "\(result.outputText.suffix(2_000)) \(result.errorText)")
        let transcript = Transcript(result.outputText)

        let happy = try transcript.part(.happy)
        #expect(
            happy.places == [
                "[starting]", "[face token]", "[scan]", "[checking]", "[posting]", "[redeeming]",
                "[signed in]",
            ])
        #expect(happy.first("disk  record session written") < happy.first("[signed in]"))
        #expect(happy.has("the API answered 200"))

        let noMatch = try transcript.part(.noMatch)
        #expect(noMatch.count("[checking]") == 2)
        #expect(noMatch.has("that was another face") && noMatch.has("(2 of 3 tries left"))
        #expect(noMatch.places.last == "[signed in]")

        let cut = try transcript.part(.cut)
        #expect(cut.has("not sent, the network is cut") && cut.has("[posting: try again]"))
        #expect(cut.count("[checking]") == 1)
        #expect(cut.places.last == "[signed in]")

        let lost = try transcript.part(.lostAnswer)
        #expect(lost.count("/challenge: answered 200, the answer was lost") == 1)
        #expect(lost.has("try 2; new assertion, new DPoP proof, the same proof of the match"))
        #expect(lost.count("[checking]") == 1)
        #expect(lost.places.last == "[signed in]")

        let expired = try transcript.part(.expire)
        #expect(expired.count("/token: 200") == 1)
        #expect(expired.count("session/refresh: served (200)") == 1)
        #expect(expired.count("the API answered 200") == 3)

        let restart = try transcript.part(.restart)
        #expect(restart.has("started again: the session is there"))
        #expect(restart.has("the API answered 200"))
        #expect(!restart.has("/challenge:"))

        let crash = try transcript.part(.crash)
        #expect(crash.has("killed in the middle of its sign-in, and started again: nobody"))
        #expect(crash.first("killed in the middle") < crash.first("record session written"))
        #expect(crash.places.last == "[signed in]")

        let revoked = try transcript.part(.revoked)
        #expect(revoked.has("failed: deviceKeyRevoked"))

        let end = try transcript.part(.signOut)
        #expect(end.has("disk  record session removed") && end.has("/revoke: 200"))
        #expect(end.places == ["[idle]"])
        #expect(end.has("the API answered 401"))

        #expect(try providerLog() == transcript.provider)
        #expect(Secrets.found(in: result.outputText + result.errorText) == [])
        #expect(!result.outputText.contains(try backendToken()))
    }

    @Test func `the check for secrets finds them`() {
        for secret in [
            "eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5",
            "scripted-face:abc",
        ] {
            #expect(!Secrets.found(in: "net  POST idp.example/token \(secret)").isEmpty)
        }
    }

    @Test func `the page's transcript is one that is played`() async throws {
        let page = try String(
            contentsOfFile: Fixtures.path("../docs/integrate-app.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```text\n").dropFirst()
        let written = try #require(blocks.first).components(separatedBy: "```")[0]
        let lines = written.split(separator: "\n").map(String.init)
        let commands = lines.filter { $0.hasPrefix("> ") }.map { $0.dropFirst(2) + "\n" }
        #expect(commands.count >= 5)
        let result = try await runProcess(demo([]), input: Array(commands.joined().utf8))
        #expect(result.status == 0)
        let played = result.outputText.split(separator: "\n").map(String.init)
        #expect(
            lines.map(Transcript.withoutChance).sorted()
                == played.map(Transcript.withoutChance).sorted())
    }

    @Test func `a command that cannot be carried out ends the script and everything with it`()
        async throws
    {
        let result = try await runProcess(demo([]), input: Array("status\nmatch\nstatus\n".utf8))
        #expect(result.status == 1)
        #expect(result.outputText.contains("line 2: the camera is off: sign-in turns it on"))
        #expect(result.outputText.split(separator: "> status").count == 2)
        try expectNothingRuns()
    }

    @Test func `a failed start says why, and leaves nothing running`() async throws {
        try FileManager.default.createDirectory(
            atPath: directory.file("world/broker.json5"), withIntermediateDirectories: true)
        let result = try await runProcess(demo([]))
        #expect(result.status == 1)
        #expect(result.errorText.contains("broker.json5: Is a directory"))
        #expect(result.errorText.contains("script/server is not ready"))
        try expectNothingRuns()
    }

    @Test func `wrong usage is 2`() async throws {
        for arguments in [["--colour"], ["--dir"], ["--script", "/nowhere"]] {
            #expect(try await runProcess([Self.script] + arguments).status == 2)
        }
    }

    @Test func `on a terminal it takes commands, has colours, and Ctrl-C ends everything`()
        async throws
    {
        let dialog = """
            {"wait": "help lists what you can do"}
            {"send": "sing-in\\n"}
            {"wait": "'sing-in' is no command"}
            {"send": "sign-in\\n"}
            {"wait": "tries left"}
            {"send": "match\\n"}
            {"wait": "signed in\\\\]"}
            {"send": "\\u0003"}
            """
        let printed = try await Oracle.run(
            "terminal.py",
            ["env", "-u", "NO_COLOR", "TMPDIR=\(directory.path)", "TERM=xterm"] + demo([]),
            input: dialog)
        #expect(printed.contains("status 0"))
        #expect(printed.contains("\u{1b}[32m[signed in]\u{1b}[0m"))
        #expect(Secrets.found(in: printed) == [])
        try expectNothingRuns()
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!left.contains { $0.hasPrefix("demo-app-") })
    }

    // MARK: - World

    private static let script = Fixtures.path("../script/demo")

    private func demo(_ arguments: [String]) -> [String] {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return [
            Self.script, "--dir", directory.file("world"), "--bin",
            bundle.deletingLastPathComponent().path,
        ] + arguments
    }

    /// Every service wrote its number down when it was started.
    private func expectNothingRuns() throws {
        let world = directory.file("world")
        var numbers: [String] = []
        for folder in [world, world + "/log"] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasSuffix(".pid") {
                numbers.append(try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
            }
        }
        #expect(!numbers.isEmpty)
        for number in numbers {
            let text = number.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(!FileManager.default.fileExists(atPath: "/proc/\(text)"))
        }
        #expect(!FileManager.default.fileExists(atPath: world + "/ready.json"))
        let clusters = FileManager.default.enumerator(atPath: world + "/postgres")
        #expect(clusters?.contains { "\($0)".hasSuffix("postmaster.pid") } != true)
    }

    /// How often the provider answered what, by its own log: the app's calls only.
    private func providerLog() throws -> [String: Int] {
        let lines = try directory.read("world/log/sandbox-idp.log").split(separator: 0x0a)
        var counts: [String: Int] = [:]
        for line in lines {
            let json = try JSONValue(parsing: Array(line))
            guard json["event"]?.string == "sandbox.request", let route = json["route"]?.string,
                let status = json["status"]?.integer, !route.hasPrefix("/sandbox/")
            else { continue }
            counts["\(route.replacing("{sid}", with: "*")) \(status)", default: 0] += 1
        }
        return counts
    }

    private func backendToken() throws -> String {
        let folder = directory.file("world/tokens")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let name = try #require(names.first { !$0.hasSuffix(".id") })
        let token = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        return token.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
