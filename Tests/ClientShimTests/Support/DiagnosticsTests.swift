import Foundation
import TestKit
import Testing

@testable import ClientShim

@Suite struct DiagnosticsTests {
    @Test func `R-100-71 an event holds what it may, and nothing else`() async throws {
        let world = try await World()
        world.provider.plan(.start, [.loseRequest])
        world.provider.plan(.completion, [.answer(FakeProvider.busy(503))])
        _ = await world.signIn(with: FakeAssertions())
        let events = world.diagnostics.events
        #expect(events.map(\.step) == ["start", "start", "face-token", "completion"])
        #expect(events.map(\.outcome) == [.lost, .served, .served, .busy])
        let jkt = try #require(try world.authn.core.installKeys.current()).dpopJkt
        for event in events {
            let names = Mirror(reflecting: event).children.compactMap(\.label)
            #expect(
                names == [
                    "flow", "step", "outcome", "status", "error", "elapsedMilliseconds",
                    "jktPrefix",
                ])
            #expect(event.flow == "sign-in")
            #expect(event.jktPrefix == String(jkt.prefix(8)))
            #expect(!"\(event)".contains(jkt))
        }
    }

    @Test(arguments: [FakeProvider.Call.start, .faceToken, .completion, .token])
    func `R-100-72 a provider's error_description reaches no state and no diagnostic`(
        _ call: FakeProvider.Call
    ) async throws {
        let words = "Call 555-0100 to unlock your account"
        let world = try await World()
        let answer = FakeProvider.json(
            400, ["error": #""invalid_request""#, "error_description": "\"\(words)\""])
        world.provider.plan(call, [.answer(answer)])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.failure != nil)
        var text = ""
        dump(states, to: &text)
        dump(world.diagnostics.events, to: &text)
        #expect(!text.contains("555-0100"))
    }

    /// What is not a `Secret` could be compared at its first difference; what is exposed for a comparison is no `Secret`.
    @Test func `R-100-73 no source compares an exposed secret`() throws {
        let root = Fixtures.path("../Sources/ClientShim")
        let files = try #require(FileManager.default.enumerator(atPath: root))
        var read = 0
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: root + "/" + file, encoding: .utf8)
            read += 1
            for line in text.split(separator: "\n") {
                let compares = line.contains(/expose\(\)\s*(==|!=)|(==|!=)\s*[\w.?]*expose\(\)/)
                #expect(!compares, "\(file): \(line)")
            }
        }
        #expect(read > 60)
    }
}
