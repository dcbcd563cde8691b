import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

/// Overrides through whole services over one Postgres. Nothing is waited for: they hold from the next mint on.
@Suite struct OverrideServiceTests {
    private static let one = "{install: {burst: 1, rate: 1, per: 86400}}"
    private static let three = LimitSettings(burst: 3, rate: 1, per: 86_400)

    private struct World {
        let deployment: Deployment
        let brokers: [RunningBroker]
        let limits: LimitRepository

        init(_ declared: String) async throws {
            deployment = try await Deployment(limits: declared)
            brokers = [
                try await deployment.start(lanes: 2), try await deployment.start(lanes: 2),
            ]
            limits = LimitRepository(connection: ControlConnection(conninfo: deployment.url))
        }

        /// The status and fields of one mint at one broker.
        func mint(_ broker: Int, _ change: (inout MintCall) -> Void = { _ in }) async throws
            -> WireResponse
        {
            try await brokers[broker].settled(.token(deployment.token, change))
        }

        func override(
            _ subject: LimitOverride.Subject, _ limit: LimitSettings, seconds: Int64 = 3600
        ) async throws {
            let outcome = try await limits.override(subject, limit, seconds: seconds, reason: "")
            if case .made = outcome { return }
            Issue.record("\(outcome)")
        }

        func stop() async { for broker in brokers { await broker.stop() } }
    }

    private func app() throws -> ClientId { try Sample.clientId("app") }

    private func install() throws -> LimitOverride.Subject {
        .install(try #require(DpopJkt(Sample.jkt)), of: try app())
    }

    @Test func `a raised limit lets an exhausted install in at once, on every replica`()
        async throws
    {
        let world = try await World(Self.one)
        #expect(try await world.mint(0).status == 200)
        for broker in 0..<2 { #expect(try await world.mint(broker).status == 429) }
        try await world.override(try install(), Self.three)
        // Three between the two of them, from a full bucket; the name in the answer stays.
        let first = try await world.mint(1)
        #expect(first.first("ratelimit")?.hasPrefix("\"install\";r=2;") == true)
        #expect(first.first("ratelimit-policy")?.hasPrefix("\"install\";q=3;") == true)
        #expect(try await world.mint(0).status == 200)
        #expect(try await world.mint(1).status == 200)
        for broker in 0..<2 {
            let refused = try await world.mint(broker)
            #expect(refused.status == 429)
            #expect(try refused.json()["policy"]?.string == "install")
        }
        // Nobody else's limit changed.
        for _ in 0..<2 {
            let other = try await world.mint(0) { $0.dpopJkt = LogSample.jkt(1) }
            #expect(other.first("ratelimit-policy")?.hasPrefix("\"install\";q=1;") == true)
        }
        #expect(try await world.mint(1) { $0.dpopJkt = LogSample.jkt(1) }.status == 429)
        await world.stop()
    }

    @Test func `a lowered limit holds at once, and lifting it brings the declared state back`()
        async throws
    {
        let world = try await World("{install: {burst: 100, rate: 1, per: 86400}}")
        for broker in [0, 1, 0, 1] { #expect(try await world.mint(broker).status == 200) }
        try await world.override(
            .eachInstall(of: try app()), LimitSettings(burst: 1, rate: 1, per: 86_400))
        #expect(try await world.mint(0).status == 200)
        for broker in [0, 1, 0, 1] { #expect(try await world.mint(broker).status == 429) }
        #expect(try await world.limits.lift(.eachInstall(of: try app())))
        let response = try await world.mint(1)
        #expect(response.first("ratelimit")?.hasPrefix("\"install\";r=95;") == true)
        await world.stop()
    }

    @Test(arguments: [true, false])
    func `a client's or tenant's limit is overridden at once, leases or not`(ofTenant: Bool)
        async throws
    {
        let fast =
            "{install: {burst: 1000000, rate: 1000000, per: 1}, client: {burst: 100000, rate: 100000, per: 1}}"
        let world = try await World(fast)
        for _ in 0..<3 {
            let statuses = try await atOnce(60) { try await world.mint($0 % 2).status }
            #expect(statuses.allSatisfy { $0 == 200 })
        }
        try await world.override(
            ofTenant ? .tenant(try Sample.tenantId()) : .client(try app()),
            LimitSettings(burst: 7, rate: 1, per: 86_400))
        let responses = try await atOnce(60) { try await world.mint($0 % 2) }
        #expect(responses.count { $0.status == 200 } == 7)
        let policies = try responses.filter { $0.status == 429 }.map {
            try $0.json()["policy"]?.string
        }
        #expect(policies.count == 53)
        #expect(policies.allSatisfy { $0 == (ofTenant ? "tenant" : "client") })
        await world.stop()
    }

    @Test func `clearing makes a limit full again, once`() async throws {
        let world = try await World(
            "{install: {burst: 2, rate: 1, per: 86400}, client: {burst: 3, rate: 1, per: 86400}}")
        for _ in 0..<2 { #expect(try await world.mint(0).status == 200) }
        #expect(try await world.mint(1).status == 429)
        #expect(try await world.limits.clear(try install()))
        #expect(try await world.mint(1).status == 200)
        // Now it is the client's limit that stands against it.
        let refused = try await world.mint(0)
        #expect(try refused.json()["policy"]?.string == "client")
        #expect(try await world.limits.clear(.client(try app())))
        #expect(try await world.mint(0).status == 200)
        #expect(try await world.mint(1).status == 429)
        await world.stop()
    }

    @Test func `an override ends by the database's clock`() async throws {
        let world = try await World(Self.one)
        #expect(try await world.mint(0).status == 200)
        try await world.override(try install(), Self.three)
        #expect(try await world.mint(0).status == 200)
        // The hour is over in the database; no replica's own clock has moved.
        try await world.deployment.query(
            """
            UPDATE broker.limit_override SET created_at = now() - interval '2 hours',
                ends_at = now() - interval '1 second';
            SELECT broker.bump_revision()
            """)
        for broker in 0..<2 { #expect(try await world.mint(broker).status == 429) }
        await world.stop()
    }
}
