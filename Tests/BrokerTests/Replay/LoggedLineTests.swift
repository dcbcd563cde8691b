import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct LoggedLineTests {
    private static let moment: Int64 = 1_772_323_199_000_123

    private func read(_ line: String) throws(LogFault) -> LoggedLine {
        try LoggedLine(Array(line.utf8))
    }

    private func mint(_ line: String) throws -> LoggedMint? {
        if case .mint(let mint) = try read(line) { mint } else { nil }
    }

    @Test func `reads what the broker itself writes`() async throws {
        let broker = try await TestBroker(
            try MintRouteTests.directory(), clock: WallClock { Self.moment },
            makeStore: { lane, _ in
                StubStore(lane) { record in
                    .init(
                        verdict: record.dpopJkt == Sample.jkt
                            ? .recorded(remaining: 1, resetAfterMicroseconds: 1)
                            : .limited(policy: record.install, retryAfterMicroseconds: 1))
                }
            })
        let token = MintRouteTests.token
        _ = try await broker.send(.token(token))
        _ = try await broker.send(.token(token) { $0.dpopJkt = LogSample.jkt(1) })
        _ = try await broker.send(.token("tb_unknown"))
        let mints = try await broker.log.lines().map(mint)
        let app = try Sample.clientId()
        #expect(
            mints == [
                LoggedMint(
                    at: Self.moment, clientId: app, jkt: try #require(DpopJkt(Sample.jkt)),
                    refusedBy: nil),
                LoggedMint(
                    at: Self.moment, clientId: app, jkt: try #require(DpopJkt(LogSample.jkt(1))),
                    refusedBy: .install),
                nil,
            ])
        await broker.stop()
    }

    @Test(arguments: [
        #"{"ts":"x","event":"broker.started","port":1}"#, #"{"event":"assertion.consumed"}"#,
        #"{"event":"assertion.refused","code":"unavailable"}"#,
        #"{"event":"assertion.refused","code":"rate_limited","policy":"failed_authentication"}"#,
    ])
    func `what the limits had no part in is another event`(line: String) throws {
        #expect(try read(line) == .other)
    }

    /// Each member that a replay needs: taken away, or of another form.
    @Test func `a line that lacks something is not the broker's`() throws {
        let good = LogSample.mint(at: Self.moment, refusedBy: "client")
        #expect(try mint(good)?.refusedBy == .client)
        let members = try #require(try JSONValue(parsing: Array(good.utf8)).members)
        for name in members.map(\.name) {
            let wrong = name == "ts" ? ["2026-02-30T00:00:00.000000Z"] : []
            for replacement in [nil, "", "\u{1}", "a b"] + wrong {
                // Another policy is another event, which needs nothing more.
                if replacement != nil, ["event", "policy", "code"].contains(name) { continue }
                let line = LogSample.line { json in
                    for member in members where member.name != name || replacement != nil {
                        json.member(
                            member.name,
                            member.name == name ? replacement ?? "" : member.value.string ?? "")
                    }
                }
                #expect(throws: LogFault.self, "\(line)") { try read(line) }
            }
            let number = good.replacing("\"\(name)\":\"", with: "\"\(name)\":1,\"x\":\"")
            #expect(throws: LogFault.self, "\(number)") { try read(number) }
        }
    }

    @Test func `a line that was cut anywhere is not the broker's`() throws {
        let good = LogSample.mint(at: Self.moment)
        for length in 0..<good.utf8.count {
            #expect(throws: LogFault.self) { try LoggedLine(Array(good.utf8.prefix(length))) }
        }
        for line in [
            good + good, good + " x", "[\(good)]", "{\"ts\":\"\",\"ts\":\"\"}", "\u{FEFF}",
        ] {
            #expect(throws: LogFault.self) { try read(line) }
        }
    }

    @Test func `a fault never repeats what stood in the line`() throws {
        for line in [
            "canary", "{\"event\":\"canary", "{\"event\":\"assertion.minted\",\"ts\":\"canary\"}",
        ] {
            let fault = #expect(throws: LogFault.self) { try read(line) }
            #expect(fault?.reason.contains("canary") == false)
        }
    }

    @Test(arguments: 0..<50)
    func `a thumbprint comes out of its key as it went in`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let jkt = Base64URL.encode(random.bytes(count: 32))
        #expect(InstallKey(client: 3, jkt: try #require(DpopJkt(jkt))).jkt == jkt)
    }
}
