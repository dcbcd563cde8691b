import Testing

@testable import DemoApp

@Suite struct PainterTests {
    private func lines(_ event: PhoneEvent, usesColours: Bool = false) -> [String] {
        var view = PhoneView()
        view.apply(event)
        return Painter(usesColours: usesColours).lines(for: event, in: view, at: 12.34)
    }

    @Test func `a line says when, who and what`() {
        #expect(lines(.said("signed out")) == ["  12.3  app   signed out"])
        #expect(lines(.disk("record session written")) == ["  12.3  disk  record session written"])
        #expect(lines(.step("sign-in/start: served")) == ["  12.3  sdk   sign-in/start: served"])
        #expect(lines(.refused("no sign-in is open")) == ["  12.3  no    no sign-in is open"])
        #expect(lines(.typed("match")) == ["> match"])
        #expect(lines(.asked) == [])
    }

    @Test func `a state is the way with the place in it, and below it what it waits for`() {
        let stage = Stage.tryAgain(reason: "no answer came", retryAfter: nil)
        #expect(
            lines(.stage(stage)) == [
                "  12.3  state idle > starting > face token > scan > checking > [posting: try again]"
                    + " > redeeming > signed in",
                "  12.3        no answer came: retry sends the same proof again, without a scan",
            ])
    }

    @Test(arguments: [
        PhoneEvent.stage(.signedIn), .stage(.failed("network")), .refused("no"), .step("s"),
    ])
    func `colours change no letter, and none is left on`(_ event: PhoneEvent) throws {
        let coloured = lines(event, usesColours: true).joined(separator: "\n")
        let escape = try Regex("\u{1b}\\[[0-9]+m")
        #expect(coloured.replacing(escape, with: "") == lines(event).joined(separator: "\n"))
        #expect(coloured.contains("\u{1b}["))
        #expect(coloured.ranges(of: escape).count % 2 == 0)
        #expect(!lines(event).joined().contains("\u{1b}"))
    }
}
