import JOSE
import Testing

import struct HTTPClient.HTTPClientConfiguration

@testable import ClientShim

@Suite struct AnswerClassTests {
    private func name(_ status: Int, _ body: String, isOversized: Bool = false) -> String {
        let answer = HTTPAnswer(status: status, body: Array(body.utf8), isOversized: isOversized)
        return switch AnswerClass(answer, now: 0) {
        case .served: "served"
        case .busy: "busy"
        case .refused: "refused"
        }
    }

    @Test(arguments: [
        (200, "{}", "served"), (201, "", "served"), (204, "", "served"), (299, "{}", "served"),
        (429, "{}", "busy"), (500, "", "busy"), (503, "<html>", "busy"), (599, "{}", "busy"),
        (400, #"{"error":"x"}"#, "refused"), (401, "", "refused"), (404, "", "refused"),
        (499, "", "refused"), (302, "", "refused"), (100, "", "refused"),
        // Nothing can be done with these, so they are as final as a refusal.
        (200, "<html>", "refused"), (200, "[]", "refused"), (200, "7", "refused"),
    ])
    func `R-100-21 an answer is served, busy or a refusal`(
        status: Int, body: String, expected: String
    ) {
        #expect(name(status, body) == expected)
        #expect(name(status, body, isOversized: true) == "busy")
    }

    @Test func `R-100-21 a demanded ceremony and a nonce challenge are served, not refused`()
        async throws
    {
        let world = try await World()
        world.provider.set { $0.demandsNonce = true }
        _ = await world.signIn()
        let starts = world.diagnostics.events.filter { $0.step == "start" }
        #expect(starts.map(\.status) == [400, 400])
        #expect(starts.map(\.error) == ["use_dpop_nonce", "insufficient_authorization"])
        #expect(starts.allSatisfy { $0.outcome == .served })
    }

    @Test func `R-100-20 unsent and lost are told apart by the transport, and treated alike`()
        async throws
    {
        #expect(HTTPOutcome.unsent(.unreachable) != .lost(.unreachable))
        for fault in [FakeProvider.Fault.loseRequest, .loseAnswer] {
            let world = try await World()
            world.provider.plan(.completion, [fault, fault])
            #expect(await world.signIn().parked == [.noAnswer])
        }
    }

    #if os(Linux)
        @Test func `R-100-23 the time limits are 10, 30 and 60 seconds, and can be others`() {
            let standard = CurlTransport().configuration
            #expect(standard.connectTimeout == 10)
            #expect(standard.readTimeout == 30)
            #expect(standard.totalTimeout == 60)
            let other = CurlTransport(connectTimeout: 1, readTimeout: 2, totalTimeout: 3)
                .configuration
            #expect(other.connectTimeout == 1 && other.readTimeout == 2 && other.totalTimeout == 3)
        }
    #endif
}
